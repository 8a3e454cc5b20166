import type { Store } from '../storage/store.ts';
import type { StoredChange } from './change.ts';
import type { FeedState } from './feed-state.ts';
import { CHANGES } from './stored-changes.ts';
import { visible } from './visible.ts';
import { writeChanges } from './write-changes.ts';

const CHANGES_A_REQUEST = 250;
/** A license changes a few times a year. */
const MAX_EARLIER_CHANGES = 10_000;

/**
 * Erases the earlier values of places that the State no longer publishes, from every visible change of the license.
 * It is done once the change that withdraws a place is visible; when interrupted, the next call does the rest.
 */
export async function eraseWithdrawnPlaces(store: Store, state: FeedState): Promise<void> {
  for (;;) {
    const withdrawing = await changesWhere(store, CHANGES_A_REQUEST, [
      ...visible(state),
      { exists: { field: 'erases' } },
    ]);
    if (withdrawing.length === 0) return;
    const licenses = [...new Set(withdrawing.map(({ license }) => license))];
    const changes = await changesWhere(store, MAX_EARLIER_CHANGES, [
      ...visible(state),
      { terms: { license: licenses } },
    ]);
    const byLicense = Map.groupBy(changes, ({ license }) => license);
    const erased = withdrawing.flatMap((change) => {
      const earlier = (byLicense.get(change.license) ?? []).filter(
        ({ position }) => position < change.position,
      );
      return earlier.map((each) => ({ each, names: change.erases ?? [] }));
    });
    const updated = new Map<number, StoredChange>(
      withdrawing.map(({ erases, ...change }) => [change.position, change]),
    );
    for (const { each, names } of erased) {
      const { erases, ...change } = updated.get(each.position) ?? each;
      updated.set(each.position, { ...change, fields: withoutValues(change.fields, names) });
    }
    await writeChanges(store, [...updated.values()], { refresh: true });
  }
}

function withoutValues(fields: StoredChange['fields'], names: readonly string[]): StoredChange['fields'] {
  const erased = { before: null, after: null, erased: true } as const;
  return Object.fromEntries(
    Object.entries(fields).map(([name, change]) => [name, names.includes(name) ? erased : change]),
  );
}

async function changesWhere(store: Store, size: number, filter: object[]): Promise<readonly StoredChange[]> {
  const { documents } = await CHANGES.search(store, {
    query: { bool: { filter } },
    sort: [{ position: 'asc' }],
    size,
  });
  return documents;
}
