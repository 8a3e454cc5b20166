import { NOT_GIVEN } from '../answers/words.ts';
import { CHANGE_KINDS } from '../changes/change.ts';
import type { PublicationSummary } from '../publications/history.ts';
import type { LivePublication } from '../publications/live.ts';
import { dataTable, factList, type Html, html } from './page.ts';
import { count, longDate, ohioTime } from './words.ts';

const MAX_LISTED = 14;

/** The page about the data: its date, its size, recent changes and the boards. */
export function dataBody(
  live: LivePublication | undefined,
  publications: readonly PublicationSummary[] | undefined,
): Html {
  const summary = publications?.find(({ publication }) => publication === live?.metadata.publication);
  return html`<p>The licenses of Ohio’s 24 licensing boards, active or not, as the State publishes them once a day.</p>
${live === undefined ? html`<p>The data cannot be read right now, or nothing has been published yet.</p>` : liveFacts(live, summary)}
${publications === undefined ? html`<p>Recent changes cannot be read right now.</p>` : recentChanges(publications)}
${live !== undefined && live.licenses.size > 0 && licensesByBoard(live)}`;
}

function liveFacts({ metadata }: LivePublication, summary: PublicationSummary | undefined): Html {
  const { licenses, endorsements = 0, rejected = 0 } = metadata.counts ?? summary?.counts ?? {};
  const notLoaded = `${count(rejected)} rows and endorsements in the State’s files that are unreadable or repeat a number. A license may be missing: ask the board.`;
  return factList([
    ['State data dated', longDate(metadata.date)],
    ['Loaded', summary && ohioTime(summary.at)],
    ['Licenses', licenses === undefined ? undefined : count(licenses + endorsements)],
    ['Not loaded', rejected === 0 ? undefined : notLoaded],
  ]);
}

/** How many licenses each dataset added, changed and removed. The list names no licenses. */
function recentChanges(publications: readonly PublicationSummary[]): Html {
  const shown = publications.filter(
    ({ state, changes, date }) =>
      ['live', 'superseded', 'rolled_back'].includes(state) && changes !== undefined && date !== undefined,
  );
  return html`<section><h2 id="changes">Recent changes</h2>
${
  shown.length === 0
    ? html`<p>Nothing is known yet: changes are counted from the second dataset on.</p>`
    : html`<p>How many licenses each day’s data added, changed or removed. The page of a license shows its own changes.</p>
<ul>${shown.slice(0, MAX_LISTED).map(changesOfDay)}</ul>`
}</section>`;
}

function changesOfDay({ date = '', state, changes }: PublicationSummary): Html {
  const kinds = new Map(Object.entries(changes?.kinds ?? {}));
  const some = CHANGE_KINDS.flatMap((kind) =>
    kinds.get(kind) ? `${count(kinds.get(kind) ?? 0)} ${kind}` : [],
  );
  const again = changes?.causes.rollback ? ' (this service went back to it)' : '';
  const event = state === 'rolled_back' ? ' (this service withdrew it)' : again;
  return html`<li><strong>${longDate(date)}</strong>${event}: ${some.join(', ') || 'no known change'}</li>`;
}

/** The number of licenses of each board, and how often they change. */
function licensesByBoard({ licenses, activity }: LivePublication): Html {
  const rows = [...licenses]
    .toSorted(([, one], [, other]) => other - one)
    .map(([board, number]) => {
      const { last_changed: last, usual_changes_per_day: usual } = activity.get(board) ?? {};
      return [
        board || NOT_GIVEN,
        count(number),
        last ? longDate(last) : 'None known',
        usual == null ? 'Not known yet' : count(usual),
      ];
    });
  return html`<section><h2>Licenses by board</h2>
<p class="hint">The last change is the date of the latest dataset in which a license of the board changed.</p>
${dataTable('Licenses by board, with the endorsements that have a number', COLUMNS, rows)}</section>`;
}

const COLUMNS = ['Board', 'Licenses', 'Last change', 'Usual changes a day'];
