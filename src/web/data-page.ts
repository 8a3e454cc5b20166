import { CHANGE_KINDS } from '../changes/change.ts';
import type { Route } from '../http/route.ts';
import { freshness, type KnownPublications } from '../http/status.ts';
import { daysBetween } from '../licenses/dates.ts';
import type { PublicationSummary } from '../publications/history.ts';
import type { LivePublication } from '../publications/live.ts';
import { barChart } from './bar-chart.ts';
import { type Html, html, NOTHING, type PageWriter } from './page.ts';
import { count, counted, daysInWords, longDate, ohioTime, shortDate } from './words.ts';

/** What the data page is made from. */
export interface DataPageServices {
  readonly page: PageWriter;
  readonly live: () => LivePublication | undefined;
  readonly publications: KnownPublications;
  /** The date in Ohio. */
  readonly today: () => string;
}

/** More bars than these are too thin on a phone. */
const MAX_BARS = 14;

const BANDS = {
  fresh: 'Fresh: at most two days old.',
  late: 'Late: between two and seven days old.',
  stale: 'Stale: more than seven days old. Do not rely on it for anything recent.',
} as const;

const NOT_YET = 'Not known: its date has not come yet. Do not rely on it.';

/** GET /data: how current the data is, and how it got here. */
export function dataPage({ page, live, publications, today }: DataPageServices): Route {
  return {
    method: 'GET',
    path: '/data',
    handle: async (ctx) => {
      const now = live();
      const known = (await publications()) ?? [];
      const origin = now && { date: now.metadata.date, isSampleData: now.metadata.sample };
      await page.send(ctx, { title: 'The data', origin, body: dataBody(now, known, today()) });
    },
  };
}

function dataBody(
  live: LivePublication | undefined,
  publications: readonly PublicationSummary[],
  today: string,
): Html {
  const summary = publications.find(({ publication }) => publication === live?.metadata.publication);
  return html`<p class="usa-intro">Every license that Ohio’s 24 licensing boards ever issued, as the State publishes it once a day.</p>
${live === undefined ? html`<p>No dataset has been published yet.</p>` : liveFacts(live, summary, today)}
${history(publications)}
${live === undefined ? NOTHING : figures('Licenses by board', 'Board', [...live.licenses])}
${figures('Licenses by status', 'Status', Object.entries(summary?.statuses ?? {}))}
${refusals(publications)}`;
}

function liveFacts(
  { metadata }: LivePublication,
  summary: PublicationSummary | undefined,
  today: string,
): Html {
  const age = daysBetween(metadata.date, today);
  const { rows, licenses, endorsements, rejected } = metadata.counts ?? summary?.counts ?? {};
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Dataset of', longDate(metadata.date)],
    ['Age', age < 0 ? NOT_YET : `${daysInWords(age)}. ${BANDS[freshness(age)]}`],
    ['Went live', summary === undefined ? undefined : ohioTime(summary.at)],
    ['Licenses', licenses === undefined ? undefined : count(licenses + (endorsements ?? 0))],
    ['Rows read', rows === undefined ? undefined : count(rows)],
    ['Rows rejected', rejected === undefined ? undefined : count(rejected)],
    ['Publication', metadata.publication],
  ];
  return html`<dl class="facts">${facts.map(([name, value]) =>
    value === undefined ? NOTHING : html`<div><dt>${name}</dt><dd>${value}</dd></div>`,
  )}</dl>`;
}

/** A figure of a publication, as a chart. */
interface Measure {
  readonly heading: string;
  readonly series: readonly string[];
  readonly values: (publication: PublicationSummary) => readonly number[];
}

const MEASURES: readonly Measure[] = [
  { heading: 'Rows', series: ['Rows'], values: ({ counts }) => [counts?.rows ?? 0] },
  { heading: 'Seconds', series: ['Seconds'], values: (publication) => [seconds(publication)] },
  { heading: 'Rejected rows', series: ['Rejected rows'], values: ({ counts }) => [counts?.rejected ?? 0] },
  {
    heading: 'Changes',
    series: [...CHANGE_KINDS],
    values: ({ changes }) => CHANGE_KINDS.map((kind) => changes?.kinds[kind] ?? 0),
  },
];

/** The states of publications that have answered lookups, in words. */
const STATES_WITH_DATA: ReadonlyMap<string, string> = new Map([
  ['live', 'Live'],
  ['superseded', 'Replaced'],
  ['rolled_back', 'Rolled back'],
]);

