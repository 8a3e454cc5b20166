import { raw } from 'hono/html';
import { CAUTION_WORDS, missMessage, VOICES } from '../answers/words.ts';
import type { Route } from '../http/guard.ts';
import { BadRequestError } from '../licenses/bad-request.ts';
import { BOARDS, boardByName } from '../licenses/boards.ts';
import { mapFilters } from '../licenses/filters.ts';
import { fold } from '../licenses/fold.ts';
import { type LicenseRecord, licensePath } from '../licenses/license.ts';
import { type LookupOutcome, MAX_MATCHES, type Miss } from '../licenses/lookup.ts';
import { nameParts } from '../licenses/names.ts';
import {
  COUNTED_BY,
  type LicenseList,
  type ListingRequest,
  MAX_PAGES,
  PAGE_SIZE,
  type ValueCount,
} from '../lookup/listing.ts';
import type { DatedListing } from '../lookup/service.ts';
import { boardByCode, searchAddress } from './addresses.ts';
import { NOT_STATED, statusTags } from './license-facts.ts';
import {
  isSearch,
  lookupForm,
  type Narrowing,
  narrowings,
  pageOf,
  readSearch,
  type SearchFields,
  searchedFor,
  searchRequest,
} from './lookup-form.ts';
import {
  alert,
  dataTable,
  type FieldProblem,
  type Html,
  html,
  NOTHING,
  orBadRequest,
  type PageServices,
} from './page.ts';
import { addressOfRecord } from './record-pages.ts';
import { count, counted, listed, longDate, properCase, shortDate } from './words.ts';

const START_TITLE = 'Look up a license';

/** GET /: the form, and the result of the search that the address holds. */
export function lookupPage({ lookups, records, page, origin, today, live }: PageServices): Route {
  return {
    method: 'GET',
    path: '/',
    handle: async (ctx) => {
      const { fields, problems, hasEmptyFields, isSent } = readSearch(ctx.query);
      const licenseTypes = typesOf(fields, live());
      const refuse = async (wrong: readonly FieldProblem[]) => {
        ctx.status = 400;
        const content = { title: START_TITLE, problems: wrong, origin: origin(), isPrivate: true };
        await page.send(ctx, { ...content, body: lookupForm(fields, { problems: wrong, licenseTypes }) });
      };
      if (problems.length > 0) return refuse(problems);
      if (!isSent && !isSearch(fields)) {
        return page.send(ctx, {
          title: START_TITLE,
          origin: origin(),
          body: startPage(lookupForm(fields, { licenseTypes })),
        });
      }
      if (isSearch(fields) && hasEmptyFields) {
        ctx.status = 303;
        ctx.redirect(searchAddress(fields));
        return;
      }
      const request = searchRequest(fields);
      if ('field' in request) return refuse([request]);
      const answer = await orBadRequest(async () => lookups.list(request));
      if (answer instanceof BadRequestError) return refuse([wrongType(fields, licenseTypes)]);
      const { listing, date, isSampleData } = answer;
      const { number } = listing;
      ctx.state.outcome = outcomeOf(answer);
      if (number?.outcome === 'found' && number.nameMatch !== false && hasPage(number.record)) {
        ctx.status = 303;
        ctx.redirect(licensePath(number.record));
        return;
      }
      // A code is looked for last: where a license has the number or the name, it is what was meant.
      const isMiss = outcomeOf(answer) === 'none';
      const record = isMiss && fields.q !== undefined ? await addressOfRecord(records, fields.q) : undefined;
      if (record !== undefined) {
        ctx.state.outcome = 'found';
        ctx.status = 303;
        ctx.redirect(record);
        return;
      }
      const title = titleOf(answer, request, searchedFor(fields));
      const body = html`<p class="change-search no-print"><a href="#search">Change search</a></p>
<div class="search-of-results no-print" id="search">${lookupForm(fields, { licenseTypes, isAboveResult: true })}</div>
${resultOf(answer, { fields, date, today: today() })}`;
      await page.send(ctx, { title, origin: { date, isSampleData }, body, isPrivate: true });
    },
  };
}

type Live = ReturnType<PageServices['live']>;

/** The license types of the board that is chosen. */
function typesOf({ board: code }: SearchFields, live: Live): readonly string[] {
  const board = code === undefined ? undefined : boardByCode(code);
  return board === undefined ? [] : (live?.licenseTypes.get(board.name) ?? []);
}

