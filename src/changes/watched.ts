import { z } from 'zod';
import { search } from '../storage/checked-search.ts';
import type { Store } from '../storage/store.ts';
import { CHANGE_KINDS } from './change.ts';
import { type FeedState, lastPosition, positionsBetween, unbrokenFeeds } from './feed.ts';
import { CHANGES, visible } from './stored-changes.ts';

/**
 * Tells which of some licenses an account watches, and what it calls each: the document ids, with the references, which
 * are null where the account gave none.
 */
export type WatchedAmong = (
  store: Store,
  account: string,
  licenses: readonly string[],
) => Promise<ReadonlyMap<string, string | null>>;

/** How many changes are looked through for a page. It bounds the time that a page takes, whatever an account watches. */
export const CHANGES_LOOKED_THROUGH = 2500;

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
 * The visible changes of watched licenses among the next changes after a place in the feed, and whether these could all
 * be read: else one is missing or not valid. There may be none of them although there are more after `next`.
 *
 * @param filters clauses that the changes must match, too
 * @param watchedAmong those of some licenses that are watched, with their references
 */
export async function watchedChangesAfter(
  store: Store,
  state: FeedState,
  after: number,
  limit: number,
  filters: readonly object[],
  watchedAmong: (licenses: readonly string[]) => ReturnType<WatchedAmong>,
) {
  const end = lastPosition(state);
  const feeds = unbrokenFeeds(state);
  const ahead = [visible(feeds), { range: { position: { gt: after, lte: end } } }];
  const hits = await changedLicenses(store, ahead, CHANGES_LOOKED_THROUGH);
  const found = hits.flatMap(({ position, license }) =>
    license === undefined ? [] : [{ position, license }],
  );
  const last = hits.length < CHANGES_LOOKED_THROUGH ? end : (hits.at(-1)?.position ?? end);
  const watched = await watchedAmong([...new Set(found.map(({ license }) => license))]);
  const positions = [
    ...new Set(found.flatMap(({ position, license }) => (watched.has(license) ? [position] : []))),
  ];
  const { documents, count, firstBad } = await CHANGES.search(store, {
    query: { bool: { filter: [{ terms: { position: positions } }, ...filters] } },
    sort: [{ position: 'asc' }],
    size: limit + 1,
    track_total_hits: false,
  });
  const changes = documents
    .slice(0, limit)
    .map((change) => ({ ...change, reference: watched.get(change.license) ?? null }));
  const next = count > limit ? (changes.at(-1)?.position ?? last) : last;
  const isRead =
    filters.length === 0
      ? changes.length === positions.filter((position) => position <= next).length
      : firstBad === undefined;
  const seen = new Set(found.map(({ position }) => position));
  return {
    changes,
    next,
    more: next < end,
    isWhole: isRead && seen.size === positionsBetween(feeds, after, last),
  };
}