function history(publications: readonly PublicationSummary[]): Html {
  const shown = publications.filter(({ state }) => STATES_WITH_DATA.has(state)).slice(0, MAX_BARS);
  if (shown.length === 0) return NOTHING;
  const oldestFirst = shown.toReversed();
  return html`<section><h2>Publications</h2>
<div class="charts">${MEASURES.map(
    ({ heading, series, values }) =>
      html`<div><h3>${heading}</h3>${barChart({
        label: `${heading} of the last ${counted(shown.length, 'publication')}; the table has the figures.`,
        series,
        bars: oldestFirst.map((publication) => ({ label: dayOf(publication), values: values(publication) })),
      })}</div>`,
  )}</div>
<table class="usa-table usa-table--borderless cards"><caption>The last ${counted(shown.length, 'publication')}, the latest first</caption>
<thead><tr><th scope="col">Dataset of</th><th scope="col">State</th><th scope="col">Rows</th><th scope="col">Seconds</th><th scope="col">Rejected</th>${CHANGE_KINDS.map(
    (kind) => html`<th scope="col">${capitalized(kind)}</th>`,
  )}</tr></thead>
<tbody>${shown.map(publicationRow)}</tbody></table></section>`;
}

function publicationRow(publication: PublicationSummary): Html {
  const { date, state, counts, changes } = publication;
  return html`
<tr><th scope="row" data-label="Dataset of">${date === undefined ? 'Not read' : shortDate(date)}</th><td data-label="State">${STATES_WITH_DATA.get(state) ?? state}</td><td data-label="Rows">${count(counts?.rows ?? 0)}</td><td data-label="Seconds">${count(seconds(publication))}</td><td data-label="Rejected">${count(counts?.rejected ?? 0)}</td>${CHANGE_KINDS.map(
    (kind) => html`<td data-label="${capitalized(kind)}">${count(changes?.kinds[kind] ?? 0)}</td>`,
  )}</tr>`;
}

function seconds({ seconds: steps = {} }: PublicationSummary): number {
  return Math.round(Object.values(steps).reduce((total, each) => total + each, 0));
}

/** `2026-11-20` → `11/20`. */
function dayOf({ date = '' }: PublicationSummary): string {
  return date.slice(5).replace('-', '/');
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function figures(heading: string, what: string, entries: readonly (readonly [string, number])[]): Html {
  if (entries.length === 0) return NOTHING;
  const sorted = entries.toSorted(([, one], [, other]) => other - one);
  const highest = sorted[0]?.[1] ?? 1;
  return html`<section><h2>${heading}</h2>
<table class="usa-table usa-table--borderless figures"><caption class="usa-sr-only">${heading}</caption><thead><tr><th scope="col">${what}</th><th scope="col">Licenses</th><th scope="col">Share</th></tr></thead>
<tbody>${sorted.map(
    ([name, number]) => html`
<tr><th scope="row">${name === '' ? 'Not stated' : name}</th><td>${count(number)}</td><td class="share"><svg aria-hidden="true" viewBox="0 0 100 8" preserveAspectRatio="none"><rect class="part-0" width="${Math.round((100 * number) / highest)}" height="8"/></svg></td></tr>`,
  )}</tbody></table></section>`;
}

function refusals(publications: readonly PublicationSummary[]): Html {
  const refused = publications
    .filter(({ state }) => state === 'refused' || state === 'failed')
    .slice(0, MAX_BARS);
  return html`<section><h2>Refused publications</h2>
${
  refused.length === 0
    ? html`<p>None. A dataset with far fewer rows, unknown columns or too many changes is not published; the one before stays.</p>`
    : html`<p>These datasets were not published; the one before stayed.</p>
<ul class="usa-list">${refused.map(
        ({ at, date, state, reasons = [] }) =>
          html`<li>${ohioTime(at)}${date === undefined ? NOTHING : html`, dataset of ${shortDate(date)}`}: ${state === 'refused' ? reasons.map(publicReason).join(' ') : FAILED}</li>`,
      )}</ul>`
}</section>`;
}

/** Errors of the service are the operator's business, and may say where its files are. */
const FAILED = 'It could not be completed, for a reason that is not in the data.';

const ADDRESS = /\b[a-z][a-z\d+.-]*:\/\/\S+/gi;
const PATH = /(?<![\w/.])(?:[a-z]:)?(?:[\\/][^\s\\/,;:'")]+){2,}/gi;

/** A reason without the addresses and paths of the operator's files. */
function publicReason(reason: string): string {
  return reason.replace(ADDRESS, '(address)').replace(PATH, '(file)');
}
