import { FEED_UNREAD } from '../answers/words.ts';
import { BOARDS, boardByCode, boardByName } from '../licenses/boards.ts';
import { todayInOhio } from '../licenses/dates.ts';
import { fold } from '../licenses/fold.ts';
import { type LicenseRecord, licensePath } from '../licenses/license.ts';
import { type LookupOutcome, MAX_MATCHES, type NotFoundReason } from '../licenses/lookup.ts';
import type { Listing } from '../lookup/lists.ts';
import { PAGE_SIZE } from '../lookup/search.ts';
import type { LivePublication } from '../publications/live.ts';
import { licenseLink, searchAddress } from './addresses.ts';
import { boardContact } from './license-pages.ts';
import { alert, dataTable, type Html, html, type PageContext, type PageServices, redirect } from './page.ts';
import { addressOfRecord } from './record-pages.ts';
import { listRequest, MAX_PAGES, pageOf, readSearch, type SearchFields, searchForm } from './search-form.ts';
import { statusTags } from './verdict.ts';
import { count, counted, listed, longDate, missInWords, properCase, shortDate } from './words.ts';

/** GET /: the search form, and the result if the address contains a search. */
export async function searchPage(
  ctx: PageContext,
  { lookups, records, sendPage, live }: PageServices,
): Promise<void> {
  const { fields, problems, hasEmptyFields } = readSearch(ctx.query);
  const { q } = fields;
  const board = boardByCode(fields.board ?? '');
  const licenseTypes = live()?.licenseTypes.get(board?.name ?? '') ?? [];
  const start = { title: 'Look up a license', hasSearch: true };
  if (problems.length > 0) {
    ctx.status = 400;
    const body = searchForm(fields, { problems, licenseTypes });
    return sendPage(ctx, { ...start, problems, body });
  }
  if (q === undefined) {
    const body = startPage(searchForm(fields, { licenseTypes }));
    return sendPage(ctx, { ...start, body, isPublic: true });
  }
  if (hasEmptyFields) return redirect(ctx, searchAddress(fields));
  const { kinds, areAll } = kindsOfLicense(q, live());
  const answer = await lookups.list(listRequest({ ...fields, q }, !areAll));
  const { listing, date } = answer;
  const { number, total } = listing;
  ctx.state.outcome = outcomeOf(listing);
  if (number?.outcome === 'found' && number.nameMatch !== false && boardByName(number.record.board)) {
    return redirect(ctx, licensePath(number.record));
  }
  // Record codes come last: if a license has this number or name, the visitor meant the license.
  const isUnknown = number?.outcome !== 'found' && reasonOf(listing) === 'unknown';
  const hasAsTyped = !isUnknown || (total > 0 && listing.shown.length === 0);
  const record = hasAsTyped ? undefined : await addressOfRecord(records, q);
  if (record !== undefined) {
    ctx.state.outcome = 'found';
    return redirect(ctx, record);
  }
  const counts = listing.ignoresFilters ? undefined : listing.counts;
  const body = html`${searchForm(fields, { licenseTypes, counts })}
${resultOf(listing, { fields, date, today: todayInOhio(), kinds })}`;
  return sendPage(ctx, { ...start, title: titleOf(listing, q, kinds.length > 1), origin: answer, body });
}

function startPage(form: Html): Html {
  return html`<p>Check whether an Ohio license is active, when it expires, and whether the board has acted on it. Search all ${BOARDS.length} licensing boards at once.</p>
${form}
<h2><a href="/roster">Check a whole list</a></h2>
<p>Paste names or license numbers from a spreadsheet. What needs attention comes first.</p>
<h2><a href="/data">How current is this?</a></h2>
<p>What the State’s data contains, its date, and what has changed recently.</p>`;
}

const MIN_KIND_LETTERS = 4;

/**
 * Finds the words of a text that occur in license types, such as `massage` or `therapist`. `areAll` tells that the text
 * cannot be a name. A single such word next to other words may be a surname.
 */
