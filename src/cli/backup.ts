import { Command } from 'commander';
import { recordAudit } from '../storage/audit-log.ts';
import { restoreBackup, writeBackup } from '../storage/backup.ts';
import { inWords } from '../storage/backup-file.ts';
import { withOpenSearch } from './open-search.ts';
import { JSON_OPTION, print, printJson } from './output.ts';

/** `licenses backup FILE`: what can't be rebuilt, in one file. */
export function backupCommand(): Command {
  return new Command('backup')
    .description(
      'write what exists only in OpenSearch to a file: accounts, API keys, ledger, audit log, changes, saved records',
    )
    .argument('<file>', 'the file; one of that name is replaced once the new one is whole')
    .option(...JSON_OPTION)
    .action((file: string, options: { json?: boolean }) =>
      withOpenSearch(async (store) => {
        const documents = await writeBackup(store, file);
        if (options.json === true) return printJson({ file, documents });
        print(`Backed up ${inWords(documents)} to ${file}.`);
      }),
    );
}

/** `licenses restore FILE`: a backup into an installation without keys and ledger. */
export function restoreCommand(): Command {
  return new Command('restore')
    .description(
      'restore accounts, API keys, ledger, audit log, changes and saved records where there are none',
    )
    .argument('<file>', 'the file that `licenses backup` wrote')
    .option(...JSON_OPTION)
    .action((file: string, options: { json?: boolean }) =>
      withOpenSearch(
        async (store) => {
          const documents = await restoreBackup(store, file);
          await recordAudit(store, 'restore', { file });
          if (options.json === true) return printJson({ file, documents });
          print(`Restored ${inWords(documents)} from ${file}. Now publish the latest files.`);
        },
        { createsIndices: true },
      ),
    );
}
