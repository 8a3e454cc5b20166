import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { html, raw } from 'hono/html';
import type { RateLimit } from '../access/rate-limit.ts';
import { freshness, type Origin } from '../answers/origin.ts';
import type { Changes } from '../changes/service.ts';
import type { Config } from '../config.ts';
import { type Context, clientProtocol } from '../http/app.ts';
import type { Route } from '../http/guard.ts';
import { compressBody } from '../http/static.ts';
import { daysBetween, todayInOhio } from '../licenses/dates.ts';
import type { Lookups } from '../lookup/service.ts';
import type { LivePublication } from '../publications/live.ts';
import type { SavedRecords } from '../records/saved-records.ts';
import type { Rosters } from '../rosters/service.ts';
import type { KnownPublications } from '../service-status/status.ts';
import { counted, longDate } from './words.ts';

/** A piece of HTML. Inserted values are escaped; `false`, `undefined` and `null` are left out. */
export type Html = ReturnType<typeof html>;

export { html };

/** No frames. All content, including the one script, comes from this origin. Forms are sent only to this origin. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; " +
  "base-uri 'none'; frame-ancestors 'none'";

/** The publication whose data a page shows. */
export type PageOrigin = Pick<Origin, 'date' | 'isSampleData'>;

/** An error in a field of a form. */
export interface FieldProblem {
  readonly field: string;
  /** The error and how to correct it. */
  readonly words: string;
}

/** The content of a page, without the frame that all pages share. */
export interface PageContent {
  /** The page's name in the browser tab, in bookmarks, and for the file when the page is printed to one. */
  readonly title: string;
  /** Errors in the form. The page lists them at the top, and its title begins with "Error". */
  readonly problems?: readonly FieldProblem[];
  /** The main heading, if it differs from the title. */
  readonly heading?: string;
  /** The publication whose data the page shows, if it is not the live one. */
  readonly origin?: PageOrigin | undefined;
  /** The day on which a saved record was made, `YYYY-MM-DD`; today for all other pages. */
  readonly readOn?: string;
  readonly body: Html;
  /** Whether search engines may list the page. Pages about a license, a list or a record are not listed. */
  readonly isPublic?: boolean;
  /** Whether the body has the search form, so that the header needs none. */
  readonly hasSearch?: boolean;
}

const NAVIGATION = [
  { address: '/roster', name: 'Check a list' },
  { address: '/data', name: 'The data' },
  { address: '/about', name: 'About' },
] as const;

/** The logo: a register card with a clipped corner and a check mark. `favicon.svg` also uses it. */
export const MARK =
  '<path d="M5 2h17l7 7v19a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2z" fill="#fff"/><path d="M22 2l7 7h-7z" fill="#d9a441"/><path d="M9 18l5 5 10-11" fill="none" stroke="#1d2a4d" stroke-width="3.4" stroke-linecap="round" stroke-linejoin="round"/>';

/** The services that the website uses. */
export interface WebServices {
  readonly lookups: Lookups;
  readonly changes: Changes;
  readonly rosters: Rosters;
  readonly records: SavedRecords;
  readonly live: () => LivePublication | undefined;
  readonly publications: KnownPublications;
  readonly config: Config;
  /** Routes that are no pages, for programs and for the pages. Their errors are JSON. */
  readonly files: readonly Route[];
  /** The limit of requests to the website. `saveLimits` are the limits of saved records. */
  readonly limit: RateLimit;
  readonly saveLimits: { readonly aMinute: RateLimit; readonly aDay: RateLimit };
  /** Counts workbooks that took too long to read. After one, an address waits a minute before its next workbook. */
  readonly endedWorkbooks: RateLimit;
}

/** The services that every page uses. */
export interface PageServices extends WebServices {
  readonly sendPage: ReturnType<typeof pageWriter>;
}

/** A request for a page, with the parameters of its path. */
export type PageContext = Parameters<Route['handle']>[0];

/** Redirects to another page of this website. Use 301 for a permanent redirect. */
export function redirect(ctx: Context, address: string, status = 303): void {
  ctx.status = status;
  ctx.redirect(address);
}

