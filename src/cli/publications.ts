import { Command } from 'commander';
import { writeChangesFile } from '../changes/changes-file.ts';
import { feedOf } from '../publications/copy-feed.ts';
import { type PublicationDetails, publicationDetails, publicationHistory } from '../publications/history.ts';
import { liveLicensesIndex } from '../publications/metadata.ts';
import { prune } from '../publications/prune.ts';
import { writeRejects } from '../publications/rejected-rows.ts';
import { rollBack } from '../publications/rollback.ts';
import { recordAudit } from '../storage/audit-log.ts';
import type { Store } from '../storage/store.ts';
import { withOpenSearch } from './open-search.ts';
import { grouped, JSON_OPTION, print, printJson, table } from './output.ts';
import { repairCommand } from './repair.ts';

/** `licenses publications`: the ledger. */
export function publicationsCommand(): Command {
  return new Command('publications')
    .description('every publication and how it ended, the latest first')
    .option(...JSON_OPTION)
    .action((options: { json?: boolean }) =>
      withOpenSearch(async (store) => {
        const history = await publicationHistory(store);
        if (options.json === true) return printJson(history);
        const rows = history.publications.map((entry) => [
          entry.publication,
          entry.state,
          entry.date ?? '',
          entry.counts === undefined ? '' : grouped(entry.counts.rows),
          entry.counts === undefined ? '' : grouped(entry.counts.rejected),
          entry.at,
          (entry.reasons ?? []).join(' '),
        ]);
        print(table(['PUBLICATION', 'STATE', 'DATE', 'ROWS', 'REJECTED', 'LAST EVENT', 'REASONS'], rows));
      }),
    )
    .addCommand(showCommand())
    .addCommand(repairCommand());
}

/** `licenses publications show ID`: one publication, and the rows that it rejected. */
function showCommand(): Command {
  return new Command('show')
    .description('one publication: its events, times, counts, and the rows that it rejected')
    .argument('<publication>', 'its id')
    .option('--rejects <file>', 'write the rows that were rejected to a CSV file')
    .option('--changes [file]', 'write what changed to a CSV file; changes-ID.csv unless named')
    .option(...JSON_OPTION)
    .action((id: string, options: ShowOptions, command: Command) =>
      withOpenSearch(async (store) => {
        const isJson = command.optsWithGlobals<{ json?: boolean }>().json === true;
        const found = await publicationDetails(store, id);
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

interface ShowOptions {
  readonly rejects?: string;
  readonly changes?: string | true;
  readonly json?: boolean;
}

async function writeChanges(store: Store, publication: string, path: string) {
  const live = await liveLicensesIndex(store);
  if (live === undefined) throw new Error('Nothing is live, so there are no changes.');
  return writeChangesFile(store, await feedOf(store, live.metadata), publication, path);
}

function printDetails({ summary, events }: PublicationDetails): void {
  const { counts, sources, discipline } = summary;
  const total = Object.values(summary.seconds ?? {}).reduce((sum, each) => sum + each, 0);
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
    ['service', summary.service_version],
    ['took', summary.seconds && `${total.toFixed(1)} s`],
  ];
  for (const [name, value] of facts) if (value) print(`${name.padEnd(14)}${value}`);
  for (const reason of summary.reasons ?? []) print(`  ${reason}`);
  for (const note of summary.notes ?? []) print(`  ${note}`);
  for (const difference of summary.differences ?? []) print(`  canary: ${difference}`);
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
      events.map(({ at, event }) => [at, event]),
    ),
  );
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
    .option('--to <publication>', 'the publication to go back to')
    .option(...JSON_OPTION)
    .action((options: { to?: string; json?: boolean }) =>
      withOpenSearch(async (store) => {
        const { from, to } = await rollBack(store, options.to);
        await recordAudit(store, 'rollback', {
          from: from?.metadata.publication,
          to: to.metadata.publication,
        });
        if (options.json === true) return printJson({ from: from?.metadata ?? null, to: to.metadata });
        print(
          `Live again: publication ${to.metadata.publication} of ${to.metadata.date}` +
            (from === undefined
              ? '. Nothing was live before.'
              : `, in place of ${from.metadata.publication} of ${from.metadata.date}.`),
        );
      }),
    );
}

/** `licenses prune`: old indices deleted. */
export function pruneCommand(): Command {
  return new Command('prune')
    .description('delete the indices of old and of broken-off publications')
    .option(...JSON_OPTION)
    .action((options: { json?: boolean }) =>
      withOpenSearch(async (store, config) => {
        const deleted = await prune(store, config.KEEP_PUBLICATIONS);
        await recordAudit(store, 'prune', { deleted: deleted.join(', ') });
        if (options.json === true) return printJson({ deleted });
        print(deleted.length === 0 ? 'Nothing to delete.' : `Deleted: ${deleted.join(', ')}.`);
      }),
    );
}
