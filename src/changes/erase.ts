import { z } from 'zod';
import { search } from '../storage/checked-search.ts';
import { SearchUnavailableError } from '../storage/errors.ts';
import type { Store } from '../storage/store.ts';
import { type StoredChange, storedChange } from './change.ts';
import type { FeedState } from './feed-state.ts';
import { visible } from './visible.ts';

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
    await replace(store, [...updated.values()]);
  }
}

function withoutValues(fields: StoredChange['fields'], names: readonly string[]): StoredChange['fields'] {
  const erased = { before: null, after: null, erased: true } as const;
  return Object.fromEntries(
    Object.entries(fields).map(([name, change]) => [name, names.includes(name) ? erased : change]),
  );
}

const response = z.object({ hits: z.object({ hits: z.array(z.object({ _source: storedChange })) }) });

async function changesWhere(
  { client, names }: Store,
  size: number,
  filter: object[],
): Promise<readonly StoredChange[]> {
  const { hits } = await search(client, response, {
    index: names.changes,
    body: { query: { bool: { filter } }, sort: [{ position: 'asc' }], size },
  });
  return hits.hits.map(({ _source }) => _source);
}

async function replace({ client, names }: Store, changes: readonly StoredChange[]): Promise<void> {
  const body = changes.flatMap((change) => [{ index: { _id: String(change.position) } }, change]);
  const { body: answer } = await client.bulk({ index: names.changes, body, refresh: true });
  if (answer.errors) throw new SearchUnavailableError('OpenSearch did not erase every withdrawn place.');
}
