import { type Board, currentBoardName } from '../licenses/boards.ts';
import { numberKey } from '../licenses/fold.ts';
import { BadRequestError } from '../licenses/lookup.ts';
import { SearchUnavailableError } from '../storage/errors.ts';
import type { Store } from '../storage/store.ts';
import type { ChangeCause, ChangeKind, HistoryChange, StoredChange } from './change.ts';
import {
  changesAfterCursor,
  coverageOf,
  cursorText,
  endOf,
  type FeedState,
  hasPosition,
  isWithdrawn,
  lastOf,
  lastPosition,
  positionsBetween,
  readCursor,
  unbroken,
} from './feed.ts';
import { CHANGE_HEADS, CHANGES, licensesOf, nextChanges, visible } from './stored-changes.ts';

/**
 * Tells which of some licenses an account watches, by their document ids, and what it calls each: the reference is null
 * where the account gave none.
 */
export type WatchedAmong = (
  store: Store,
  licenses: readonly string[],
  account: string,
) => Promise<ReadonlyMap<string, readonly { readonly reference: string | null }[]>>;

/** How many changes are looked through for a page. It bounds the time that a page takes, whatever an account watches. */
export const CHANGES_LOOKED_THROUGH = 2500;

/** The live publication's physical index, id, run date (`YYYY-MM-DD`), and feed. */
export interface LiveFeed {
  readonly index: string;
  readonly publication: string;
  readonly date: string;
  readonly state: FeedState;
}

/** The changes after a cursor are no longer kept, or belong to a feed that has ended. */
export class CursorExpiredError extends Error {}

interface FeedRequest {
  /** What the page begins after: a cursor, `latest` for now, or nothing for the oldest change kept. */
  readonly since: string;
  readonly limit: number;
  /** With these, a page may have fewer changes than `limit`, even none, while there are more. */
  readonly board?: Board | undefined;
  readonly kind?: ChangeKind | undefined;
  readonly cause?: ChangeCause | undefined;
  /** The id of an account: only changes of what it watches. */
  readonly watchedBy?: string | undefined;
}

export type Changes = ReturnType<typeof changesService>;

/**
 * The changes of the licenses of a board with one number, the newest first; the id of the publication that was live;
 * since the dataset of which date changes are known, `YYYY-MM-DD`, and the times of which they are not.
 */
export type NumberChanges = Awaited<ReturnType<Changes['ofNumber']>>;

const MAX_TRIES = 5;

/**
 * Reads again where another publication went live meanwhile.
 *
 * @param read gives `undefined` where it may have read from two publications
 * @throws {SearchUnavailableError} after five tries
 */
export async function readFromOne<Result>(read: () => Promise<Result | undefined>): Promise<Result> {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const result = await read();
    if (result !== undefined) return result;
  }
  throw new SearchUnavailableError('Publications went live faster than one could be read.');
}

const NEWEST_FIRST = [{ position: 'desc' as const }];

/** How many changes of a number at a board are listed. A license has a few in a year; a few numbers are shared. */
const MAX_CHANGES_OF_LICENSE = 1000;

/**
 * @param live asks OpenSearch which publication is live; it must not answer from what it knew before the call
 * @param watchedAmong asks OpenSearch what an account watches
 */
