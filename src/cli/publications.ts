import { Command } from 'commander';
import type { StoredChange } from '../changes/change.ts';
import { changesOfPublication } from '../changes/stored-changes.ts';
import { writeSpreadsheet } from '../csv.ts';
import { ohioTime } from '../licenses/dates.ts';
import { type PublicationDetails, publicationDetails, publicationHistory } from '../publications/history.ts';
import type { Check } from '../publications/ledger.ts';
import { feedOf, liveFeed } from '../publications/live-feed.ts';
import { liveLicensesIndex } from '../publications/metadata.ts';
import { prune } from '../publications/prune.ts';
import { writeRejects } from '../publications/rejected-rows.ts';
import { rollBack } from '../publications/rollback.ts';
import { recordAudit } from '../storage/audit-log.ts';
import type { Store } from '../storage/store.ts';
import { followRenumbered } from '../subscriptions/subscription.ts';
import { checkTable, closeChecks, isRefusing, writeReport } from './checks.ts';
import type { DiffOptions } from './diff.ts';
import { acceptable, day, reason } from './options.ts';
import { grouped, print, printJson, sumOf, table, totalTime } from './output.ts';
import type { CheckFiles, PublishOptions } from './publish.ts';
import { JSON_OPTION, type JsonOption, report, withOpenSearch } from './store-command.ts';

/**
 * `licenses publish`: queues a publication and waits, or checks the files alone. Exit 0 live, 2 refused, 1 failed.
 *
 * @param checkFiles what `--check` does
 */
export function publishCommand(checkFiles: CheckFiles): Command {
  return new Command('publish')
    .description("publish the State's two files: load, check, go live")
    .option(
      '--individual <file>',
      'the individual file, a path or an https URL (default: DATASET_INDIVIDUAL)',
    )
    .option('--business <file>', 'the business file, a path or an https URL (default: DATASET_BUSINESS)')
    .option('--date <date>', 'the run date, YYYY-MM-DD, where the files have none', day)
    .option('--check', 'do all but going live, and say how it would end')
    .option(
      '--accept <guard[:column]>',
      'let this guard pass, in this column alone where one is named; may be repeated',
      acceptable,
    )
    .option('--force <reason>', 'go past all guards; the reason is kept in the ledger', reason)
    .option('--report <file>', 'write what the guards found, and blank and unknown values, as Markdown')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nExit codes: 0 live or skipped, 1 failed, 2 refused, 130 interrupted; with --check: 0 would go live, 1 failed, 2 would be refused.',
    )
    .action(async (options: PublishOptions) => {
      // The queue's packages take longer to load than most other commands to run.
      const { publishAndWait } = await import('./publish.ts');
      await publishAndWait(options, checkFiles);
    });
}

const SHOWN_CHARACTERS = 60;

/** A line of the table stays a line: the code of a guard, or how an error begins. `publications show` has all reasons. */
function firstReason([first = '', ...more]: readonly string[]): string {
  const code = /^[a-z_]+(?=: )/.exec(first)?.[0];
  const shown = code ?? (first.length > SHOWN_CHARACTERS ? `${first.slice(0, SHOWN_CHARACTERS)}…` : first);
  return more.length === 0 ? shown : `${shown} (and ${more.length} more)`;
}

/** `licenses publications`: the ledger. @param checkFiles loads files that are compared */
export function publicationsCommand(checkFiles: CheckFiles): Command {
  return new Command('publications')
    .description('every publication and how it ended, the latest first')
    .option(...JSON_OPTION)
    .action((options: JsonOption) =>
      report(options, publicationHistory, ({ publications }) =>
        table(
          ['PUBLICATION', 'STATE', 'DATE', 'ROWS', 'REJECTED', 'CHANGES', 'TOOK', 'LAST EVENT', 'REASONS'],
          publications.map(
            ({ publication, state, date, counts, changes, seconds, at, forced, reasons = [] }) => [
              publication,
              forced === undefined ? state : `${state} (forced)`,
              date ?? '',
              counts === undefined ? '' : grouped(counts.rows),
              counts === undefined ? '' : grouped(counts.rejected),
              changes === undefined ? '' : grouped(sumOf(changes.kinds)),
              seconds === undefined ? '' : totalTime(seconds),
              ohioTime(at),
              firstReason(reasons),
            ],
          ),
        ),
      ),
    )
    .addCommand(showCommand())
    .addCommand(diffCommand(checkFiles));
}