function kindsOfLicense(typed: string, live: LivePublication | undefined) {
  const types = new Set(
    [...(live?.licenseTypes.values() ?? [])].flat().flatMap((type) => type.split(/[^\p{L}]+/u).map(fold)),
  );
  const words = typed.split(/[^\p{L}]+/u).filter((word) => word.length >= MIN_KIND_LETTERS);
  const kinds = words.filter((word) => types.has(fold(word)));
  return { kinds, areAll: kinds.length > 1 || (kinds.length > 0 && kinds.length === words.length) };
}

function outcomeOf({ number, total }: Listing): LookupOutcome['outcome'] {
  if (number?.outcome === 'found' || total === 1) return 'found';
  return total === 0 ? 'none' : 'several';
}

/** Why no license was found for the text as a number. */
function reasonOf({ number }: Listing): NotFoundReason {
  return number?.outcome === 'none' ? number.reason : 'unknown';
}

const TITLES: { readonly [Reason in NotFoundReason]?: string } = {
  ambiguous: 'More than one license for',
  other_board: 'At another board:',
  removed: 'No longer in the State’s data:',
  unreadable: 'Not readable in the State’s data:',
};

function titleOf(listing: Listing, typed: string, areKinds: boolean): string {
  const { number, total, shown } = listing;
  if (number?.outcome === 'found') {
    return number.nameMatch === false ? `Name does not match: ${typed}` : `1 license for ${typed}`;
  }
  const title = TITLES[reasonOf(listing)];
  if (title !== undefined) return `${title} ${typed}`;
  if (total === 0)
    return areKinds ? 'Type a name or a number, not a profession' : `No license found for ${typed}`;
  const [only, another] = shown;
  if (only === undefined) return `${counted(total, 'license')} for ${typed}`;
  return another === undefined ? `Showing ${only}` : `Showing what is similar to ${typed}`;
}

/** The input of every part of the result. */
interface Shown {
  readonly fields: SearchFields;
  readonly date: string;
  /** The date in Ohio. */
  readonly today: string;
  /** The typed words that occur in license types. */
  readonly kinds: readonly string[];
}

function resultOf(listing: Listing, shown: Shown): Html {
  const { number, licenses, total } = listing;
  const { fields, date, today } = shown;
  if (number?.outcome === 'found') {
    const { record, nameMatch } = number;
    return html`${nameMatch === false && alert('caution', OTHER_NAME)}${licenseTable([record], today, nameMatch)}`;
  }
  if (number?.outcome === 'none' && (number.reason === 'removed' || number.reason === 'unreadable')) {
    const { offered = [] } = number;
    return html`<p>${missInWords(number, date)}</p>${offered.length > 0 && licenseTable(offered, today)}`;
  }
  const isOther = total === 0 || listing.shown.length > 0;
  const isUnread = isOther && number?.outcome === 'none' && number.isFeedUnread === true;
  const unread = isUnread && html`<p>${FEED_UNREAD}</p>`;
  if (total === 0) {
    const [typed, withoutFilters] = typedWithFilters(fields);
    const check = /\d/.test(fields.q ?? '')
      ? 'Check each digit.'
      : 'Check the spelling. A city is a filter, not part of the name.';
    const board = boardByCode(fields.board ?? '');
    return html`${kindsHint(shown)}<p>The State’s data of ${longDate(date)} has no license with the number or the name ${typed}. ${shown.kinds.length === 0 && check}${withoutFilters}</p>
${unread}<p>A license that is missing here may still exist.</p>
${boardContact(board)}`;
  }
  return html`${unread}${whyShown(listing, shown)}
${
  licenses.length === 0
    ? html`<p>There is no page ${pageOf(fields)}. <a href="${searchAddress({ ...fields, page: undefined })}">Go to the first page</a></p>`
    : licenseTable(licenses, today)
}
${pageLinks(total, fields)}`;
}

const OTHER_NAME = html`The name does not match the holder’s: the number may be mistyped. Do not assume that this license belongs to the person you named.`;

