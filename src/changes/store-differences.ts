import type { Store } from '../storage/store.ts';
import type { ChangeCause, StoredChange } from './change.ts';
import type { ChangeCounter } from './counts.ts';
import { type ChangeOrigin, makeChange } from './make-change.ts';
import { recordsOf } from './records.ts';
import { writeChanges } from './write-changes.ts';

/** A license that may differ between two indices, and why it would. */
export interface Candidate {
  /** The document id. */
  readonly license: string;
  readonly cause: ChangeCause;
}

/**
 * Compares some licenses in two physical indices, stores those that differ as changes, and counts them.
 *
 * @param candidates at most a few hundred, each license once
 * @param counter of the changes before; it is updated
 * @returns what was stored
 */
export async function storeDifferences(
  store: Store,
  indices: { readonly before: string; readonly after: string },
  candidates: readonly Candidate[],
  origin: ChangeOrigin,
  counter: ChangeCounter,
): Promise<readonly StoredChange[]> {
  const ids = candidates.map(({ license }) => license);
  const [before, after] = await Promise.all([
    recordsOf(store, indices.before, ids),
    recordsOf(store, indices.after, ids),
  ]);
  const changes: StoredChange[] = [];
  for (const { license, cause } of candidates) {
    const pair = { license, before: before.get(license), after: after.get(license) };
    const change = makeChange(origin, pair, cause, counter.total() + 1);
    if (change === undefined) continue;
    counter.count(change);
    changes.push(change);
  }
  await writeChanges(store, changes);
  return changes;
}
