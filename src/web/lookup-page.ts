import { lookupOutcome } from '../access/usage.ts';
import type { Route } from '../http/route.ts';
import { BadRequestError } from '../licenses/bad-request.ts';
import { boardByName } from '../licenses/boards.ts';
import type { LicenseRecord } from '../licenses/license.ts';
import { MAX_MATCHES, type Miss } from '../licenses/lookup.ts';
import { nameParts } from '../licenses/names.ts';
import { MAY_STILL_EXIST, notFoundMessage } from '../licenses/not-found.ts';
import type { DatedOutcome } from '../lookup/service.ts';
import { licenseAddress, licenseLink, searchAddress } from './addresses.ts';
import { NOT_STATED, statusTags } from './license-facts.ts';
import {
  isSearch,
  lookupForm,
  modeOf,
  type SearchFields,
  searchFields,
  searchProblem,
  searchRequest,
} from './lookup-form.ts';
import { dataTable, type Html, html, NOTHING, type Origin, orBadRequest, type PageServices } from './page.ts';
import { counted, longDate, shortDate } from './words.ts';

/** GET /: the form, and the result of the search that the address holds. */
export function lookupPage({ lookups, page, origin, today }: PageServices): Route {
  return {
    method: 'GET',
    path: '/',
    handle: async (ctx) => {
      const fields = searchFields(ctx.query);
      if (!isSearch(fields)) {
        await page.send(ctx, { title: 'Look up a license', origin: origin(), body: startPage(fields) });
        return;
      }
      const answer = await orBadRequest(async () => lookups.lookUp(searchRequest(fields)));
      if (answer instanceof BadRequestError) {
        ctx.status = 400;
        const problems = [searchProblem(fields, answer.message)];
        const body = lookupForm(fields, problems);
        await page.send(ctx, {
          title: 'Look up a license',
          problems,
          origin: origin(),
          body,
          isPrivate: true,
        });
        return;
      }
      const { outcome, date, isSampleData } = answer;
      ctx.state.outcome = lookupOutcome(outcome);
      if (outcome.outcome === 'found' && modeOf(fields) === 'number' && hasPage(outcome.record)) {
        ctx.status = 303;
        ctx.redirect(licenseAddress(outcome.record));
        return;
      }
      const body = html`${resultOf(answer, fields, today())}
<h2>Search again</h2>
${lookupForm(fields)}`;
      await page.send(ctx, { title: 'Result', origin: { date, isSampleData }, body, isPrivate: true });
    },
  };
}

/** A license of a board that the catalog does not have is only listed. */
function hasPage({ board }: LicenseRecord): boolean {
  return boardByName(board) !== undefined;
}

function startPage(fields: SearchFields): Html {
  return html`<p class="intro">Is a person or a business licensed in Ohio, until when, and has the board acted on the license? Search all 24 licensing boards at once.</p>
${lookupForm(fields)}
<p>Twenty names or more? <a href="/roster">Check a whole list</a>. Writing a program? <a href="/developers">Use the REST API</a>.</p>`;
}

function resultOf({ outcome, date, isSampleData }: DatedOutcome, fields: SearchFields, today: string): Html {
  const origin = { date, isSampleData };
  const show = (records: readonly LicenseRecord[], summary: Html) =>
    html`${summary}${resultTables(records, origin, today)}`;
  switch (outcome.outcome) {
    case 'found':
      return show(
        [outcome.record],
        html`<p>One license fits ${searchedFor(fields)}. Compare the whole name, the place and the type before you take it for the one you mean.</p>`,
      );
    case 'several':
      return show(
        outcome.records,
        outcome.truncated
          ? html`<p>More than ${MAX_MATCHES} licenses fit ${searchedFor(fields)}. These are the first ${MAX_MATCHES}, exact names first. Choose a board, or fill in more fields.</p>`
          : html`<p>${counted(outcome.records.length, 'license')} fit ${searchedFor(fields)}, exact names first.</p>`,
      );
    default:
      return miss(outcome, fields, date);
  }
}

/** What was typed, in words. */
function searchedFor(fields: SearchFields): Html {
  const typed =
    modeOf(fields) === 'number'
      ? fields.number
      : modeOf(fields) === 'business'
        ? fields.business_name
        : [fields.first_name, fields.last_name].filter((part) => part !== undefined).join(' ');
  return html`<strong>${typed ?? ''}</strong>`;
}

/** The licenses as one table for each board. On a phone a row becomes a card. */
function resultTables(records: readonly LicenseRecord[], origin: Origin, today: string): Html {
  const boards = [...Map.groupBy(records, ({ board }) => board)];
  return html`${boards.map(([board, ofBoard]) => boardTable(board, ofBoard, origin, today))}`;
}

const COLUMNS = ['Number', 'Name', 'Type', 'Status', 'Expires', 'Place'];

function boardTable(board: string, records: readonly LicenseRecord[], { date }: Origin, today: string): Html {
  return dataTable(
    'usa-table--borderless cards results',
    html`${board}: ${counted(records.length, 'license')} <span class="source">State of Ohio dataset of ${longDate(date)}</span>`,
    COLUMNS,
    records.map((record) => [
      licenseLink(record),
      record.full_name,
      record.license_type ?? NOT_STATED,
      statusTags(record, today),
      record.expiry_date === null ? NOT_STATED : shortDate(record.expiry_date),
      // `COLUMBUS, OH`
      [record.city, record.state].filter((part) => part !== null).join(', ') || NOT_STATED,
    ]),
  );
}

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
