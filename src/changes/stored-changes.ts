import { z } from 'zod';
import { addTo } from '../licenses/counts.ts';
import { bulk, search } from '../storage/checked-search.ts';
import { collection } from '../storage/collection.ts';
import type { Store } from '../storage/store.ts';
import { CHANGE_KINDS, isPlaceField, makeChange, type StoredChange, storedChange } from './change.ts';
import { type Feed, type FeedBeginning, type FeedState, feedsOf } from './feed.ts';
import { type ChangeCounts, onceForEach } from './stored-feed.ts';

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

/** The changes that a publication made of the live feed, in pages. */
export async function* changesOfPublication(store: Store, state: FeedState, publication: string) {
  for (const { feed, segments } of feedsOf(state)) {
    const epochs = segments.filter((each) => each.publication === publication).map(({ epoch }) => epoch);
    yield* changePages(store, [{ term: { feed } }, { terms: { epoch: epochs } }]);
  }
}

const places = z.object({
  hits: z
    .object({
      hits: z.array(
        z.object({
          sort: z.tuple([z.int()]),
          // Missing where the change is not valid.
          fields: z.object({ license: z.tuple([z.string()]) }).optional(),
          _source: z.object({ kind: z.enum(CHANGE_KINDS).optional().catch(undefined) }).default({}),
        }),
      ),
    })
    // OpenSearch leaves out what a filtered path does not find.
    .default({ hits: [] }),
});

/**
 * The next changes that match, in the order of their places, with no more than the license and the kind of each; these
 * are missing where a change is not valid.
 */
export async function changedLicenses(store: Store, filter: readonly object[], size: number) {
  const { hits } = await search(store.client, places, {
    index: store.names.changes,
    filter_path: ['timed_out', '_shards', 'hits.hits.sort', 'hits.hits.fields', 'hits.hits._source'],
    body: {
      query: { bool: { filter: [...filter] } },
      sort: [{ position: 'asc' }],
      size,
      track_total_hits: false,
      _source: ['kind'],
      docvalue_fields: ['license'],
    },
  });
  return hits.hits.map(({ sort: [position], fields, _source: { kind } }) => ({
    position,
    license: fields?.license[0],
    kind,
  }));
}

/**
 * The clause that a change of these feeds matches. Changes of a publication that did not go live have an epoch that no
 * feed has.
 */
export function visible(feeds: readonly Feed[]) {
  const should = feeds.map(({ feed, segments }) => ({
    bool: { filter: [{ term: { feed } }, { terms: { epoch: segments.map(({ epoch }) => epoch) } }] },
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
 * Makes the changes of one publication or rollback, numbered. They are visible once they are stored and a publication is
 * live whose feed has its epoch.
 *
 * @param state the feed before
 * @param beginning the publication that goes live, and the epoch of its publishing or of the rollback to it
 * @param dateBefore the run date of the publication before
 * @param newFields as `makeChange` has them
 */
export function changeMaker(
  state: FeedState,
  { publication, epoch, date }: FeedBeginning,
  { dateBefore, newFields }: { readonly dateBefore: string; readonly newFields?: ReadonlySet<string> },
) {
  const segment = { epoch, at: new Date().toISOString(), publication, date };
  const origin = { ...segment, feed: state.feed, before: dateBefore };
  let total = 0;
  const counts = {
    kinds: new Map<string, number>(),
    causes: new Map<string, number>(),
    boards: new Map<string, number>(),
  };
  return {
    /**
     * The change of a license, each of which comes once; `undefined` where it has none.
     *
     * @throws {TooManyChangesError} when the feed has no place for it
     */
    make(pair: Parameters<typeof makeChange>[1], cause: StoredChange['cause']): StoredChange | undefined {
      const change = makeChange(origin, pair, cause, total + 1, newFields);
      if (change === undefined) return undefined;
      total += 1;
      addTo(counts.kinds, change.kind);
      addTo(counts.causes, change.cause);
      addTo(counts.boards, change.board);
      return change;
    },
    /** How many there are. */
    total: (): number => total,
    /** Makes the changes searchable, once all are stored. @returns the feed with them, and their counts */
    async finish(store: Store): Promise<FeedChanges> {
      const changes = {
        kinds: Object.fromEntries(counts.kinds),
        causes: Object.fromEntries(counts.causes),
        boards: Object.fromEntries(counts.boards),
      };
      await store.client.indices.refresh({ index: store.names.changes });
      return { feed: { ...state, segments: [...state.segments, { ...segment, changes: total }] }, changes };
    },
  };
}

/** The two lines of a bulk request that store a change. */
export function changeOperation(change: StoredChange): string {
  return `{"index":{"_id":"${change.position}"}}\n${JSON.stringify(CHANGES.valid(change))}\n`;
}

/**
 * Erases the earlier values of places that the State no longer publishes, from every visible change of the license.
 * It is done once the change that withdraws a place is visible.
 *
 * @param onProgress gets how many changes have been looked at, and how many there may be
 */
export async function eraseWithdrawnPlaces(
  store: Store,
  state: FeedState,
  onProgress: (changes: number, total: number) => void = () => undefined,
): Promise<void> {
  const feeds = feedsOf(state);
  await onceForEach(store, 'erased', state, async ({ feed, epoch, changes }) => {
    const withdrawing = [{ term: { feed } }, { term: { epoch } }, { exists: { field: 'erases' } }];
    let looked = 0;
    for await (const page of changePages(store, withdrawing)) {
      await eraseEarlier(store, [visible(feeds), { range: { epoch: { lt: epoch } } }], page);
      looked += page.length;
      onProgress(looked, changes);
    }
  });
}

/** The changes of licenses whose numbers the State writes in another way, to their removals, in pages. */
export async function* renumberings(store: Store, { feed, epoch }: { feed: string; epoch: number }) {
  const removed = [{ term: { feed } }, { term: { epoch } }, { term: { kind: 'removed' } }];
  for await (const page of changePages(store, removed)) {
    const renumbered = page.flatMap(({ license, renumbered_to: to }) =>
      to === undefined ? [] : [{ license, to: license.slice(0, license.indexOf('/') + 1) + to }],
    );
    if (renumbered.length > 0) yield renumbered;
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

const GONE = 404;

/** Updates parts of changes. One that has been deleted meanwhile stays deleted. */
async function update(
  { client, names }: Store,
  updates: readonly { position: number; doc: object }[],
): Promise<void> {
  if (updates.length === 0) return;
  const body = updates.flatMap(({ position, doc }) => [{ update: { _id: String(position) } }, { doc }]);
  await bulk(client, { index: names.changes, body, refresh: true }, [GONE]);
}

/**
 * Deletes the changes that are not visible and never will be: those that are no longer kept, and those of publications
 * that did not go live; and what switches to indices made of the feed that are gone.
 *
 * @param kept the publications whose indices there are
 * @param epoch the epoch taken last; a publication of that epoch may be under way
 */
export async function deleteInvisibleChanges(
  { client, names }: Store,
  state: FeedState,
  kept: readonly string[],
  epoch: number,
): Promise<void> {
  const ofKept = {
    filter: [{ terms: { publication: [...kept] } }],
    must_not: [{ exists: { field: 'feed' } }],
  };
  await client.deleteByQuery({
    index: names.changes,
    conflicts: 'proceed',
    refresh: true,
    body: {
      query: {
        bool: {
          filter: [{ range: { epoch: { lt: epoch } } }],
          must_not: [visible(feedsOf(state)), { bool: ofKept }],
        },
      },
    },
  });
}
