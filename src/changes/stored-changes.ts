import { z } from 'zod';
import { addTo } from '../licenses/counts.ts';
import { type LicenseRecord, licenseRecord } from '../licenses/license.ts';
import { countDocuments } from '../storage/checked-search.ts';
import { collection } from '../storage/collection.ts';
import { SearchUnavailableError } from '../storage/errors.ts';
import type { Store } from '../storage/store.ts';
import { isPlaceField, makeChange, type StoredChange, storedChange } from './change.ts';
import { extendedFeed, type Feed, type FeedBeginning, type FeedState, feedsOf } from './feed.ts';
import { type ChangeCounts, readSegments, SEGMENTS, segmentId } from './segments.ts';

/** The changes, under their positions. */
export const CHANGES = collection('changes', storedChange, {
  isStoredUnder: (id, { position }) => id === String(position),
});

const CHANGES_A_PAGE = 1000;

/** All changes that match, the oldest first, in pages. */
function changePages(store: Store, filter: readonly object[]) {
  return CHANGES.pages(store, {
    query: { bool: { filter: [...filter, { exists: { field: 'position' } }] } },
    sort: [{ position: 'asc' }],
    size: CHANGES_A_PAGE,
  });
}

/** All changes of these publications and rollbacks, the oldest first, in pages. */
export function changesIn(store: Store, feed: string, epochs: readonly number[]) {
  return changePages(store, [{ term: { feed } }, { terms: { epoch: [...epochs] } }]);
}

/** The changes that a publication made of the live feed, in pages. */
export async function* changesOfPublication(store: Store, state: FeedState, publication: string) {
  for (const feed of feedsOf(state)) {
    const segments = await readSegments(store, feed);
    const epochs = segments.filter((each) => each.publication === publication).map(({ epoch }) => epoch);
    yield* changesIn(store, feed.feed, epochs);
  }
}

/** How many changes match, valid or not. */
export function countChanges({ client, names }: Store, filter: readonly object[]): Promise<number> {
  return countDocuments(client, names.changes, { bool: { filter: [...filter] } });
}

/** How many changes of an epoch are stored, valid or not. */
export function countChangesOfEpoch(store: Store, { feed }: Feed, epoch: number): Promise<number> {
  return countChanges(store, [{ term: { feed } }, { term: { epoch } }, { range: { position: { gt: 0 } } }]);
}

/**
 * The clause that a change of these feeds matches. Changes of a publication that did not go live have an epoch that no
 * feed has.
 */
export function visible(feeds: readonly Feed[]) {
  const should = feeds.map(({ feed, segments }) => ({
    bool: { filter: [{ term: { feed } }, { terms: { epoch: segments.map(([epoch]) => epoch) } }] },
  }));
  return { bool: { should, minimum_should_match: 1 } };
}

/** What a publication or rollback makes of the feed. */
export interface FeedChanges {
  readonly feed: FeedState;
  readonly changes: ChangeCounts;
}

export function withoutChanges(feed: FeedState): FeedChanges {
  return { feed, changes: { kinds: {}, causes: {}, boards: {} } };
}

/**
 * Stores the changes of one publication or rollback. They are visible once a publication is live whose feed has its
 * epoch.
 *
 * @param indices the physical indices to compare, and the run date of the one before
 * @param state the feed before
 * @param beginning the publication that goes live, and the epoch of its publishing or of the rollback to it
 * @param newFields as `makeChange` has them
 */
