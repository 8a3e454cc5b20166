import { Command } from 'commander';
import { isEpochId } from '../publications/fence.ts';
import { repairEpoch } from '../publications/repair.ts';
import { recordAudit } from '../storage/audit-log.ts';
import { restoreBackup, writeBackup } from '../storage/backup.ts';
import { inWords } from '../storage/backup-file.ts';
import type { BadDocument } from '../storage/stored.ts';
import { withOpenSearch } from './open-search.ts';
import { JSON_OPTION, print, printError, printJson } from './output.ts';
import { DOCUMENT_CHECKS } from './stored-documents.ts';

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
        const { documents, leftOut } = await writeBackup(store, file, DOCUMENT_CHECKS);
        if (options.json === true) return printJson({ file, documents, left_out: leftOut });
        print(`Backed up ${inWords(documents)} to ${file}.`);
        printLeftOut(leftOut);
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
          const { documents, leftOut } = await restoreBackup(store, file, DOCUMENT_CHECKS);
          if (leftOut.some(({ id }) => isEpochId(id))) await repairEpoch(store);
          await recordAudit(store, 'restore', { file });
          if (options.json === true) return printJson({ file, documents, left_out: leftOut });
          print(`Restored ${inWords(documents)} from ${file}. Now publish the latest files.`);
          printLeftOut(leftOut);
        },
        { createsIndices: true },
      ),
    );
}

/** Says what a backup does not have, or not whole. */
function printLeftOut(leftOut: readonly BadDocument[]): void {
  for (const { index, id, problem } of leftOut)
    printError(`Not valid, and left out, or the part that is not valid: ${id} of ${index} (${problem}).`);
}
