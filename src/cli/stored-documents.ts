import { Command } from 'commander';
import { ACCOUNTS } from '../access/accounts.ts';
import { API_KEYS } from '../access/api-keys.ts';
import { FIRST_ANSWERS } from '../access/first-answers.ts';
import { KEY_USAGE } from '../access/usage.ts';
import { isSegmentId, SEGMENTS } from '../changes/segments.ts';
import { CHANGES } from '../changes/stored-changes.ts';
import { EPOCH_ID, LEDGER_EPOCH } from '../publications/fence.ts';
import { LEDGER_EVENTS } from '../publications/ledger.ts';
import { FEED_COPIES, FEED_COPY_ID } from '../publications/live-feed.ts';
import { REJECTED_ROWS } from '../publications/rejected-rows.ts';
import { SAVED_RECORDS } from '../records/saved-records.ts';
import { SIGNING_KEYS } from '../signing/keys.ts';
import { AUDIT_ENTRIES, recordAudit } from '../storage/audit-log.ts';
import { type BackupResult, inWords, restoreBackup, writeBackup } from '../storage/backup.ts';
import type { DocumentChecks } from '../storage/collection.ts';
import type { Store } from '../storage/store.ts';
import { SUBSCRIPTIONS } from '../subscriptions/subscription.ts';
import { WEBHOOKS } from '../subscriptions/webhook.ts';
import { print, printError, printJson } from './output.ts';
import { JSON_OPTION, type JsonOption, withOpenSearch } from './store-command.ts';

/** What the documents of each index must be. */
export const DOCUMENT_CHECKS: DocumentChecks = {
  ledger: (stored, id) => (id === EPOCH_ID ? LEDGER_EPOCH : LEDGER_EVENTS).check(stored, id),
  changes: (stored, id) => {
    if (id === FEED_COPY_ID) return FEED_COPIES.check(stored, id);
    return (isSegmentId(id) ? SEGMENTS : CHANGES).check(stored, id);
  },
  savedRecords: SAVED_RECORDS.check,
  subscriptions: SUBSCRIPTIONS.check,
  webhooks: WEBHOOKS.check,
  rejectedRows: REJECTED_ROWS.check,
  accounts: ACCOUNTS.check,
  apiKeys: API_KEYS.check,
  apiKeyUsage: KEY_USAGE.check,
  audit: AUDIT_ENTRIES.check,
  signingKeys: SIGNING_KEYS.check,
  firstAnswers: FIRST_ANSWERS.check,
};

/** `licenses backup FILE`: what can't be rebuilt, in one file. */
export function backupCommand(): Command {
  return new Command('backup')
    .description(
      'write what exists only in OpenSearch to a file: accounts, API keys, ledger, audit log, changes, saved records, subscriptions, webhooks, public keys of signatures',
    )
    .argument('<file>', 'the file; one of that name is replaced once the new one is whole')
    .option(...JSON_OPTION)
    .action((file: string, options: JsonOption) =>
      withOpenSearch(async (store) => {
        const written = await writeBackup(store, file, DOCUMENT_CHECKS);
        printCopied(options, file, written, `Backed up ${inWords(written.documents)} to ${file}.`);
      }),
    );
}

/** `licenses restore FILE`: a backup into an installation that has none of what it restores. */
export function restoreCommand(): Command {
  const restore = async (store: Store, file: string, options: JsonOption) => {
    const restored = await restoreBackup(store, file, DOCUMENT_CHECKS);
    await recordAudit(store, 'restore', { file });
    const words = inWords(restored.documents);
    printCopied(options, file, restored, `Restored ${words} from ${file}. Now publish the latest files.`);
  };
  return new Command('restore')
    .description(
      'restore what a backup has, where there is none: accounts, API keys, subscriptions, webhooks, ledger, changes, saved records',
    )
    .argument('<file>', 'the file that `licenses backup` wrote')
    .option(...JSON_OPTION)
    .action((file: string, options: JsonOption) =>
      withOpenSearch((store) => restore(store, file, options), { createsIndices: true }),
    );
}

/** Says what was backed up or restored, and what the copy does not have, or not whole. */
function printCopied(
  { json }: JsonOption,
  file: string,
  { documents, leftOut }: BackupResult,
  line: string,
): void {
  if (json === true) {
    printJson({ file, documents, left_out: leftOut });
    return;
  }
  print(line);
  for (const { index, id, problem } of leftOut)
    printError(`Not valid, and left out, or the part that is not valid: ${id} of ${index} (${problem}).`);
}
