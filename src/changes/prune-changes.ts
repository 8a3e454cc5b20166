import { z } from 'zod';
import { SearchUnavailableError } from '../storage/errors.ts';
import type { Store } from '../storage/store.ts';
import { isPlaceField, type StoredChange } from './change.ts';
import { type FeedState, feedsOf } from './feed.ts';
import { changePages, visible } from './stored-changes.ts';

/**
 * Erases the earlier values of places that the State no longer publishes, from every visible change of the license.
 * It is done once the change that withdraws a place is visible; when interrupted, the next call does the rest.
 */
export async function eraseWithdrawnPlaces(store: Store, state: FeedState): Promise<void> {
  const isVisible = visible(feedsOf(state));
  for await (const withdrawing of changePages(store, [isVisible, { exists: { field: 'erases' } }])) {
    const byLicense = Map.groupBy(withdrawing, ({ license }) => license);
    const ofLicenses = { terms: { license: [...byLicense.keys()] } };
    for await (const changes of changePages(store, [isVisible, ofLicenses])) {
      await update(
        store,
        changes.flatMap(({ license, position, fields }) => {
          const later = (byLicense.get(license) ?? []).filter((each) => each.position > position);
          const erased = Object.entries(fields)
            .filter(([name, field]) => field.erased !== true && later.some((each) => erases(each, name)))
            .map(([name]) => [name, { before: null, after: null, erased: true }]);
          return erased.length === 0 ? [] : [{ position, doc: { fields: Object.fromEntries(erased) } }];
        }),
      );
    }
    // Last, so that a call that is interrupted before this is repeated.
    await update(
      store,
      withdrawing.map(({ position }) => ({ position, doc: { erases: [] } })),
    );
  }
}

function erases(change: StoredChange, name: string): boolean {
  return change.kind === 'added'
    ? isPlaceField(name) && !Object.hasOwn(change.fields, name)
    : (change.erases ?? []).includes(name);
}

const response = z.object({
  items: z.array(z.object({ update: z.object({ status: z.int() }) })),
});

const GONE = 404;

/** Updates parts of changes. One that has been deleted meanwhile stays deleted. */
async function update(
  { client, names }: Store,
  updates: readonly { position: number; doc: object }[],
): Promise<void> {
  if (updates.length === 0) return;
  const body = updates.flatMap(({ position, doc }) => [{ update: { _id: String(position) } }, { doc }]);
  const answer = await client.bulk({ index: names.changes, body, refresh: true });
  const statuses = response.parse(answer.body).items.map((item) => item.update.status);
  if (statuses.some((status) => status >= 300 && status !== GONE)) {
    throw new SearchUnavailableError('OpenSearch did not erase every withdrawn place.');
  }
}

/**
 * Deletes the changes that are not visible and never will be: those that are no longer kept, and those of publications
 * that did not go live.
 *
 * @param epoch the epoch taken last; a publication of that epoch may be under way
 */
export async function deleteInvisibleChanges(
  { client, names }: Store,
  state: FeedState,
  epoch: number,
): Promise<void> {
  await client.deleteByQuery({
    index: names.changes,
    conflicts: 'proceed',
    refresh: true,
    body: {
      query: {
        bool: {
          filter: [{ range: { epoch: { lt: epoch } } }],
          must_not: [visible(feedsOf(state))],
        },
      },
    },
  });
}