function wrongType(
  { license_type: type, board: code }: SearchFields,
  types: readonly string[],
): FieldProblem {
  const board = code === undefined ? undefined : boardByCode(code);
  const words =
    board === undefined
      ? `None of the ${BOARDS.length} boards has the license type “${type}”.`
      : `The ${board.name} has no license type “${type}”. It has: ${types.join('; ')}.`;
  return { field: 'license_type', words };
}

/** A license of a board that the catalog does not have is only listed. */
function hasPage({ board }: LicenseRecord): boolean {
  return boardByName(board) !== undefined;
}

function startPage(form: Html): Html {
  return html`<p class="intro">Is a person or a business licensed in Ohio, until when, and has the board acted on the license? Search all ${BOARDS.length} licensing boards at once.</p>
<div class="search-panel">${form}</div>
<ul class="cards-of-links">
<li><h2><a href="/roster">Check a whole list</a></h2><p>Paste names or license numbers from a spreadsheet. What needs attention comes first.</p></li>
<li><h2><a href="/data">How current is this?</a></h2><p>What is in the State’s dataset, of which day it is, and what changed in it lately.</p></li>
<li><h2><a href="/developers">Write a program</a></h2><p>The same answers over a REST API, and as tools for assistants.</p></li>
</ul>`;
}

/** How many licenses the names have. */
function totalOf({ listing: { persons, businesses } }: DatedListing): number {
  return (persons?.total ?? 0) + (businesses?.total ?? 0);
}

function outcomeOf(answer: DatedListing): LookupOutcome['outcome'] {
  const { number } = answer.listing;
  if (number?.outcome === 'found') return 'found';
  const total = totalOf(answer);
  if (total === 0) return 'none';
  return total === 1 ? 'found' : 'several';
}

function titleOf(answer: DatedListing, { number: asked }: ListingRequest, typed: string): string {
  const { number } = answer.listing;
  const total = totalOf(answer);
  if (number?.outcome === 'found') return `1 license for ${typed}`;
  if (total > 0) return `${counted(total, 'license')} for ${typed}`;
  const reason = number?.outcome === 'none' ? number.reason : undefined;
  if (reason === 'ambiguous') return `More than one license for ${typed}`;
  if (reason === 'other_board') return `${typed} is a number of another board than the ${asked?.board?.name}`;
  return `No license found for ${typed}`;
}

/** What a group of licenses is called: one of them, and all. */
const HOLDERS = {
  person: { one: 'person', all: 'Persons' },
  business: { one: 'business', all: 'Businesses' },
} as const;

/** The licenses that a name finds, of persons or of businesses. */
interface Group {
  readonly by: keyof typeof HOLDERS;
  readonly list: LicenseList;
}

/** What every part of the result depends on. */
interface Shown {
  readonly fields: SearchFields;
  readonly date: string;
  /** The date in Ohio. */
  readonly today: string;
}

/** Names that were found come before a number that was not. */
function resultOf({ listing: { number, persons, businesses } }: DatedListing, shown: Shown): Html {
  const groups: Group[] = [
    ...(persons === undefined ? [] : [{ by: 'person', list: persons } as const]),
    ...(businesses === undefined ? [] : [{ by: 'business', list: businesses } as const]),
  ];
  const found = groups.filter(({ list }) => list.total > 0);
  const missed = groups.filter(({ list }) => list.total === 0);
  if (number?.outcome === 'found') return numberFound(number.record, number.nameMatch, shown);
  const ofNumber = number?.outcome === 'none' ? number : undefined;
  if (found.length === 0) {
    return html`${removals(shown.fields, missed)}
${
  ofNumber === undefined
    ? html`<p>${missSentence(missed, shown)}</p>`
    : numberMiss(ofNumber, shown.fields, shown.date, 'h2')
}
${missed.map((group) => nearNames(group, shown.fields, 'h2'))}
<p>${VOICES.page.afterMiss}</p>`;
  }
  const numberSection = ofNumber === undefined ? NOTHING : numberMissed(ofNumber, shown);
  const isUnknown = ofNumber?.reason === 'unknown';
  return html`${removals(shown.fields, [])}
<p>Compare the whole name, the place and the type before you take a license for the one you mean. Exact names come first, then active licenses.</p>
${isUnknown ? NOTHING : numberSection}${found.map((group) => groupSection(group, shown))}${
  isUnknown ? numberSection : NOTHING
}${missed.map(
  (group) => html`
<section><h2>${HOLDERS[group.by].all}: no license</h2>
<p>${missSentence([group], shown)}</p>
${nearNames(group, shown.fields, 'h3')}</section>`,
)}`;
}

