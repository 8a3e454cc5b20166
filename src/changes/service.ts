import { BadRequestError } from '../licenses/bad-request.ts';
import type { Board } from '../licenses/boards.ts';
import { numberKey } from '../licenses/number.ts';
import { SearchUnavailableError } from '../storage/errors.ts';
import type { Store } from '../storage/store.ts';
import type { HistoryChange, StoredChange } from './change.ts';
import { cursorText, readCursor } from './cursor.ts';
import {
  coverageOf,
  type FeedState,
  type HistoryGap,
  hasPosition,
  lastPosition,
  unbrokenFeeds,
} from './feed-state.ts';
import { type ChangeFilters, changesAfter, changesOfNumber } from './read-changes.ts';
import { readWithdrawnEpochs } from './withdrawn.ts';

/** The feed of the live publication. */
export interface LiveFeed {
  /** The live publication's physical index. */
  readonly index: string;
  /** Its run date, `YYYY-MM-DD`. */
  readonly date: string;
  readonly state: FeedState;
}

/** The changes after a cursor are no longer kept, or belong to a feed that has ended. */
export class CursorExpiredError extends Error {}

/** A change in the feed, and the cursor of its place. */
export interface FeedChange {
  readonly cursor: string;
  readonly change: StoredChange;
}

/** Some changes of the feed, the oldest first. */
export interface FeedPage {
  readonly changes: readonly FeedChange[];
  /** The cursor with which to go on. */
  readonly next: string;
  /** Whether there are more changes already. */
  readonly more: boolean;
}

/** What a page of the feed begins after: a cursor, everything kept, or now. */
export type Since = { readonly cursor: string } | 'oldest' | 'latest';

export interface FeedRequest {
  readonly since: Since;
  /** At most 1,000. */
  readonly limit: number;
  readonly filters: ChangeFilters;
}

/** Reads what changed. */
export interface Changes {
  /**
   * @throws {BadRequestError} for a cursor that was never given out
   * @throws {CursorExpiredError} for a cursor whose changes are no longer kept, or not all of them can be read
   * @throws {SearchUnavailableError} when OpenSearch does not answer
   */
  page(request: FeedRequest): Promise<FeedPage>;
  /**
   * The changes of the licenses of a board with this number, the newest first, the date since which they are known,
   * and the times of which they are not. They belong to the same publication as what `work` returns.
   *
   * @param number as typed
   */
  history<Result>(
    asked: { board: Board; number: string },
    work: () => Promise<Result>,
  ): Promise<History<Result>>;
}

interface History<Result> {
  readonly changes: readonly HistoryChange[];
  readonly since: string;
  readonly gaps: readonly HistoryGap[];
  readonly result: Result;
}

const MAX_TRIES = 5;

const NONE: ReadonlySet<number> = new Set();

/**
 * @param live asks OpenSearch which publication is live; it must not answer from what it knew before the call
 */
export function changesService(store: Store, live: () => Promise<LiveFeed>): Changes {
  /** Reads from one publication: when another goes live meanwhile, everything is read again. */
  async function fromOne<Result>(read: (live: LiveFeed) => Promise<Result>): Promise<Result> {
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      const before = await live();
      const result = await read(before);
      if (isSame(before, await live())) return result;
    }
    throw new SearchUnavailableError('Publications went live faster than changes could be read.');
  }

  let known: { readonly live: LiveFeed; readonly epochs: Promise<ReadonlySet<number>> } | undefined;

  /** The epochs that rollbacks have undone. They are read once for each live publication. */
  function withdrawnOf(live: LiveFeed): Promise<ReadonlySet<number>> {
    if (known !== undefined && isSame(known.live, live)) return known.epochs;
    const epochs = readWithdrawnEpochs(store, live.state);
    known = { live, epochs };
    epochs.catch(() => {
      if (known?.epochs === epochs) known = undefined;
    });
    return epochs;
  }

  return {
    page: ({ since, limit, filters }) =>
      fromOne(async ({ state }) => {
        let page = await changesAfter(store, state, { after: placeOf(since, state), limit, filters });
        while (!page.isWhole) {
          // A client that has a copy must begin anew; who has none begins after what can't be read.
          if (since !== 'oldest') throw new CursorExpiredError(EXPIRED_CURSOR);
          page = await changesAfter(store, state, { after: page.next, limit, filters });
        }
        const { changes, next, more } = page;
        const feed = more ? (changes.at(-1)?.feed ?? state.feed) : state.feed;
        return {
          changes: changes.map((change) => ({ cursor: cursorText(change), change })),
          next: cursorText({ feed, position: next }),
          more,
        };
      }),
    history: ({ board, number }, work) =>
      fromOne(async (live) => {
        const { state, date } = live;
        const [{ changes: found, isCutOff }, result] = await Promise.all([
          changesOfNumber(store, state, { board, number: numberKey(number) }),
          work(),
        ]);
        const withdrawn = found.length === 0 ? NONE : await withdrawnOf(live);
        const changes = found.map((change) =>
          withdrawn.has(change.epoch) ? { ...change, withdrawn: true as const } : change,
        );
        const coverage = coverageOf(state);
        if (!isCutOff) return { changes, ...coverage, result };
        // Before the change that can't be read, nothing is certain.
        const since = changes.at(-1)?.date ?? date;
        const gaps = coverage.gaps.filter(({ before }) => before > since);
        return { changes, since, gaps, result };
      }),
  };
}

function isSame(one: LiveFeed, other: LiveFeed): boolean {
  return (
    one.index === other.index &&
    one.state.feed === other.state.feed &&
    one.state.start === other.state.start &&
    one.state.segments.length === other.state.segments.length
  );
}

function placeOf(since: Since, state: FeedState): number {
  const feeds = unbrokenFeeds(state);
  if (since === 'oldest') return feeds[0]?.start ?? state.start;
  if (since === 'latest') return lastPosition(state);
  const place = readCursor(since.cursor);
  if (place === undefined) throw new BadRequestError(UNKNOWN_CURSOR);
  // A place that its feed does not have was given out, too: after the backup from which the feed was restored.
  const feed = feeds.find((each) => each.feed === place.feed);
  if (feed === undefined || !hasPosition(feed, place.position)) throw new CursorExpiredError(EXPIRED_CURSOR);
  return place.position;
}

/** The detail of a cursor that was never given out. */
export const UNKNOWN_CURSOR =
  'since is not a cursor of this feed. Send a cursor from an earlier response, "latest", or nothing.';

/** The detail of a cursor whose changes are gone. */
export const EXPIRED_CURSOR =
  'The changes after this cursor are no longer kept. Take since=latest, then verify all of your licenses once more, ' +
  'and go on from the cursor in next.';
