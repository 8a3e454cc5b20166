import type { NotFound } from '../licenses/not-found.ts';
import { nameParts } from '../licenses/person-name.ts';
import { boardByCode, licenseAddress, searchAddress } from './addresses.ts';
import { type Html, html, NOTHING } from './page.ts';
import { modeOf, type SearchFields } from './search.ts';
import { listed } from './words.ts';

/** Says that a search found nothing, and offers what is near. */
export function miss(outcome: NotFound, fields: SearchFields, typed: Html): Html {
  return outcome.outcome === 'no_match'
    ? nameMiss(outcome, fields, typed)
    : numberMiss(outcome, fields, typed);
}

function boardWords({ board }: SearchFields): string {
  const name = board === undefined ? undefined : boardByCode(board)?.name;
  return name === undefined ? 'at any of the 24 boards' : `at the ${name}`;
}

function nameMiss(
  { surnameExists, didYouMean }: Extract<NotFound, { outcome: 'no_match' }>,
  fields: SearchFields,
  typed: Html,
): Html {
  const where = boardWords(fields);
  if (surnameExists === true) {
    const { by, board, last_name } = fields;
    return html`<p>There are licenses with this last name ${where}, but none of them fits ${typed} and the filters.</p>
${similarNames(didYouMean, fields)}
<p><a href="${searchAddress({ by, board, last_name })}">Search for the last name alone</a></p>`;
  }
  return html`<p>No license ${where} fits ${typed}.</p>
${similarNames(didYouMean, fields)}`;
}

/** A person's name is suggested as `LAST`, or as `LAST, FIRST`. */
function similarNames(names: readonly string[], fields: SearchFields): Html {
  return suggestions('Similar names', names, (name) => {
    if (modeOf(fields) === 'business') return searchAddress({ ...fields, business_name: name });
    const { last, given } = nameParts(name);
    return searchAddress({ ...fields, last_name: last, first_name: given || fields.first_name });
  });
}

function numberMiss(
  { reason, didYouMean, boards = [] }: Extract<NotFound, { outcome: 'number_not_found' }>,
  fields: SearchFields,
  typed: Html,
): Html {
  const near = (number: string) => searchAddress({ ...fields, number });
  switch (reason) {
    case 'unknown':
    case 'not_a_business':
      return html`<p>No license ${boardWords(fields)} has the number ${typed}.</p>
${suggestions('Similar numbers', didYouMean, near)}`;
    case 'other_board':
    case 'ambiguous': {
      const sentence =
        reason === 'other_board'
          ? html`The number ${typed} is not one of this board, but of the ${listed(boards)}.`
          : html`More than one license has the number ${typed}, or one that is written like it.`;
      const [number = ''] = didYouMean;
      return didYouMean.length === 1
        ? html`<p>${sentence}</p>
${suggestions('Choose the board', boards, (board) => licenseAddress({ board, license_number: number }))}`
        : html`<p>${sentence}</p>
${suggestions('Choose the number', didYouMean, near)}`;
    }
  }
}

/** A list of links, if there are any. */
function suggestions(heading: string, texts: readonly string[], address: (text: string) => string): Html {
  if (texts.length === 0) return NOTHING;
  return html`<h2>${heading}</h2>
<ul class="usa-list suggestions">${texts.map((text) => html`<li><a href="${address(text)}">${text}</a></li>`)}</ul>`;
}
