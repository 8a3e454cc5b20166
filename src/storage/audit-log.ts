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

export const AUDIT_ENTRIES = collection('audit', auditEntry);

/**
 * Appends an entry of now; nothing in the audit log is ever changed.
 *
 * @param by whoever runs this process unless given
 */
export async function recordAudit(
  store: Store,
  action: AuditEntry['action'],
  details: Readonly<Record<string, string | undefined>>,
  by = whoRuns(),
): Promise<void> {
  const given = Object.entries(details).filter((entry): entry is [string, string] => entry[1] !== undefined);
  await AUDIT_ENTRIES.append(store, {
    at: new Date().toISOString(),
    by,
    action,
    details: Object.fromEntries(given),
  });
}

/** Who runs this process: `ada@ops-1`. */
export function whoRuns(): string {
  return `${operator()}@${hostname()}`;
}

/** The system user, behind `sudo` too; a container may run as a user without a name. */
function operator(): string {
  try {
    return process.env.SUDO_USER ?? userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

const MAX_ENTRIES = 10_000;

/** The latest entries of the audit log, the latest first; 10,000 of them at the most. */
export async function readAudit(store: Store, limit = MAX_ENTRIES): Promise<readonly AuditEntry[]> {
  const { documents } = await AUDIT_ENTRIES.search(store, {
    size: Math.min(limit, MAX_ENTRIES),
    query: { match_all: {} },
    sort: [{ at: 'desc' }, { _seq_no: 'desc' }],
  });
  return documents;
}
