import { hostname, userInfo } from 'node:os';
import { z } from 'zod';
import { collection } from './collection.ts';
import type { Store } from './store.ts';

const auditEntry = z.object({
  /** ISO 8601. */
  at: z.string(),
  /** The system user and the machine: `ada@ops-1`. */
  by: z.string(),
  action: z.enum([
    'publish',
    'rollback',
    'prune',
    'restore',
    // A command of version 0.3.0.
    'repair',
    'keys create',
    'keys rotate',
    'keys revoke',
    'accounts activate',
    'accounts deactivate',
    'signing-keys rotate',
  ]),
  /** The object of the action and the given reason. Never contains a key. */
  details: z.record(z.string(), z.string()),
});

type AuditEntry = z.output<typeof auditEntry>;

/** The audit log, listed from the latest entry. */
export const AUDIT_ENTRIES = collection('audit', auditEntry, {
  order: [{ at: 'desc' }, { _seq_no: 'desc' }],
});

/**
 * Appends an entry with the current time. Entries are never changed.
 *
 * @param by the person responsible; by default, the user who runs this process
 */
export async function recordAudit(
  store: Store,
  action: AuditEntry['action'],
  given: Readonly<Record<string, string | undefined>>,
  by = whoRuns(),
): Promise<void> {
  const details = Object.entries(given).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]]));
  const at = new Date().toISOString();
  await AUDIT_ENTRIES.append(store, { at, by, action, details: Object.fromEntries(details) });
}

/** The user who runs this process, also behind `sudo`: `ada@ops-1`. A container may run as a user without a name. */
export function whoRuns(): string {
  try {
    return `${process.env.SUDO_USER ?? userInfo().username}@${hostname()}`;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}@${hostname()}`;
  }
}
