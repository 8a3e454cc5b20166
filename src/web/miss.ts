import type { Miss } from '../licenses/lookup.ts';
import { nameParts } from '../licenses/names.ts';
import { MAY_STILL_EXIST, notFoundMessage } from '../licenses/not-found.ts';
import { licenseAddress, searchAddress } from './addresses.ts';
import { modeOf, type SearchFields } from './lookup-form.ts';
import { type Html, html, NOTHING } from './page.ts';
import { longDate } from './words.ts';

/**
 * Says what was searched without finding a license, and offers what is near.
 *
 * @param date the run date of the dataset that answered
 */
export function miss(outcome: Miss, fields: SearchFields, date: string): Html {
  const isByNumber = outcome.request.by === 'number';
  // The numbers of an unknown one are offered as links.
  const said = isByNumber && outcome.outcome === 'none' ? { ...outcome, didYouMean: [] } : outcome;
  return html`<p>${notFoundMessage(said, longDate(date))}</p>
${isByNumber ? nearNumbers(outcome, fields) : nearNames(outcome, fields)}
<p>${MAY_STILL_EXIST}</p>`;
}

function nearNames({ surnameExists, nameExists, didYouMean }: Miss, fields: SearchFields): Html {
  const { by, board, last_name, first_name, business_name } = fields;
  const links = [
    ...(nameExists
      ? [['Search without the filters', { by, board, last_name, first_name, business_name }] as const]
      : []),
    ...(surnameExists && first_name !== undefined
      ? [['Search for the last name alone', { by, board, last_name }] as const]
      : []),
  ];
  return html`${similarNames(didYouMean, fields)}${links.map(
    ([words, search]) => html`
<p><a href="${searchAddress(search)}">${words}</a></p>`,
  )}`;
}

/** A person's name is suggested as `LAST`, or as `LAST, FIRST`. */
function similarNames(names: readonly string[], fields: SearchFields): Html {
  return suggestions('Similar names', names, (name) => {
    if (modeOf(fields) === 'business') return searchAddress({ ...fields, business_name: name });
    const { last, given } = nameParts(name);
    return searchAddress({ ...fields, last_name: last, first_name: given || fields.first_name });
  });
}

function nearNumbers({ outcome, didYouMean, boards = [] }: Miss, fields: SearchFields): Html {
  const near = (number: string) => searchAddress({ ...fields, number });
  if (outcome === 'none') return suggestions('Similar numbers', didYouMean, near);
  const [number, another] = didYouMean;
  return number !== undefined && another === undefined
    ? suggestions('Choose the board', boards, (board) => licenseAddress({ board, license_number: number }))
    : suggestions('Choose the number', didYouMean, near);
}

/** A list of links, if there are any. */
function suggestions(heading: string, texts: readonly string[], address: (text: string) => string): Html {
  if (texts.length === 0) return NOTHING;
  return html`<h2>${heading}</h2>
<ul class="usa-list suggestions">${texts.map((text) => html`<li><a href="${address(text)}">${text}</a></li>`)}</ul>`;
}
