import { type Board, boardByLabel, currentBoardName } from '../licenses/boards.ts';
import { countDocuments } from '../storage/checked-search.ts';
import type { Sort } from '../storage/collection.ts';
import type { Store } from '../storage/store.ts';
import type { ChangeCause, ChangeKind, StoredChange } from './change.ts';
import { type FeedState, feedsOf, lastPosition, positionsBetween, unbrokenFeeds } from './feed-state.ts';
import { CHANGES } from './stored-changes.ts';
import { visible } from './visible.ts';

/** Which changes of a feed to read; all where nothing is given. */
export interface ChangeFilters {
  readonly board?: Board | undefined;
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
  /** Whether these are all changes from the one place to the other; else one is missing or not valid. */
  readonly isWhole: boolean;
}

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
  if (after === end) return { changes: [], next: end, more: false, isWhole: true };
  const { board, kind, cause } = filters;
  const terms = [
    ...(board === undefined ? [] : [{ terms: { board: [board.name, ...board.aliases] } }]),
    ...(kind === undefined ? [] : [{ term: { kind } }]),
    ...(cause === undefined ? [] : [{ term: { cause } }]),
  ];
  const feeds = unbrokenFeeds(state);
  const places = (last: number) => [visible(feeds), { range: { position: { gt: after, lte: last } } }];
  const { documents, count, firstBad, last } = await CHANGES.search(store, {
    query: { bool: { filter: [...places(end), ...terms] } },
    sort: [{ position: 'asc' }],
    size: limit + 1,
    track_total_hits: false,
  });
  const more = count > limit;
  const changes = documents.slice(0, limit);
  const next = more ? (changes.at(-1)?.position ?? Number(last?.[0])) : end;
  const expected = positionsBetween(feeds, after, next);
  const isWhole =
    terms.length === 0
      ? changes.length === expected
      : firstBad === undefined && (await countOf(store, places(next))) >= expected;
  return { changes: changes.map(withCurrentBoard), next, more, isWhole };
}

function countOf({ client, names }: Store, filter: object[]): Promise<number> {
  return countDocuments(client, names.changes, { bool: { filter } });
}

/** How many changes of an epoch are stored. */
export function countChanges(store: Store, { feed }: FeedState, epoch: number): Promise<number> {
  const placed = { range: { position: { gt: 0 } } };
  return countOf(store, [{ term: { feed } }, { term: { epoch } }, placed]);
}

/** How many changes of a license are listed. A license has a few in a year. */
const MAX_CHANGES_OF_LICENSE = 1000;

/** The changes of the licenses of a board with the same key, the newest first. */
export interface ChangesOfNumber {
  readonly changes: readonly StoredChange[];
  /** Whether an older one can't be read. */
  readonly isCutOff: boolean;
}

/** The changes of the licenses of a board whose number has this key. */
export async function changesOfNumber(
  store: Store,
  state: FeedState,
  { board, number }: { board: Board; number: string },
): Promise<ChangesOfNumber> {
  const feeds = feedsOf(state);
  if (feeds.every(({ segments }) => segments.length === 0)) return { changes: [], isCutOff: false };
  const { documents, firstBad } = await CHANGES.search(store, {
    query: { bool: { filter: [visible(feeds), { term: { number } }] } },
    sort: [{ position: 'desc' }],
    size: MAX_CHANGES_OF_LICENSE,
    track_total_hits: false,
  });
  const oldest = Number(firstBad?.[0] ?? 0);
  return {
    changes: documents
      .filter((change) => change.position > oldest && isOfBoard(change, board))
      .map(withCurrentBoard),
    isCutOff: firstBad !== undefined,
  };
}

/** Whether a change is of a license of the board, whatever the board was called then. */
function isOfBoard(change: StoredChange, board: Board): boolean {
  return change.license.startsWith(`${board.code}/`) || boardByLabel(change.board) === board;
}

/** A change with the name that the catalog has for its board now. */
function withCurrentBoard(change: StoredChange): StoredChange {
  return { ...change, board: currentBoardName(change.board) };
}

const CHANGES_A_PAGE = 1000;

/** All changes of these publications and rollbacks, the oldest first, in pages. */
export function changesIn(store: Store, feed: string, epochs: readonly number[]) {
  return changePages(store, [{ term: { feed } }, { terms: { epoch: [...epochs] } }]);
}

/** All changes that match, the oldest first, in pages. */
export async function* changePages(
  store: Store,
  filter: readonly object[],
): AsyncGenerator<readonly StoredChange[], void, undefined> {
  for (let after: Sort | undefined = [0]; after !== undefined; ) {
    const { documents, last } = await CHANGES.search(store, {
      query: { bool: { filter: [...filter, { exists: { field: 'position' } }] } },
      sort: [{ position: 'asc' }],
      size: CHANGES_A_PAGE,
      track_total_hits: false,
      search_after: after,
    });
    if (documents.length > 0) yield documents;
    after = last;
  }
}