/** `licenses publications show ID`: one publication, and the rows that it rejected. */
function showCommand(): Command {
  return new Command('show')
    .description('one publication: its events, times, counts, and the rows that it rejected')
    .argument('<publication>', 'its id')
    .option('--rejects <file>', 'write the rows that were rejected to a CSV file')
    .option('--report <file>', 'write what the guards found, and blank and unknown values, as Markdown')
    .option('--changes [file]', 'write what changed to a CSV file; changes-ID.csv unless named')
    .option(...JSON_OPTION)
    .action((id: string, options: ShowOptions, command: Command) =>
      withOpenSearch(async (store) => {
        const isJson = command.optsWithGlobals<JsonOption>().json === true;
        const found = await publicationDetails(store, id);
        if (options.report !== undefined) await writeReport(options.report, found.summary);
        const rejects =
          options.rejects === undefined ? undefined : await writeRejects(store, id, options.rejects);
        const changes =
          options.changes === undefined
            ? undefined
            : await writeChanges(store, id, options.changes === true ? `changes-${id}.csv` : options.changes);
        if (isJson) return printJson({ ...found, ...(rejects && { rejects }), ...(changes && { changes }) });
        printDetails(found);
        if (changes !== undefined) print(`${grouped(changes.changes)} changes written to ${changes.file}.`);
        if (rejects !== undefined) print(`${grouped(rejects.rows)} rows written to ${rejects.file}.`);
      }),
    );
}

/** `licenses publications diff A B`: what differs, by board and column. */
function diffCommand(checkFiles: CheckFiles): Command {
  return new Command('diff')
    .description('how two kept publications differ, or a publication and files: counts by board and column')
    .argument('<before>', 'its id, or: live')
    .argument('[after]', 'its id, or: live; the files unless given')
    .option('--individual <file>', 'the individual file (default: DATASET_INDIVIDUAL)')
    .option('--business <file>', 'the business file (default: DATASET_BUSINESS)')
    .option('--csv <file>', 'write every difference to a CSV file')
    .option(...JSON_OPTION)
    .action(async (before: string, after: string | undefined, _options: DiffOptions, command: Command) => {
      const { printDiff } = await import('./diff.ts');
      await printDiff([before, after], command.optsWithGlobals<DiffOptions>(), checkFiles);
    });
}

interface ShowOptions {
  readonly report?: string;
  readonly rejects?: string;
  readonly changes?: string | true;
}

const CHANGE_COLUMNS = [
  ...['at', 'kind', 'cause', 'board', 'license_number', 'full_name'],
  ...['field', 'before', 'after'],
];

async function writeChanges(store: Store, publication: string, path: string) {
  const live = await liveLicensesIndex(store);
  if (live === undefined) throw new Error('Nothing is live, so there are no changes.');
  const pages = changesOfPublication(store, await feedOf(store, live.metadata), publication);
  return { file: path, changes: await writeSpreadsheet(path, CHANGE_COLUMNS, pages, changedFieldRows) };
}

/** A line for each field. */
function changedFieldRows(change: StoredChange): string[][] {
  const { at, kind, cause, board, license_number, full_name, fields } = change;
  const license = [at, kind, cause, board, license_number, full_name];
  return Object.entries(fields).map(([name, { before, after }]) => [
    ...license,
    name,
    before ?? '',
    after ?? '',
  ]);
}