export function changesService(store: Store, live: () => Promise<LiveFeed>, watchedAmong: WatchedAmong) {
  /**
   * The visible changes after a place in the feed that are asked for, and whether these are all: else one is missing or
   * not valid. Of changes that are not asked for, only what says so is read.
   */
  async function changesAfter(state: FeedState, after: number, request: FeedRequest) {
    const { limit, board, kind, cause, watchedBy } = request;
    const end = lastPosition(state).position;
    if (after === end) return { changes: [], next: end, more: false, isWhole: true };
    const isEveryAsked = [board, kind, cause, watchedBy].every((filter) => filter === undefined);
    const size = isEveryAsked ? limit : CHANGES_LOOKED_THROUGH;
    const isAhead = [visible(state), { range: { position: { gt: after } } }];
    const { documents: ahead, count, last } = await CHANGE_HEADS.search(store, nextChanges(isAhead, size));
    const licenses = [...new Set(ahead.flatMap(licensesOf))];
    const watched = watchedBy === undefined ? undefined : await watchedAmong(store, licenses, watchedBy);
    // A subscription follows its license to another number at any moment, so either number counts.
    const watchedOf = (change: Parameters<typeof licensesOf>[0]) =>
      licensesOf(change).flatMap((license) => watched?.get(license) ?? []);
    const asked = ahead.filter(
      (each) =>
        (board === undefined || currentBoardName(each.board) === board.name) &&
        (kind === undefined || each.kind === kind) &&
        (cause === undefined || each.cause === cause) &&
        (watched === undefined || watchedOf(each).length > 0),
    );
    const listed = asked.slice(0, limit);
    const lastLookedAt = count < size ? end : Number(last?.[0]);
    const next = asked.length < limit ? lastLookedAt : lastOf(listed).position;
    const ids = listed.map(({ position }) => String(position));
    const changes = (await CHANGES.readAll(store, ids)).map((change) => ({
      ...withCurrentBoard(change),
      reference: watched && (watchedOf(change).at(-1)?.reference ?? null),
    }));
    const known = ahead.filter(({ position }) => position <= next).length;
    const isWhole = changes.length === listed.length && known === positionsBetween(state, after, next);
    return { changes, next, more: next < end, isWhole };
  }

  return {
    /**
     * Some changes of the feed, the oldest first, the cursor with which to go on, and whether there are more already.
     *
     * @throws {BadRequestError} for a cursor that was never given out
     * @throws {CursorExpiredError} for a cursor whose changes are no longer kept, or not all of them can be read
     * @throws {SearchUnavailableError} when OpenSearch does not answer
     */
    async page(request: FeedRequest) {
      const state = unbroken((await live()).state);
      let page = await changesAfter(state, placeOf(request.since, state), request);
      while (!page.isWhole) {
        // A client that has a copy must start over; who has none begins after what can't be read.
        if (request.since !== '') throw new CursorExpiredError(EXPIRED_CURSOR);
        page = await changesAfter(state, page.next, request);
      }
      const { changes, next: position, more } = page;
      const { feed } = lastOf(state.filter((each) => hasPosition(each, position)));
      return { changes, next: cursorText({ feed, position }), more };
    },
    /**
     * The changes of the licenses of a board with one number.
     *
     * @param typed the number as typed
     * @throws {SearchUnavailableError} when OpenSearch does not answer
     */
    ofNumber: (board: Board, typed: string) =>
      readFromOne(async () => {
        const before = await live();
        const { publication, date, state } = before;
        const coverage = coverageOf(state);
        // Whatever the board was called then, its code stays.
        const ofBoard = { prefix: { license: `${board.code}/` } };
        const filter = [visible(state), { term: { number: numberKey(typed) } }, ofBoard];
        const latest = { query: { bool: { filter } }, sort: NEWEST_FIRST, size: MAX_CHANGES_OF_LICENSE };
        const { documents, count, firstBad } = await CHANGES.search(store, latest);
        const oldest = Number(firstBad?.[0] ?? 0);
        const changes = documents
          .filter(({ position }) => position > oldest)
          .map(
            (change): HistoryChange => ({
              ...withCurrentBoard(change),
              ...(isWithdrawn(state, change) && { withdrawn: true }),
            }),
          );
        const isCut = firstBad !== undefined || count === MAX_CHANGES_OF_LICENSE;
        // Before the oldest that is listed, nothing is certain.
        const since = isCut ? (changes.at(-1)?.date ?? date) : coverage.since;
        const gaps = isCut ? coverage.gaps.filter((gap) => gap.before > since) : coverage.gaps;
        // Once another publication is live, pruning may have deleted some of what was read.
        return isSameFeed(before, await live()) ? { publication, changes, since, gaps } : undefined;
      }),
  };
}

/** Whether nothing was published and nothing rolled back in between. */
export function isSameFeed(before: LiveFeed, now: LiveFeed): boolean {
  const [last, latest] = [lastOf(before.state), lastOf(now.state)];
  return last.feed === latest.feed && last.epoch === latest.epoch;
}

function placeOf(since: string, state: FeedState): number {
  const [beginning = lastOf(state)] = state;
  if (since === '') return endOf(beginning);
  if (since === 'latest') return lastPosition(state).position;
  const place = readCursor(since);
  if (place === undefined) throw new BadRequestError(UNKNOWN_CURSOR);
  if (changesAfterCursor(state, since) === undefined) throw new CursorExpiredError(EXPIRED_CURSOR);
  return place.position;
}

/** More licenses than numbers that are asked at once have: few numbers are of several. */
const MAX_LAST_CHANGES = 2000;

/**
 * The last change of each license with one of these numbers, by the number, the newest first.
 *
 * @param numbers as `numberKey` has them
 * @throws {SearchUnavailableError} when OpenSearch does not answer, or not all of them can be read
 */
export async function lastChangesOfNumbers(store: Store, state: FeedState, numbers: readonly string[]) {
  const query = { bool: { filter: [visible(state), { terms: { number: [...numbers] } }] } };
  const lastOfEach = { query, sort: NEWEST_FIRST, size: MAX_LAST_CHANGES, collapse: { field: 'license' } };
  const { documents, count, firstBad } = await CHANGES.search(store, lastOfEach);
  if (firstBad !== undefined || count === MAX_LAST_CHANGES) {
    throw new SearchUnavailableError('Not every last change could be read.');
  }
  return Map.groupBy(documents, ({ number }) => number);
}

/** A change with the name that the catalog has for its board now. */
function withCurrentBoard<Change extends StoredChange>(change: Change): Change {
  return { ...change, board: currentBoardName(change.board) };
}

/** The detail of a cursor that was never given out. */
export const UNKNOWN_CURSOR =
  'since is not a cursor of this feed. Send a cursor from an earlier response, "latest", or nothing.';

/** The detail of a cursor whose changes are gone. */
const EXPIRED_CURSOR =
  'The changes after this cursor are no longer kept, or the feed has begun again. Take since=latest, then verify all of your licenses once more, ' +
  'and go on from the cursor in next.';
