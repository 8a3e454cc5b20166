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
 * Returns which of the given licenses an account watches, by document id, with the account's reference for each; null
 * if the account gave none.
 */
export type WatchedAmong = (
  store: Store,
  licenses: readonly string[],
  account: string,
) => Promise<ReadonlyMap<string, readonly { readonly reference: string | null }[]>>;

/**
 * The number of changes that are read for one page. It limits the time a page takes, however many licenses an account
 * watches.
 */
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
  /** Where the page begins: after a cursor, `latest` for now, or blank for the oldest change that is kept. */
  readonly since: string;
  readonly limit: number;
  /** With these filters, a page may have fewer changes than `limit`, or none, although more changes follow. */
  readonly board?: Board | undefined;
  readonly kind?: ChangeKind | undefined;
  readonly cause?: ChangeCause | undefined;
  /** An account id; only changes of licenses that this account watches are returned. */
  readonly watchedBy?: string | undefined;
}

export type Changes = ReturnType<typeof changesService>;

/**
 * The changes of a board's licenses with one number, newest first; the id of the publication that was live; the run
 * date since which changes are known (`YYYY-MM-DD`); and the gaps after it.
 */
export type NumberChanges = Awaited<ReturnType<Changes['ofNumber']>>;

const MAX_TRIES = 5;

/**
 * Retries a read if another publication went live in the meantime.
 *
 * @param read returns `undefined` if it may have read from two publications
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

/**
 * The maximum number of changes listed for a number at a board. A license has a few changes a year, and few numbers are
 * shared.
 */
const MAX_CHANGES_OF_LICENSE = 1000;

/**
 * @param live asks OpenSearch which publication is live; it must not return a value that was read before the call
 * @param watchedAmong asks OpenSearch which licenses an account watches
 */
export function changesService(store: Store, live: () => Promise<LiveFeed>, watchedAmong: WatchedAmong) {
  /**
   * Returns the requested visible changes after a position. `isWhole` is false if a change is missing or not valid. Of
   * changes that do not match the request, only the fields needed to decide that are read.
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
     * Returns a page of changes, the oldest first, the next cursor, and whether more changes follow already.
     *
     * @throws {BadRequestError} for a cursor that was never given out
     * @throws {CursorExpiredError} for a cursor after which changes are no longer kept or cannot all be read
     * @throws {SearchUnavailableError} when OpenSearch does not answer
     */
    async page(request: FeedRequest) {
      const state = unbroken((await live()).state);
      let page = await changesAfter(state, placeOf(request.since, state), request);
      while (!page.isWhole) {
        // A client with a copy must start over. A client without one can begin after the unreadable changes.
        if (request.since !== '') throw new CursorExpiredError(EXPIRED_CURSOR);
        page = await changesAfter(state, page.next, request);
      }
      const { changes, next: position, more } = page;
      const { feed } = lastOf(state.filter((each) => hasPosition(each, position)));
      return { changes, next: cursorText({ feed, position }), more };
    },
    /**
     * Returns the changes of a board's licenses with one number.
     *
     * @param typed the number as typed
     * @throws {SearchUnavailableError} when OpenSearch does not answer
     */
    ofNumber: (board: Board, typed: string) =>
      readFromOne(async () => {
        const before = await live();
        const { publication, date, state } = before;
        const coverage = coverageOf(state);
        // A board's name may change, but its code does not.
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
        // Nothing is known for certain before the oldest listed change.
        const since = isCut ? (changes.at(-1)?.date ?? date) : coverage.since;
        const gaps = isCut ? coverage.gaps.filter((gap) => gap.before > since) : coverage.gaps;
        // If another publication went live, pruning may have deleted some of the changes that were read.
        return isSameFeed(before, await live()) ? { publication, changes, since, gaps } : undefined;
      }),
  };
}

/** Whether there was no publication and no rollback in between. */
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

/** More than the licenses that one request's numbers can have, since few numbers belong to several licenses. */
const MAX_LAST_CHANGES = 2000;

/**
 * Returns the last change of each license with one of these numbers, grouped by number, newest first.
 *
 * @param numbers number keys, as `numberKey` returns them
 * @throws {SearchUnavailableError} when OpenSearch does not answer, or not every last change can be read
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

/** Returns a change with the current name of its board. */
function withCurrentBoard<Change extends StoredChange>(change: Change): Change {
  return { ...change, board: currentBoardName(change.board) };
}

/** The error detail for a cursor that was never given out. */
export const UNKNOWN_CURSOR =
  'since is not a cursor of this feed. Send a cursor from an earlier response, "latest", or nothing.';

/** The error detail for a cursor whose changes are no longer kept. */
const EXPIRED_CURSOR =
  'The changes after this cursor are no longer kept, or the feed has begun again. Send since=latest, verify all your licenses ' +
  'again, and continue from the cursor in next.';
