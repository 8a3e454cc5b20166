import type { API } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { search } from '../storage/checked-search.ts';
import type { Store } from '../storage/store.ts';
import { type ChangeCause, type ChangeKind, type StoredChange, storedChange } from './change.ts';
import { type FeedState, lastPosition } from './feed-state.ts';
import { visible } from './visible.ts';

/** Which changes of a feed to read; all where nothing is given. */
export interface ChangeFilters {
  /** The board's name. */
  readonly board?: string | undefined;
  readonly kind?: ChangeKind | undefined;
  readonly cause?: ChangeCause | undefined;
}

/** Some changes of a feed, the oldest first. */
export interface ChangesPage {
  readonly changes: readonly StoredChange[];
  /** Where to go on: the place of the last change of the page, or the end of the feed. */
  readonly next: number;
  /** Whether more changes follow. */
  readonly more: boolean;
}

type Query = NonNullable<NonNullable<API.Search_RequestBody>['query']>;

const changesResponse = z.object({
  hits: z.object({ hits: z.array(z.object({ _source: storedChange })) }),
});

/**
 * The visible changes after a place in the feed.
 *
 * @throws {SearchUnavailableError} when the response is partial
 */
export async function changesAfter(
  store: Store,
  state: FeedState,
  { after, limit, filters }: { after: number; limit: number; filters: ChangeFilters },
): Promise<ChangesPage> {
  const end = lastPosition(state);
  if (after === end) return { changes: [], next: end, more: false };
  const terms = Object.entries(filters).flatMap(([name, value]) =>
    value === undefined ? [] : [{ term: { [name]: value } }],
  );
  const found = await changesOf(store, {
    query: {
      bool: { filter: [...visible(state), { range: { position: { gt: after, lte: end } } }, ...terms] },
    },
    sort: [{ position: 'asc' }],
    size: limit + 1,
  });
  const changes = found.slice(0, limit);
  const more = found.length > limit;
  return { changes, next: more ? (changes.at(-1)?.position ?? after) : end, more };
}

/** How many changes of a license are listed. A license has a few in a year. */
const MAX_CHANGES_OF_LICENSE = 1000;

/** The visible changes of the licenses of a board whose number has this key, the newest first. */
export async function changesOfNumber(
  store: Store,
  state: FeedState,
  { board, number }: { board: string; number: string },
): Promise<readonly StoredChange[]> {
  if (lastPosition(state) === state.start) return [];
  return changesOf(store, {
    query: { bool: { filter: [...visible(state), { term: { board } }, { term: { number } }] } },
    sort: [{ position: 'desc' }],
    size: MAX_CHANGES_OF_LICENSE,
  });
}

const CHANGES_A_PAGE = 1000;

/** All changes of these publications and rollbacks, the oldest first, in pages. */
export async function* changesIn(
  store: Store,
  feed: string,
  epochs: readonly number[],
): AsyncGenerator<readonly StoredChange[], void, undefined> {
  for (let after = 0; ; ) {
    const changes = await changesOf(store, {
      query: {
        bool: {
          filter: [
            { term: { feed } },
            { terms: { epoch: [...epochs] } },
            { range: { position: { gt: after } } },
          ],
        },
      },
      sort: [{ position: 'asc' }],
      size: CHANGES_A_PAGE,
    });
    const last = changes.at(-1);
    if (last === undefined) return;
    yield changes;
    after = last.position;
  }
}

async function changesOf(
  { client, names }: Store,
  body: { query: Query; sort: Record<string, 'asc' | 'desc'>[]; size: number },
): Promise<StoredChange[]> {
  const { hits } = await search(client, changesResponse, {
    index: names.changes,
    body: { ...body, track_total_hits: false },
  });
  return hits.hits.map(({ _source }) => _source);
}
