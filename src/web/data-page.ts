import { CHANGE_KINDS } from '../changes/change.ts';
import type { Route } from '../http/route.ts';
import { freshness } from '../http/status.ts';
import { daysBetween } from '../licenses/dates.ts';
import type { PublicationSummary } from '../publications/history.ts';
import type { LivePublication } from '../publications/live.ts';
import { dataTable, factList, type Html, html, NOTHING, type PageServices } from './page.ts';
import { capitalized, count, counted, daysInWords, longDate, ohioTime, shortDate } from './words.ts';

/** The most publications of a list. */
const MAX_LISTED = 14;

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
  return html`<p class="intro">Every license that Ohio’s 24 licensing boards ever issued, as the State publishes it once a day.</p>
${live === undefined ? html`<p>No dataset has been published yet.</p>` : liveFacts(live, summary, today)}
${history(publications)}
${live === undefined ? NOTHING : figures('Licenses by board', 'Board', [...live.licenses])}
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

/** The states of publications that have answered lookups, in words. */
const STATES_WITH_DATA: ReadonlyMap<string, string> = new Map([
  ['live', 'Live'],
  ['superseded', 'Replaced'],
  ['rolled_back', 'Rolled back'],
]);

function history(publications: readonly PublicationSummary[]): Html {
  const shown = publications.filter(({ state }) => STATES_WITH_DATA.has(state)).slice(0, MAX_LISTED);
  if (shown.length === 0) return NOTHING;
  return html`<section><h2>Publications</h2>
${dataTable(
  'usa-table--borderless',
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

function figures(heading: string, what: string, entries: readonly (readonly [string, number])[]): Html {
  if (entries.length === 0) return NOTHING;
  const sorted = entries.toSorted(([, one], [, other]) => other - one);
  const rows = sorted.map(([name, number]) => [name === '' ? 'Not stated' : name, count(number)]);
  return html`<section>${dataTable('usa-table--borderless', html`<h2>${heading}</h2>`, [what, 'Licenses'], rows)}</section>`;
}

function refusals(publications: readonly PublicationSummary[]): Html {
  const refused = publications
    .filter(({ state }) => state === 'refused' || state === 'failed')
    .slice(0, MAX_LISTED);
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