/** The addresses of the files that every page refers to. */
type PageFiles = Readonly<Record<'styleSheet' | 'script', string>>;

/** Sends pages in the frame that all of them share. */
export function pageWriter(files: PageFiles, live: WebServices['live']) {
  return async (ctx: Context, content: PageContent): Promise<void> => {
    const now = live()?.metadata;
    const origin = now && { date: now.date, isSampleData: now.sample };
    const page = pageHtml({ readOn: todayInOhio(), origin, ...content }, files, ctx.path);
    ctx.set('content-security-policy', POLICY);
    // Under a stricter policy, browsers would send `Origin: null` with forms.
    ctx.set('referrer-policy', 'same-origin');
    if (content.isPublic !== true) ctx.set('x-robots-tag', 'noindex');
    ctx.type = 'text/html; charset=utf-8';
    const text = String(await page);
    ctx.body = text;
    await compressBody(ctx, () => promisify(gzip)(text, { level: COMPRESSION_LEVEL }));
  };
}

/** This level compresses pages to a fifth. Higher levels take twice the time and save only a tenth more. */
const COMPRESSION_LEVEL = 4;

/** The public origin of this website: PUBLIC_URL, or else the origin that the request used. */
export function publicOrigin(ctx: Context, { PUBLIC_URL: url }: Pick<Config, 'PUBLIC_URL'>): string {
  return url ?? `${clientProtocol(ctx) ?? ctx.protocol}://${ctx.host}`;
}