/** The words for what was searched, and, if filters are set, a link to the same search without them. */
function typedWithFilters({ q, page: _, ...chosen }: SearchFields): readonly [typed: string, link?: Html] {
  if (Object.keys(chosen).length === 0) return [`“${q}”`];
  return [`“${q}” that fits the filters`, html` <a href="${searchAddress({ q })}">Remove the filters</a>`];
}

function kindsHint({ kinds }: Shown): Html | undefined {
  if (kinds.length === 0) return undefined;
  const words = listed(kinds.map((kind) => `“${kind}”`));
  return html`<p>${words} ${kinds.length === 1 ? 'occurs' : 'occur'} in names of license types. The box is for a number or a name: type a name, and set the license type and the city as filters.</p>
`;
}

/** Explains the list if it shows something other than what was typed. */
function whyShown({ number, shown, ignoresFilters, total }: Listing, { fields, date }: Shown): Html {
  const [typed, withoutFilters] = typedWithFilters(fields);
  if (number?.outcome === 'none' && number.reason !== 'unknown') {
    const board = boardByCode(fields.board ?? '');
    const choose = total === 1 ? missInWords(number, date) : 'Choose the license that you mean.';
    const words =
      number.reason === 'other_board'
        ? `The ${board?.name} has no number ${fields.q}. Showing another board’s license.`
        : choose;
    const isOfNobody = number.ofTheName?.length === 0;
    return html`<p>${words}</p>${isOfNobody && alert('caution', OTHER_NAME)}`;
  }
  const compare =
    'Compare the whole name, the place and the type to be sure that you have the right license.';
  if (shown.length > 0) {
    const words = html`Showing <strong>${listed(shown)}</strong> instead: the State’s data of ${longDate(date)} has no license for ${typed} as typed. ${compare}`;
    // A similar number may be somebody else’s.
    return number === undefined ? html`<p>${words}</p>` : alert('caution', words);
  }
  if (ignoresFilters) {
    return html`<p>No license with this name fits the filters as typed. Showing matches without the filters.${withoutFilters}</p>`;
  }
  return total === 1
    ? html`<p>${compare}</p>`
    : html`<p>${compare} Exact names come first, then active licenses.</p>`;
}

const COLUMNS = ['Name', 'Number', 'Type', 'Status', 'Expires', 'Place'];

/** A table of licenses. */
function licenseTable(licenses: readonly LicenseRecord[], today: string, nameMatch?: boolean): Html {
  return dataTable(
    'Licenses',
    COLUMNS,
    licenses.map((license) => [
      licenseLink(license, properCase(license.full_name)),
      license.license_number,
      html`<div>${license.license_type} <span class="hint">${license.board}</span></div>`,
      html`<div>${statusTags(license, today, nameMatch)}</div>`,
      license.expiry_date === null ? 'Not given' : shortDate(license.expiry_date),
      // `Columbus, OH`
      [license.city && properCase(license.city), license.state].filter(Boolean).join(', '),
    ]),
  );
}

/** Links to the previous and the next page. */
function pageLinks(total: number, fields: SearchFields): Html | undefined {
  const pages = Math.min(Math.ceil(total / PAGE_SIZE), MAX_PAGES);
  if (pages < 2) return undefined;
  const current = pageOf(fields);
  const link = (page: number, words: string, rel: string) =>
    page >= 1 &&
    page <= pages &&
    html`<a href="${searchAddress({ ...fields, page: page === 1 ? undefined : String(page) })}" rel="${rel}">${words}</a>`;
  return html`<nav class="row no-print" aria-label="Pages">${link(current - 1, 'Previous', 'prev')}<span>Page ${current} of ${pages}</span>${link(current + 1, 'Next', 'next')}</nav>${
    total > MAX_MATCHES &&
    html`<p class="hint">Only the first ${MAX_MATCHES} of ${count(total)} are listed. Choose filters to see others.</p>`
  }`;
}