export function changeWriter(
  store: Store,
  indices: { readonly before: string; readonly after: string; readonly dateBefore: string },
  state: FeedState,
  { publication, epoch, date }: FeedBeginning,
  newFields?: ReadonlySet<string>,
) {
  const segment = { feed: state.feed, epoch, at: new Date().toISOString(), publication, date };
  const origin = { ...segment, before: indices.dateBefore };
  let total = 0;
  const counts = {
    kinds: new Map<string, number>(),
    causes: new Map<string, number>(),
    boards: new Map<string, number>(),
  };
  return {
    /**
     * Compares some licenses in the two indices, at most a few hundred, each once, and stores those that differ.
     *
     * @throws {TooManyChangesError} when the feed has no place for them
     */
    async write(
      licenses: readonly Pick<StoredChange, 'license' | 'cause'>[],
    ): Promise<readonly StoredChange[]> {
      const ids = licenses.map(({ license }) => license);
      const [before, after] = await Promise.all([
        recordsOf(store, indices.before, ids),
        recordsOf(store, indices.after, ids),
      ]);
      const changes: StoredChange[] = [];
      for (const { license, cause } of licenses) {
        const pair = { license, before: before.get(license), after: after.get(license) };
        const change = makeChange(origin, pair, cause, total + 1, newFields);
        if (change === undefined) continue;
        total += 1;
        addTo(counts.kinds, change.kind);
        addTo(counts.causes, change.cause);
        addTo(counts.boards, change.board);
        changes.push(change);
      }
      await CHANGES.putAll(
        store,
        changes.map((change) => [String(change.position), change]),
      );
      return changes;
    },
    /** Ends the writing, and makes the changes searchable. @returns the feed with them, and their counts */
    async finish(): Promise<FeedChanges> {
      const changes = {
        kinds: Object.fromEntries(counts.kinds),
        causes: Object.fromEntries(counts.causes),
        boards: Object.fromEntries(counts.boards),
      };
      await SEGMENTS.put(store, segmentId(epoch), { ...segment, counts: changes });
      await store.client.indices.refresh({ index: store.names.changes });
      return { feed: extendedFeed(state, epoch, total), changes };
    },
  };
}

const recordsResponse = z.object({
  docs: z.array(
    z.union([
      z.object({ _id: z.string(), found: z.literal(true), _source: licenseRecord }),
      z.object({ _id: z.string(), found: z.literal(false) }),
    ]),
  ),
});

/** Some licenses of a physical index, by document id. @throws {ZodError} when OpenSearch could not read one of them */
export async function recordsOf(
  { client }: Store,
  index: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, LicenseRecord>> {
  if (ids.length === 0) return new Map();
  const { body } = await client.mget({ index, realtime: false, body: { ids: [...ids] } });
  const { docs } = recordsResponse.parse(body);
  return new Map(docs.flatMap((doc) => (doc.found ? [[doc._id, doc._source] as const] : [])));
}

/**
 * Erases the earlier values of places that the State no longer publishes, from every visible change of the license.
 * It is done once the change that withdraws a place is visible. A segment that is done says so; when interrupted, the
 * next call does the rest.
 *
 * @param onProgress gets how many changes have been looked at
 */
export async function eraseWithdrawnPlaces(
  store: Store,
  state: FeedState,
  onProgress: (changes: number) => void = () => undefined,
): Promise<void> {
  const feeds = feedsOf(state);
  let changes = 0;
  for (const feed of feeds) {
    const stored = new Map((await readSegments(store, feed)).map((segment) => [segment.epoch, segment]));
    for (const [epoch] of feed.segments) {
      const segment = stored.get(epoch);
      if (segment?.erased === true) continue;
      const ofSegment = [{ term: { feed: feed.feed } }, { term: { epoch } }, { exists: { field: 'erases' } }];
      for await (const withdrawing of changePages(store, ofSegment)) {
        await eraseEarlier(store, [visible(feeds), { range: { epoch: { lt: epoch } } }], withdrawing);
        changes += withdrawing.length;
        onProgress(changes);
      }
      // Where a segment's document is missing, its withdrawn places are looked for each time.
      if (segment !== undefined) await SEGMENTS.put(store, segmentId(epoch), { ...segment, erased: true });
    }
  }
}

/** @param earlier what holds for earlier changes. @param withdrawing at most one of each license */
async function eraseEarlier(
  store: Store,
  earlier: readonly object[],
  withdrawing: readonly StoredChange[],
): Promise<void> {
  const byLicense = new Map(withdrawing.map((change) => [change.license, change]));
  for await (const changes of changePages(store, [
    ...earlier,
    { terms: { license: [...byLicense.keys()] } },
  ])) {
    await update(
      store,
      changes.flatMap(({ license, position, fields }) => {
        const later = byLicense.get(license);
        const erased = Object.entries(fields)
          .filter(([name, field]) => field.erased !== true && later !== undefined && erases(later, name))
          .map(([name]) => [name, { before: null, after: null, erased: true }]);
        return erased.length === 0 ? [] : [{ position, doc: { fields: Object.fromEntries(erased) } }];
      }),
    );
  }
}

function erases(change: StoredChange, name: string): boolean {
  return change.kind === 'added'
    ? isPlaceField(name) && !Object.hasOwn(change.fields, name)
    : (change.erases ?? []).includes(name);
}

const updateResponse = z.object({
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
  const statuses = updateResponse.parse(answer.body).items.map((item) => item.update.status);
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
