import { CHANGE_KINDS } from '../changes/change.ts';
import type { Route } from '../http/route.ts';
import { freshness } from '../http/status.ts';
import { daysBetween } from '../licenses/dates.ts';
import type { PublicationSummary } from '../publications/history.ts';
import type { LivePublication } from '../publications/live.ts';
import { cardTable, factList, type Html, html, NOTHING, type PageServices } from './page.ts';
import { capitalized, count, counted, daysInWords, longDate, ohioTime, shortDate } from './words.ts';

/** More bars than these are too thin on a phone. */
const MAX_BARS = 14;

const BANDS = {
  fresh: 'Fresh: at most two days old.',
  late: 'Late: between two and seven days old.',
  stale: 'Stale: more than seven days old. Do not rely on it for anything recent.',
} as const;

const NOT_YET = 'Not known: its date has not come yet. Do not rely on it.';

/** GET /data: how current the data is, and how it got here. */
export function dataPage({ page, live, publications, today }: PageServices): Route {
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
  return factList([
    ['Dataset of', longDate(metadata.date)],
    ['Age', age < 0 ? NOT_YET : `${daysInWords(age)}. ${BANDS[freshness(age)]}`],
    ['Went live', summary === undefined ? undefined : ohioTime(summary.at)],
    ['Licenses', licenses === undefined ? undefined : count(licenses + (endorsements ?? 0))],
    ['Rows read', rows === undefined ? undefined : count(rows)],
    ['Rows rejected', rejected === undefined ? undefined : count(rejected)],
    ['Publication', metadata.publication],
  ]);
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
<div class="charts">${MEASURES.map((measure) => html`<div><h3>${measure.heading}</h3>${chart(measure, oldestFirst)}</div>`)}</div>
${cardTable(
  'usa-table--borderless cards',
  `The last ${counted(shown.length, 'publication')}, the latest first`,
  ['Dataset of', 'State', 'Rows', 'Seconds', 'Rejected', ...CHANGE_KINDS.map(capitalized)],
  shown.map(publicationCells),
)}</section>`;
}

function publicationCells(publication: PublicationSummary): string[] {
  const { date, state, counts, changes } = publication;
  return [
    date === undefined ? 'Not read' : shortDate(date),
    STATES_WITH_DATA.get(state) ?? state,
    count(counts?.rows ?? 0),
    count(seconds(publication)),
    count(counts?.rejected ?? 0),
    ...CHANGE_KINDS.map((kind) => count(changes?.kinds[kind] ?? 0)),
  ];
}

function seconds({ seconds: steps = {} }: PublicationSummary): number {
  return Math.round(Object.values(steps).reduce((total, each) => total + each, 0));
}

/** `2026-11-20` → `11/20`. */
function dayOf({ date = '' }: PublicationSummary): string {
  return date.slice(5).replace('-', '/');
}

const WIDTH = 320;
const HEIGHT = 180;
const BASE = 150;
const TOP = 18;
const MAX_BAR_WIDTH = 40;

/**
 * A chart of vertical bars as SVG, one for each publication, with its parts stacked in the order of the series. The
 * colors of the parts come from the style sheet.
 */
function chart({ heading, series, values }: Measure, publications: readonly PublicationSummary[]): Html {
  const label = `${heading} of the last ${counted(publications.length, 'publication')}; the table has the figures.`;
  const bars = publications.map((publication) => ({ day: dayOf(publication), parts: values(publication) }));
  const highest = bars.reduce((most, { parts }) => Math.max(most, sum(parts)), 1);
  const step = WIDTH / bars.length;
  const width = Math.min(MAX_BAR_WIDTH, step * 0.7);
  return html`<figure class="chart margin-0"><svg role="img" aria-label="${label}" viewBox="0 0 ${WIDTH} ${HEIGHT}">
<line class="axis" x1="0" y1="${BASE}" x2="${WIDTH}" y2="${BASE}"/>${bars.map(({ day, parts }, at) =>
    bar(day, parts, (at + 0.5) * step, width, (BASE - TOP) / highest),
  )}</svg>${
    series.length < 2
      ? ''
      : html`<ul class="legend">${series.map((name, at) => html`<li><svg class="part-${at}" aria-hidden="true" viewBox="0 0 1 1"><rect width="1" height="1"/></svg>${name}</li>`)}</ul>`
  }</figure>`;
}

function bar(day: string, parts: readonly number[], center: number, width: number, scale: number): Html {
  const total = sum(parts);
  return html`
<g>${parts.map((part, at) => {
    const top = BASE - sum(parts.slice(0, at + 1)) * scale;
    return html`<rect class="part-${at}" x="${rounded(center - width / 2)}" y="${rounded(top)}" width="${rounded(width)}" height="${rounded(part * scale)}"/>`;
  })}<text x="${rounded(center)}" y="${rounded(BASE - total * scale - 4)}">${count(total)}</text><text x="${rounded(center)}" y="${BASE + 18}">${day}</text></g>`;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function rounded(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function figures(heading: string, what: string, entries: readonly (readonly [string, number])[]): Html {
  if (entries.length === 0) return NOTHING;
  const sorted = entries.toSorted(([, one], [, other]) => other - one);
  const highest = sorted[0]?.[1] ?? 1;
  return html`<section><h2>${heading}</h2>
<table class="usa-table usa-table--borderless figures"><caption class="usa-sr-only">${heading}</caption><thead><tr><th scope="col">${what}</th><th scope="col">Licenses</th><th scope="col">Share</th></tr></thead>
<tbody>${sorted.map(
    ([name, number]) => html`
<tr><th scope="row">${name === '' ? 'Not stated' : name}</th><td class="text-no-wrap">${count(number)}</td><td class="share"><svg class="display-block width-full" aria-hidden="true" viewBox="0 0 100 8" preserveAspectRatio="none"><rect class="part-0" width="${Math.round((100 * number) / highest)}" height="8"/></svg></td></tr>`,
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
