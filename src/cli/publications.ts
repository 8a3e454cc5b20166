import { Command } from 'commander';
import { publicationHistory } from '../publications/history.ts';
import { prune } from '../publications/prune.ts';
import { rollBack } from '../publications/rollback.ts';
import { withOpenSearch } from './open-search.ts';
import { grouped, print, printJson, table } from './output.ts';

const JSON_OPTION = ['--json', 'print JSON'] as const;

/** `licenses publications`: the ledger. */
export function publicationsCommand(): Command {
  return new Command('publications')
    .description('every publication and how it ended, the latest first')
    .option(...JSON_OPTION)
    .action((options: { json?: boolean }) =>
      withOpenSearch(async (client, config) => {
        const history = await publicationHistory(client, config.INDEX_PREFIX);
        if (options.json === true) return printJson(history);
        const rows = history.publications.map((entry) => [
          entry.publication,
          entry.state,
          entry.date ?? '',
          entry.counts === undefined ? '' : grouped(entry.counts.rows),
          entry.counts === undefined ? '' : grouped(entry.counts.set_aside),
          entry.at,
          (entry.reasons ?? []).join(' '),
        ]);
        print(table(['PUBLICATION', 'STATE', 'DATE', 'ROWS', 'SET ASIDE', 'LAST EVENT', 'REASONS'], rows));
      }),
    );
}

/** `licenses rollback`: an earlier publication live again. */
export function rollbackCommand(): Command {
  return new Command('rollback')
    .description('make the previous publication live again, in one call')
    .option('--to <publication>', 'the publication to go back to')
    .option(...JSON_OPTION)
    .action((options: { to?: string; json?: boolean }) =>
      withOpenSearch(async (client, config) => {
        const { from, to } = await rollBack(client, config.INDEX_PREFIX, options.to);
        if (options.json === true) return printJson({ from: from.metadata, to: to.metadata });
        print(
          `Live again: publication ${to.metadata.publication} of ${to.metadata.date}, in place of ` +
            `${from.metadata.publication} of ${from.metadata.date}.`,
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
      withOpenSearch(async (client, config) => {
        const deleted = await prune(client, config.INDEX_PREFIX, config.KEEP_PUBLICATIONS);
        if (options.json === true) return printJson({ deleted });
        print(deleted.length === 0 ? 'Nothing to delete.' : `Deleted: ${deleted.join(', ')}.`);
      }),
    );
}