/**
 * What is chosen beside the name, each with a link that takes it away.
 *
 * @param missed the groups, where none has a license: the links say how many there are without each
 */
function removals(fields: SearchFields, missed: readonly Group[]): Html {
  const chosen = narrowings(fields);
  if (chosen.length === 0) return NOTHING;
  const left = (name: Narrowing['name'] | 'all') => {
    if (name === 'by' || missed.length === 0) return NOTHING;
    const total = missed.reduce((sum, { list }) => sum + (list.without?.get(name) ?? 0), 0);
    return total === 0
      ? ` (none without ${name === 'all' ? 'them' : 'it'} either)`
      : ` (${counted(total, 'license')} without ${name === 'all' ? 'them' : 'it'})`;
  };
  const link = (names: readonly Narrowing['name'][], words: string, after: ReturnType<typeof left>) => {
    const removed = Object.fromEntries([...names, 'page'].map((name) => [name, undefined]));
    return html`<li><a href="${searchAddress({ ...fields, ...removed })}">${words}</a>${after}</li>`;
  };
  const all = chosen.map(({ name }) => name).filter((name) => name !== 'by');
  return html`<ul class="narrowed no-print">${chosen.map(({ name, removal }) => link([name], removal, left(name)))}${
    missed.length > 0 && all.length > 1 ? link(all, 'Remove all of these', left('all')) : NOTHING
  }</ul>`;
}

/** The licenses of a group: how many by board, status and type, and one page of them. */
function groupSection({ by, list }: Group, { fields, date, today }: Shown): Html {
  const { licenses, total } = list;
  const [first, heading] = [
    (pageOf(fields) - 1) * PAGE_SIZE + 1,
    `${HOLDERS[by].all}: ${counted(total, 'license')}`,
  ];
  const whichOnes =
    total === licenses.length ? '' : `${first} to ${first + licenses.length - 1} of ${count(total)}. `;
  return html`
<section class="group"><h2>${heading}</h2>
${narrowingLinks({ by, list }, fields)}
${
  licenses.length === 0
    ? html`<p>There is no page ${pageOf(fields)}. <a href="${searchAddress({ ...fields, page: undefined })}">Go to the first page</a></p>`
    : licenseTable(
        licenses,
        html`${whichOnes}<span class="source">State of Ohio dataset of ${longDate(date)}</span>`,
        today,
      )
}
${pageLinks({ by, list }, fields)}
${otherReadings(list, fields)}</section>`;
}

const COLUMNS = ['Name', 'Number', 'Type', 'Status', 'Expires', 'Place'];

/** The licenses as a table. On a phone a row becomes a card. */
function licenseTable(
  licenses: readonly LicenseRecord[],
  caption: Html,
  today: string,
  nameMatch?: boolean,
): Html {
  return dataTable(
    'usa-table--borderless cards results',
    caption,
    COLUMNS,
    licenses.map((license) => [
      hasPage(license)
        ? html`<a href="${licensePath(license)}">${properCase(license.full_name)}</a>`
        : properCase(license.full_name),
      license.license_number,
      html`${license.license_type ?? NOT_STATED} <span class="source">${license.board}</span>`,
      statusTags(license, today, nameMatch),
      license.expiry_date === null ? NOT_STATED : shortDate(license.expiry_date),
      // `Columbus, OH`
      [license.city && properCase(license.city), license.state].filter((part) => part !== null).join(', ') ||
        NOT_STATED,
    ]),
  );
}

const COUNT_LABELS = { board: 'Board', status: 'Status', license_type: 'License type' } as const;

/** So many values are links at once; the others are folded away. */
const MAX_VALUES = 5;

