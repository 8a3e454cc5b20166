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
  /** What it was done to, and the reason given. Never a key. */
  details: z.record(z.string(), z.string()),
});

type AuditEntry = z.output<typeof auditEntry>;

/** The latest is listed first. */
export const AUDIT_ENTRIES = collection('audit', auditEntry, {
  order: [{ at: 'desc' }, { _seq_no: 'desc' }],
});

/**
 * Appends an entry of now; nothing in the audit log is ever changed.
 *
 * @param by whoever runs this process unless given
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

/** Who runs this process, behind `sudo` too: `ada@ops-1`. A container may run as a user without a name. */
export function whoRuns(): string {
  try {
    return `${process.env.SUDO_USER ?? userInfo().username}@${hostname()}`;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}@${hostname()}`;
  }
}