/** The whole HTML of a page, with the frame that all pages share. @param path the path of the page */
export function pageHtml(
  { title, heading = title, problems = [], origin, body, ...rest }: PageContent & { readOn: string },
  { styleSheet, script }: PageFiles,
  path: string,
): Html {
  const { readOn, isPublic = false, hasSearch = false } = rest;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${problems.length > 0 ? 'Error: ' : ''}${title} | Ohio License Verification</title>
${isPublic ? html`<meta name="description" content="${DESCRIPTION}">` : html`<meta name="robots" content="noindex">`}
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${styleSheet}">
<script src="${script}" type="module"></script>
</head>
<body>
<a class="visually-hidden" href="#main-content">Skip to main content</a>
<header>
<div class="band"><div class="wide">
<a class="site" href="/"><svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">${raw(MARK)}</svg>Ohio License Verification</a>
${!hasSearch && HEADER_SEARCH}
<nav aria-label="Main"><ul class="inline">${NAVIGATION.map(
    ({ address, name }) =>
      html`<li><a href="${address}"${path === address && raw(' aria-current="page"')}>${name}</a></li>`,
  )}</ul></nav>
</div></div>
<div class="notice"><p class="wide">${origin && dataLine(origin, readOn)}This is not a website of the State of Ohio.</p></div>
${origin?.isSampleData && SAMPLE_DATA}
</header>
<main id="main-content" class="wide">
${errorSummary(problems)}<h1>${heading}</h1>
${origin && ageWarning(origin, readOn)}${body}
</main>
<footer><div class="wide">
<p>The issuing board is the authority. This is not primary-source verification.</p>
<ul class="inline no-print"><li><a href="/developers">Developers</a></li><li><a href="/about#privacy">Privacy</a></li></ul>
</div></footer>
</body>
</html>
`;
}

const DESCRIPTION =
  'Look up the licenses of Ohio’s 24 licensing boards by number, person or business: status, expiry date and board action.';

const HEADER_SEARCH = html`<form class="no-print" action="/" method="get" role="search" aria-label="Look up a license"><label class="visually-hidden" for="site-search">License number, person or business</label><input id="site-search" name="q" placeholder="Number or name" autocomplete="off" autocapitalize="off" spellcheck="false"><button type="submit">Look up</button></form>`;

const SAMPLE_DATA = html`<div class="notice sample"><p class="wide"><strong>Sample data.</strong> Generated: no real person or business. Do not rely on it.</p></div>`;

/** The date of the data, when it was read, and how old it was then. */
function dataLine({ date }: PageOrigin, readOn: string): Html {
  const age = daysBetween(date, readOn);
  const read = age > 0 ? `, read ${longDate(readOn)} (${counted(age, 'day')} old)` : '';
  return html`State data dated <strong>${longDate(date)}</strong>${read}. `;
}

/** A warning if the data is very old, or if its date is in the future. */
function ageWarning({ date }: PageOrigin, readOn: string): Html | false {
  const age = daysBetween(date, readOn);
  const words =
    age < 0
      ? html`The data has the date ${longDate(date)}, which has not come yet. Do not rely on it.`
      : html`On ${longDate(readOn)}, the data was ${counted(age, 'day')} old. Ask the board about anything after ${longDate(date)}.`;
  return freshness(age) === 'stale' && alert('bad', words);
}

/** A message in a box. */
export function alert(tone: 'neutral' | 'caution' | 'bad', text: Html): Html {
  return html`<div class="alert ${tone}"><p>${text}</p></div>`;
}

/** The list of errors in a form, with a link to each field. */
function errorSummary(problems: readonly FieldProblem[]): Html | undefined {
  if (problems.length === 0) return undefined;
  return html`<div class="alert bad" role="alert"><h2>There is a problem</h2>
<ul>${problems.map(({ field, words }) => html`<li><a href="#${field}">${words}</a></li>`)}</ul></div>
`;
}

export interface FormField {
  readonly id: string;
  readonly label: Html | string;
  readonly hint?: Html | string | undefined;
  /** The errors in the whole form, including errors in other fields. */
  readonly problems?: readonly FieldProblem[];
}

/**
 * The label, hint and error of a field, and the field itself.
 *
 * @param control renders the field with the given attributes: its id, its description, and whether it is invalid
 */
export function formField(
  { id, label, hint, problems = [] }: FormField,
  control: (attributes: Html) => Html,
): Html {
  const problem = problems.find(({ field }) => field === id);
  const describedBy = [hint && `${id}-hint`, problem && `${id}-error`].filter(Boolean).join(' ');
  const attributes = html` id="${id}"${describedBy !== '' && html` aria-describedby="${describedBy}"`}${problem && raw(' aria-invalid="true"')}`;
  return html`<div class="field"><label for="${id}">${label}</label>
${hint && html`<span class="hint" id="${id}-hint">${hint}</span>`}${problem && html`<span class="error" id="${id}-error"><span class="visually-hidden">Error: </span>${problem.words}</span>`}
${control(attributes)}</div>
`;
}

/** An option of a `select`. */
export interface Choice {
  readonly value: string;
  readonly words: string;
}

/** A `select` whose first option, `nothing`, makes no choice. */
export function selectField(
  field: FormField,
  nothing: string,
  choices: readonly Choice[],
  chosen = '',
  name = field.id,
): Html {
  const all = [{ value: '', words: nothing }, ...choices];
  const options = all.map(
    ({ value, words }) =>
      html`<option value="${value}"${value === chosen && raw(' selected')}>${words}</option>`,
  );
  return formField(field, (attributes) => html`<select${attributes} name="${name}">${options}</select>`);
}

/** A list of named facts. Facts without a value are left out. */
export function factList(
  facts: readonly (readonly [name: string, value: Html | string | undefined])[],
): Html {
  return html`<dl class="facts">${facts.map(([name, value]) => value !== undefined && html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** A table that scrolls if it is too wide. On a phone, rows become cards. The first cell of a row is its heading. */
export function dataTable(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly (Html | string)[])[],
): Html {
  return html`<div class="cards" role="region" aria-label="${caption}" tabindex="0"><table role="table"><caption class="visually-hidden">${caption}</caption>
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>${rows.map(
    (cells) => html`
<tr role="row">${cells.map((cell, at) =>
      at === 0
        ? html`<th scope="row" role="rowheader" data-label="${columns[at] ?? ''}">${cell}</th>`
        : html`<td role="cell" data-label="${columns[at] ?? ''}">${cell}</td>`,
    )}</tr>`,
  )}</tbody></table></div>`;
}
