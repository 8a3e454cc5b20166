import { ACCOUNTS } from '../access/accounts.ts';
import { API_KEYS } from '../access/api-keys.ts';
import { KEY_USAGE } from '../access/key-usage.ts';
import { isSegmentId, SEGMENTS } from '../changes/segments.ts';
import { CHANGES } from '../changes/stored-changes.ts';
import { isEpochId, LEDGER_EPOCH } from '../publications/fence.ts';
import { LEDGER_EVENTS } from '../publications/ledger.ts';
import { FEED_COPIES, FEED_COPY_ID } from '../publications/live-feed.ts';
import { REJECTED_ROWS } from '../publications/rejected-rows.ts';
import { SAVED_RECORDS } from '../records/saved-records.ts';
import { AUDIT_ENTRIES } from '../storage/audit-log.ts';
import type { DocumentChecks } from '../storage/collection.ts';

/** What the documents of each index must be. */
export const DOCUMENT_CHECKS: DocumentChecks = {
  ledger: (stored, id) => (isEpochId(id) ? LEDGER_EPOCH : LEDGER_EVENTS).check(stored, id),
  changes: (stored, id) => {
    if (id === FEED_COPY_ID) return FEED_COPIES.check(stored, id);
    return (isSegmentId(id) ? SEGMENTS : CHANGES).check(stored, id);
  },
  savedRecords: SAVED_RECORDS.check,
  rejectedRows: REJECTED_ROWS.check,
  accounts: ACCOUNTS.check,
  apiKeys: API_KEYS.check,
  apiKeyUsage: KEY_USAGE.check,
  audit: AUDIT_ENTRIES.check,
};
