import { ACCOUNTS } from '../access/accounts.ts';
import { API_KEYS } from '../access/api-keys.ts';
import { FIRST_ANSWERS } from '../access/first-answers.ts';
import { KEY_USAGE } from '../access/usage.ts';
import { CHANGES } from '../changes/stored-changes.ts';
import { feedDocumentCheck } from '../changes/stored-feed.ts';
import { EPOCH_ID, LEDGER_EPOCH } from '../publications/fence.ts';
import { LEDGER_EVENTS } from '../publications/ledger.ts';
import { REJECTED_ROWS } from '../publications/rejected-rows.ts';
import { SAVED_RECORDS } from '../records/saved-records.ts';
import { SIGNING_KEYS } from '../signing/keys.ts';
import { AUDIT_ENTRIES, recordAudit } from '../storage/audit-log.ts';
import { type BackupResult, inWords, restoreBackup, writeBackup } from '../storage/backup.ts';
import type { DocumentChecks } from '../storage/collection.ts';
import { SUBSCRIPTIONS } from '../subscriptions/subscription.ts';
import { WEBHOOKS } from '../subscriptions/webhook.ts';
import type { Actions } from './options.ts';
import type { Outcome } from './output.ts';
import { withOpenSearch } from './store-command.ts';

/** How the documents of each index are checked. */
export const DOCUMENT_CHECKS: DocumentChecks = {
  ledger: (stored, id) => (id === EPOCH_ID ? LEDGER_EPOCH : LEDGER_EVENTS).check(stored, id),
  changes: (stored, id) => (feedDocumentCheck(id) ?? CHANGES.check)(stored, id),
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

/** Commands for a backup: one file with all data that can't be rebuilt. */
export const ACTIONS: Actions = {
  backup: async ([file = '']) =>
    withOpenSearch(async (store) => {
      const copy = await writeBackup(store, file, DOCUMENT_CHECKS);
      return copied(file, copy, `Backed up ${inWords(copy.documents)} to ${file}.`);
    }),
  restore: async ([file = '']) =>
    withOpenSearch(async (store) => {
      const copy = await restoreBackup(store, file, DOCUMENT_CHECKS);
      await recordAudit(store, 'restore', { file });
      const documents = inWords(copy.documents);
      return copied(file, copy, `Restored ${documents} from ${file}. Now publish the latest files.`);
    }, true),
};

/** The result for the operator, with the invalid documents that the copy lacks, whole or in part. */
function copied(file: string, { documents, leftOut: left_out }: BackupResult, words: string): Outcome {
  const errors = left_out.map(
    ({ index, id, problem }) =>
      `Not valid, and left out, or the part that is not valid: ${id} of ${index} (${problem}).`,
  );
  return { value: { file, documents, left_out }, words, errors };
}