/** The counts of a list as links that narrow it. */
function narrowingLinks({ by, list: { counts, total } }: Group, fields: SearchFields): Html {
  const shown = COUNTED_BY.filter((name) => fields[name] === undefined && counts[name].length > 0);
  if (total === 1 || shown.length === 0) return NOTHING;
  const address = (name: (typeof COUNTED_BY)[number], value: string) => {
    const typed = name === 'board' ? boardByName(value)?.code : value;
    return typed === undefined ? undefined : searchAddress({ ...fields, by, page: undefined, [name]: typed });
  };
  const item = (name: (typeof COUNTED_BY)[number], { value, count: licenses }: ValueCount) => {
    const to = licenses === total ? undefined : address(name, value);
    return html`<li>${to === undefined ? value : html`<a href="${to}">${value}</a>`} (${count(licenses)})</li>`;
  };
  return html`<nav class="narrow no-print" aria-label="Narrow the ${HOLDERS[by].all.toLowerCase()}"><dl>${shown.map(
    (name) => {
      const values = counts[name];
      const links = values.length <= MAX_VALUES + 2 ? values.length : MAX_VALUES;
      const [first, more] = [values.slice(0, links), values.slice(links)];
      return html`<div><dt>${COUNT_LABELS[name]}</dt><dd><ul>${first.map((each) => item(name, each))}</ul>${
        more.length === 0
          ? NOTHING
          : html`<details><summary>${count(more.length)} more</summary><ul>${more.map((each) => item(name, each))}</ul></details>`
      }</dd></div>`;
    },
  )}</dl></nav>`;
}

/** Links to the pages of a group. */
function pageLinks({ by, list: { total } }: Group, fields: SearchFields): Html {
  const pages = Math.min(Math.ceil(total / PAGE_SIZE), MAX_PAGES);
  if (pages < 2) return NOTHING;
  const current = pageOf(fields);
  const address = (page: number) =>
    searchAddress({ ...fields, by, page: page === 1 ? undefined : String(page) });
  const numbers = Array.from({ length: pages }, (_, at) => at + 1);
  const link = (page: number, words: string, rel?: string) =>
    html`<li class="usa-pagination__item"><a class="usa-pagination__link" href="${address(page)}"${rel === undefined ? NOTHING : html` rel="${rel}"`}>${words}</a></li>`;
  return html`<nav class="usa-pagination no-print" aria-label="Pages of the ${HOLDERS[by].all.toLowerCase()}"><ul class="usa-pagination__list">${
    current === 1 ? NOTHING : link(current - 1, 'Previous', 'prev')
  }${numbers.map(
    (page) =>
      html`<li class="usa-pagination__item usa-pagination__page-no"><a class="usa-pagination__button${page === current ? ' usa-current' : ''}" href="${address(page)}" aria-label="Page ${page}"${page === current ? raw(' aria-current="page"') : NOTHING}>${page}</a></li>`,
  )}${current >= pages ? NOTHING : link(current + 1, 'Next', 'next')}</ul></nav>${
    total <= MAX_MATCHES
      ? NOTHING
      : html`<p class="source">Only the first ${MAX_MATCHES} of ${count(total)} are listed. Narrow the search to see others.</p>`
  }`;
}

/** The name with its parts in another order, or without the middle names. */
function otherReadings({ others }: LicenseList, fields: SearchFields): Html {
  if (others.length === 0) return NOTHING;
  return html`<p>The name read in another way: ${others.map(
    ({ lastName, firstName, count: licenses }, at) => {
      const name = `${lastName}, ${firstName ?? ''}`;
      return html`${at === 0 ? NOTHING : '; '}<a href="${searchAddress({ ...fields, q: name, by: 'person', page: undefined })}">${name}</a> (${counted(licenses, 'license')})`;
    },
  )}</p>`;
}

/** The license of a number with another holder than the name typed beside it, or without a page of its own. */
function numberFound(record: LicenseRecord, nameMatch: boolean | undefined, { date, today }: Shown): Html {
  return html`<section><h2>License ${record.license_number}</h2>
${nameMatch === false ? alert('warning', html`${CAUTION_WORDS.name_mismatch.sentence(record)}`) : NOTHING}
${licenseTable([record], html`<span class="source">State of Ohio dataset of ${longDate(date)}</span>`, today, nameMatch)}</section>`;
}

/** A number that was not found, beside names that were: numbers are offered only for what looks like one. */
function numberMissed(outcome: Miss, { fields, date }: Shown): Html {
  const typed = searchedFor(fields);
  const isNumber = typed.replace(/\P{Nd}/gu, '').length * 2 >= fold(typed).length;
  return html`
<section><h2>Number “${typed}”</h2>
${numberMiss(isNumber ? outcome : { ...outcome, didYouMean: [] }, fields, date, 'h3')}</section>`;
}

/**
 * Says that no license has a number, and offers what is near.
 *
 * @param date the run date of the dataset that answered
 */