function printDetails({ summary, events }: PublicationDetails): void {
  const { counts, sources, discipline } = summary;
  const facts: (readonly [string, string | undefined])[] = [
    ['publication', summary.publication],
    ['state', summary.state],
    ['dataset of', summary.date && `${summary.date}${summary.sample ? ' (generated sample)' : ''}`],
    ['index', summary.index],
    ['individual', sources && `${sources.individual}, SHA-256 ${summary.sha256?.individual}`],
    ['business', sources && `${sources.business}, SHA-256 ${summary.sha256?.business}`],
    ['rows', counts && grouped(counts.rows)],
    ['licenses', counts && grouped(counts.licenses)],
    ['endorsements', counts && grouped(counts.endorsements)],
    ['rejected', counts && grouped(counts.rejected)],
    ['board actions', discipline && grouped(discipline.board_actions)],
    ['forced', summary.forced],
    ['accepted', summary.accepted?.join(', ')],
    ['service', summary.service_version],
    ['took', summary.seconds && totalTime(summary.seconds)],
  ];
  for (const [name, value] of facts) if (value) print(`${name.padEnd(14)}${value}`);
  for (const reason of summary.reasons ?? []) print(`  ${reason}`);
  for (const note of summary.notes ?? []) print(`  ${note}`);
  printChecks('REFUSED', (summary.checks ?? []).filter(isRefusing));
  printChecks('CAME CLOSE', closeChecks(summary.checks ?? []));
  printCounts('STEP', 'SECONDS', summary.seconds);
  printCounts('BOARD', 'LICENSES', summary.boards);
  printCounts('STATUS', 'LICENSES', summary.statuses);
  printCounts('DISCIPLINARY SUB-STATUS', 'LICENSES', discipline?.sub_statuses);
  printCounts('CHANGE', 'LICENSES', summary.changes?.kinds);
  printCounts('CAUSE OF A CHANGE', 'LICENSES', summary.changes?.causes);
  printCounts('BOARD WITH CHANGES', 'LICENSES', summary.changes?.boards);
  printCounts('NOT IN THE CATALOG', 'ROWS', summary.unknown_labels);
  print('');
  print(
    table(
      ['AT', 'EVENT'],
      events.map(({ at, event }) => [ohioTime(at), event]),
    ),
  );
}

function printChecks(heading: string, checks: readonly Check[]): void {
  if (checks.length > 0) print(['', heading, ...checkTable(checks)]);
}

function printCounts(
  heading: string,
  unit: string,
  counts: Readonly<Record<string, number>> | undefined,
): void {
  const rows = Object.entries(counts ?? {});
  if (rows.length === 0) return;
  print('');
  print(
    table(
      [heading, unit],
      rows.map(([name, count]) => [name || '(blank)', grouped(count)]),
    ),
  );
}

/** `licenses rollback`: an earlier publication live again. */
export function rollbackCommand(): Command {
  return new Command('rollback')
    .description('make the previous publication live again, in one call')
    .option('--to <publication>', 'the publication to go back to, by its id or index')
    .option(...JSON_OPTION)
    .action((options: JsonOption & { to?: string }) =>
      report(
        options,
        async (store) => {
          const { from, to } = await rollBack(store, options.to);
          await followRenumbered(store, (await liveFeed(store)).state);
          const went = { from: from?.metadata ?? null, to: to.metadata };
          await recordAudit(store, 'rollback', { from: went.from?.publication, to: went.to.publication });
          return went;
        },
        ({ from, to }) =>
          `Live again: publication ${to.publication} of ${to.date}` +
          (from === null
            ? '. Nothing was live before.'
            : `, in place of ${from.publication} of ${from.date}.`),
      ),
    );
}

/** `licenses prune`: old indices deleted. */
export function pruneCommand(): Command {
  return new Command('prune')
    .description('delete the indices of old and of broken-off publications')
    .option(...JSON_OPTION)
    .action((options: JsonOption) =>
      report(
        options,
        async (store, config) => {
          const deleted = await prune(store, config.KEEP_PUBLICATIONS);
          await recordAudit(store, 'prune', { deleted: deleted.join(', ') });
          return { deleted };
        },
        ({ deleted }) => (deleted.length === 0 ? 'Nothing to delete.' : `Deleted: ${deleted.join(', ')}.`),
      ),
    );
}
