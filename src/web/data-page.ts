import { freshness } from '../answers/origin.ts';
import { CHANGE_KINDS } from '../changes/change.ts';
import type { Route } from '../http/guard.ts';
import { daysBetween } from '../licenses/dates.ts';
import type { PublicationSummary } from '../publications/history.ts';
import type { LivePublication } from '../publications/live.ts';
import { NOT_STATED } from './license-facts.ts';
import { dataTable, factList, type Html, html, NOTHING, type PageServices } from './page.ts';
import { count, daysInWords, longDate, ohioTime, shortDate } from './words.ts';

/** The most publications of a list. */
const MAX_LISTED = 14;

const BANDS = {
  fresh: 'Fresh: at most two days old.',
  late: 'Late: between two and seven days old.',
  stale: 'Stale: more than seven days old. Do not rely on it for anything recent.',
} as const;

const NOT_YET = 'Not known: its date has not come yet. Do not rely on it.';

/** GET /data: what is in the data, how old it is, and what changed lately. */
export function dataPage({ page, live, publications, today }: PageServices): Route {
  return {
    method: 'GET',
    path: '/data',
    handle: async (ctx) => {
      const now = live();
      const known = await publications();
      const origin = now && { date: now.metadata.date, isSampleData: now.metadata.sample };
      const description =
        'What is in the data of Ohio’s licensing boards, how old it is, and what changed lately.';
      await page.send(ctx, { title: 'The data', description, origin, body: dataBody(now, known, today()) });
    },
  };
}

function dataBody(
  live: LivePublication | undefined,
  publications: readonly PublicationSummary[] | undefined,
  today: string,
): Html {
  const summary = publications?.find(({ publication }) => publication === live?.metadata.publication);
  return html`<p class="intro">Every license that Ohio’s 24 licensing boards ever issued, active or not, as the State publishes it once a day.</p>
${live === undefined ? html`<p>The data can not be read right now, or no dataset has been published yet.</p>` : liveFacts(live, summary, today)}
${publications === undefined ? html`<p>What changed lately is not known right now.</p>` : recentChanges(publications)}
${live === undefined ? NOTHING : licensesByBoard([...live.licenses])}
${publications === undefined ? NOTHING : refusals(publications)}`;
}

function liveFacts(
  { metadata }: LivePublication,
  summary: PublicationSummary | undefined,
  today: string,
): Html {
  const age = daysBetween(metadata.date, today);
  const { licenses, endorsements, rejected } = metadata.counts ?? summary?.counts ?? {};
  return factList([
    ['Dataset of', longDate(metadata.date)],
    ['Age', age < 0 ? NOT_YET : `${daysInWords(age)}. ${BANDS[freshness(age)]}`],
    ['Here since', summary === undefined ? undefined : ohioTime(summary.at)],
    ['Licenses', licenses === undefined ? undefined : count(licenses + (endorsements ?? 0))],
    [
      'Not taken',
      rejected === undefined || rejected === 0
        ? undefined
        : `${count(rejected)} of the rows and endorsements of the State’s files, which can not be read or repeat a number. A license may be missing here: ask the board.`,
    ],
  ]);
}

/** The states of publications that have answered lookups, and what is said of those that do so no longer. */
const STATES_WITH_DATA: ReadonlyMap<string, string> = new Map([
  ['live', ''],
  ['superseded', ''],
  ['rolled_back', ' (this service withdrew it)'],
]);

/** How many licenses each dataset changed, by kind and by board. It names none. */
function recentChanges(publications: readonly PublicationSummary[]): Html {
  const shown = publications.filter(
    ({ state, changes, date }) => STATES_WITH_DATA.has(state) && changes !== undefined && date !== undefined,
  );
  return html`<section><h2 id="changes">What changed lately</h2>
${
  shown.length === 0
    ? html`<p>Nothing is known yet: changes are counted from the second dataset on.</p>`
    : html`<p>How many licenses were added, changed or removed when each dataset last went live, the latest first. The page of a license has its own history.</p>
${shown.slice(0, MAX_LISTED).map(changesOfDay)}`
}</section>`;
}

function changesOfDay({ date = '', state, changes }: PublicationSummary): Html {
  const kinds = new Map(Object.entries(changes?.kinds ?? {}));
  const some = CHANGE_KINDS.flatMap((kind) => {
    const changed = kinds.get(kind) ?? 0;
    return changed === 0 ? [] : [`${count(changed)} ${kind}`];
  });
  const words = some.join(', ') || 'no known change';
  const boards = Object.entries(changes?.boards ?? {}).toSorted(([, one], [, other]) => other - one);
  const day = html`<strong>${longDate(date)}</strong>${STATES_WITH_DATA.get(state) ?? ''}: ${words}`;
  return boards.length === 0
    ? html`<p class="day">${day}</p>`
    : html`<details class="day"><summary>${day}</summary><ul class="usa-list">${boards.map(
        ([board, changed]) => html`<li>${board || NOT_STATED}: ${count(changed)}</li>`,
      )}</ul></details>`;
}

function licensesByBoard(boards: readonly (readonly [string, number])[]): Html {
  if (boards.length === 0) return NOTHING;
  const rows = boards
    .toSorted(([, one], [, other]) => other - one)
    .map(([board, licenses]) => [board || NOT_STATED, count(licenses)]);
  return html`<section><h2>Licenses by board</h2>
${dataTable('usa-table--borderless numbers', 'With the endorsements that have a number', ['Board', 'Licenses'], rows)}</section>`;
}

/** The datasets that were not published because of what is in them. Failures of the service are its operator's business. */
function refusals(publications: readonly PublicationSummary[]): Html {
  const refused = publications.filter(({ state }) => state === 'refused').slice(0, MAX_LISTED);
  return html`<section><h2>Refused datasets</h2>
${
  refused.length === 0
    ? html`<p>None. A dataset with far fewer rows, missing columns or too many changes is not published; the one before stays.</p>`
    : html`<p>These datasets were not published; the one before stayed.</p>
<ul class="usa-list">${refused.map(
        ({ at, date, reasons = [] }) =>
          html`<li>${ohioTime(at)}${date === undefined ? NOTHING : html`, dataset of ${shortDate(date)}`}: ${reasons.map(publicReason).join(' ')}</li>`,
      )}</ul>`
}</section>`;
}

const ADDRESS = /(?<![a-z\d+.-])[a-z\d+.-]+:\/\/\S+/gi;
const PATH = /(?<![\w/.])(?:[a-z]:)?(?:[\\/][^\s\\/,;:'")]+){2,}/gi;

/** A reason without its code, and without the addresses and paths of the operator's files. */
export function publicReason(reason: string): string {
  return reason
    .replace(/^[a-z_]+: /, '')
    .replace(ADDRESS, '(address)')
    .replace(PATH, '(file)');
}