export function miss(outcome: Miss, fields: SearchFields, date: string): Html {
  return html`${numberMiss(outcome, fields, date, 'h2')}
<p>${VOICES.page.afterMiss}</p>`;
}

function numberMiss(outcome: Miss, fields: SearchFields, date: string, level: Level): Html {
  // The numbers of an unknown one are offered as links.
  const said = outcome.reason === 'unknown' ? { ...outcome, didYouMean: [] } : outcome;
  return html`<p>${missMessage(said, longDate(date), 'page')}</p>
${nearNumbers(outcome, fields, level)}`;
}

function nearNumbers({ reason, didYouMean, boards = [] }: Miss, fields: SearchFields, level: Level): Html {
  const near = (number: string) =>
    searchAddress(fields.q === undefined ? { ...fields, number } : { ...fields, q: number });
  if (reason === 'unknown') return suggestions(level, 'Similar numbers', didYouMean, near);
  const [number, another] = didYouMean;
  return number !== undefined && another === undefined
    ? suggestions(level, 'Choose the board', boards, (board) =>
        licensePath({ board, license_number: number }),
      )
    : suggestions(level, 'Choose the number', didYouMean, near);
}

/** What was searched in which dataset; it never says "unlicensed". */
function missSentence(missed: readonly Group[], { fields, date }: Shown): string {
  const { board: code, first_name: first, last_name: last } = fields;
  const board = code === undefined ? undefined : boardByCode(code);
  const whose = missed.map(({ by }) => HOLDERS[by].one).join(' or ');
  const name = last !== undefined && first !== undefined ? `${last}, ${first}` : searchedFor(fields);
  const where = board === undefined ? `of any of the ${BOARDS.length} boards` : `of the ${board.name}`;
  const filters = Object.values(
    mapFilters(({ label }, filter) => {
      const value = fields[filter];
      return value === undefined ? '' : `${label.toLowerCase()} “${value}”`;
    }),
  ).filter((words) => words !== '');
  return `No license ${where} for a ${whose} with the name “${name}”${
    filters.length === 0 ? '' : ` and ${listed(filters)}`
  } is in the State’s dataset of ${longDate(date)}. Check the spelling${filters.length === 0 && board === undefined ? '' : ', and what narrows the search'}.`;
}

/** Names that may have been meant, and the surname alone where it exists. */
function nearNames({ by, list }: Group, fields: SearchFields, level: Level): Html {
  const { miss: { request, surnameExists, didYouMean } = NOTHING_NEAR, others } = list;
  const read = others.map(({ lastName, firstName }) => fold(`${lastName}${firstName}`));
  const names = didYouMean.filter((name) => !read.includes(fold(name)));
  const typed = request?.by === 'person' ? request : undefined;
  const alone =
    surnameExists === true && typed?.firstName !== undefined
      ? html`
<p><a href="${nameAddress(fields, by, typed.lastName, '')}">Search for the last name alone: ${typed.lastName}</a></p>`
      : NOTHING;
  return html`${otherReadings(list, fields)}${suggestions(
    level,
    `Similar names of ${HOLDERS[by].all.toLowerCase()}`,
    names,
    (name) => {
      if (by === 'business') return nameAddress(fields, by, name, '');
      const { last, given } = nameParts(name);
      return nameAddress(fields, by, last, given || (typed?.firstName ?? ''));
    },
  )}${alone}`;
}

const NOTHING_NEAR = { request: undefined, surnameExists: undefined, didYouMean: [] } as const;

/** The search for another name, in the fields in which this one was typed. */
function nameAddress(fields: SearchFields, by: Group['by'], name: string, given: string): string {
  const others = { ...fields, page: undefined };
  if (fields.q !== undefined) {
    return searchAddress({ ...others, q: given === '' ? name : `${name}, ${given}` });
  }
  return searchAddress(
    by === 'business'
      ? { ...others, business_name: name }
      : { ...others, last_name: name, first_name: given === '' ? undefined : given },
  );
}

/** The level of a heading. */
type Level = 'h2' | 'h3';

/** A list of links, if there are any. */
function suggestions(
  level: Level,
  heading: string,
  texts: readonly string[],
  address: (text: string) => string,
): Html {
  if (texts.length === 0) return NOTHING;
  return html`${level === 'h2' ? html`<h2>${heading}</h2>` : html`<h3>${heading}</h3>`}
<ul class="usa-list suggestions">${texts.map((text) => html`<li><a href="${address(text)}">${text}</a></li>`)}</ul>`;
}
