import { hash } from 'node:crypto';
import { z } from 'zod';

/** A publication or rollback, as the feed knows it. */
const segment = z.object({
  epoch: z.int(),
  /** How many changes it made. */
  changes: z.int(),
  /** The publication that it made live, and its run date, `YYYY-MM-DD`. */
  publication: z.string(),
  date: z.string(),
  /** ISO 8601. */
  at: z.string(),
  /** Whether a rollback has undone it. */
  withdrawn: z.literal(true).optional(),
});

export type Segment = Readonly<z.output<typeof segment>>;

const feed = z.object({
  /** The feed's id: a new one when a new feed starts. */
  feed: z.string(),
  /** What the first of its changes were compared with. Its own changes are not part of the feed. */
  base: segment,
  /** The publications and rollbacks since then. Changes of other epochs are not visible. */
  segments: z.array(segment),
  /** Whether changes are not known between the feed before and this one. */
  isAfterGap: z.boolean(),
});

/**
 * The feed of changes as a switch of the alias leaves it, with the feeds before it, the earliest first. The history of a
 * license has their changes, too.
 */
export const feedState = feed.extend({ earlier: z.array(feed) });

/** One feed: from its beginning to its end, no change is missing. */
export type Feed = Readonly<z.output<typeof feed>>;

export type FeedState = Readonly<z.output<typeof feedState>>;

/** The feeds that the history of a license is read from, the earliest first; the last is the current one. */
export function feedsOf({ earlier, ...current }: FeedState): readonly Feed[] {
  return [...earlier, current];
}

/** The feeds that a client can follow to the end without missing a change, the earliest first. */
export function unbrokenFeeds(state: FeedState): readonly Feed[] {
  const feeds = feedsOf(state);
  return feeds.slice(
    Math.max(
      0,
      feeds.findLastIndex(({ isAfterGap }) => isAfterGap),
    ),
  );
}

/** A time of which no changes are known: between the datasets of two dates, `YYYY-MM-DD`. */
export const historyGap = z.object({ after: z.string(), before: z.string() });

export type HistoryGap = Readonly<z.output<typeof historyGap>>;

/** Since the dataset of which date changes are known, and where some are not. */
export function coverageOf(state: FeedState): { since: string; gaps: readonly HistoryGap[] } {
  const feeds = feedsOf(state);
  const gaps = feeds.flatMap(({ isAfterGap, base }, at) => {
    const before = feeds[at - 1];
    if (!isAfterGap || before === undefined) return [];
    return [{ after: (before.segments.at(-1) ?? before.base).date, before: base.date }];
  });
  return { since: (feeds[0] ?? state).base.date, gaps };
}

const POSITIONS_OF_EPOCH = 2 ** 24;

/** How many changes a publication or rollback can have. */
export const MAX_CHANGES_OF_EPOCH = POSITIONS_OF_EPOCH - 1;

export class TooManyChangesError extends Error {
  constructor() {
    super(`More than ${MAX_CHANGES_OF_EPOCH} licenses changed at once, more than a feed has places for.`);
  }
}

/**
 * The place of a change in its feed: those of a later epoch come later.
 *
 * @param ordinal from 1
 * @throws {TooManyChangesError} when it would be a place of the next epoch
 */
export function positionOf(epoch: number, ordinal: number): number {
  if (ordinal > MAX_CHANGES_OF_EPOCH) throw new TooManyChangesError();
  return epoch * POSITIONS_OF_EPOCH + ordinal;
}

/** The place of the last change of a publication or rollback. */
function endOf({ epoch, changes }: Segment): number {
  return positionOf(epoch, changes);
}

/** A publication that begins a feed. */
export type FeedBeginning = Pick<Segment, 'publication' | 'epoch' | 'date'> & {
  readonly started_at?: string;
};

const FEED_ID_CHARACTERS = 12;

export function newFeed({ publication, epoch, date, started_at: at = '' }: FeedBeginning): FeedState {
  return {
    feed: hash('sha256', `feed ${publication} ${epoch}`).slice(0, FEED_ID_CHARACTERS),
    base: { epoch, changes: 0, publication, date, at },
    segments: [],
    isAfterGap: true,
    earlier: [],
  };
}

/** A feed that begins after another, whose changes stay in the history. @param isAfterGap whether some are not known */
export function nextFeed(before: FeedState, isAfterGap: boolean, beginning: FeedBeginning): FeedState {
  // A single feed without changes says nothing about the time before a gap.
  const hasHistory = before.earlier.length > 0 || !isAfterGap || before.segments.length > 0;
  return { ...newFeed(beginning), ...(hasHistory && { isAfterGap, earlier: [...feedsOf(before)] }) };
}

/**
 * The feed after a rollback, which undoes what came after the publication that it goes back to, other rollbacks too.
 *
 * @param then the feed as that publication left it: what was withdrawn by then stays so, and nothing else
 * @returns `undefined` where the feed does not know that publication, so that what came after it is not known
 */
export function rolledBackFeed(
  state: FeedState,
  then: FeedState | undefined,
  to: FeedBeginning,
): FeedState | undefined {
  const { base, segments } = state;
  const last = [base, ...segments].findLastIndex(
    ({ epoch, publication }) => publication === to.publication || epoch === to.epoch,
  );
  if (last < 0) return undefined;
  const before = then?.feed === state.feed ? then.segments : [];
  const withdrawn = new Set(before.flatMap((each) => (each.withdrawn ? [each.epoch] : [])));
  return {
    ...state,
    segments: segments.map(({ withdrawn: _, ...each }, at) =>
      at >= last || withdrawn.has(each.epoch) ? { ...each, withdrawn: true } : each,
    ),
  };
}

/** Whether a rollback has undone a change of one of these feeds. */
export function isWithdrawn(state: FeedState, change: { feed: string; epoch: number }): boolean {
  return feedsOf(state).some(
    ({ feed, segments }) =>
      feed === change.feed && segments.some(({ epoch, withdrawn }) => withdrawn && epoch === change.epoch),
  );
}

/** The feeds without the publications and rollbacks before a time. @param earliest ISO 8601 */
export function keptFeed(state: FeedState, earliest: string): FeedState {
  const earlier = state.earlier.map((each) => trimmed(each, earliest));
  const first = earlier.findIndex(({ base, segments }) => segments.length > 0 || base.at >= earliest);
  return { ...trimmed(state, earliest), earlier: first < 0 ? [] : earlier.slice(first) };
}

function trimmed<Trimmed extends Feed>(feed: Trimmed, earliest: string): Trimmed {
  const last = feed.segments.findLastIndex(({ at }) => at < earliest);
  return { ...feed, base: feed.segments[last] ?? feed.base, segments: feed.segments.slice(last + 1) };
}

/** The place of the last visible change. */
export function lastPosition({ base, segments }: Feed): number {
  return endOf(segments.findLast(({ changes }) => changes > 0) ?? base);
}

/** Whether a visible change has this place, or the feed begins after it. */
export function hasPosition(feed: Feed, position: number): boolean {
  return position === endOf(feed.base) || positionsBetween([feed], position - 1, position) > 0;
}

/** How many changes of feeds have a place after one and up to another: each epoch's are numbered from 1. */
export function positionsBetween(feeds: readonly Feed[], after: number, upTo: number): number {
  return feeds
    .flatMap(({ segments }) => segments)
    .reduce((sum, each) => {
      const begins = positionOf(each.epoch, 0);
      return sum + Math.max(0, Math.min(endOf(each), upTo) - Math.max(begins, after));
    }, 0);
}

/** A place in the feed of an id; greater for later changes. */
interface FeedPosition {
  readonly feed: string;
  readonly position: number;
}

/** The text that stands for a place in a feed. Clients do not look into it. */
export function cursorText({ feed, position }: FeedPosition): string {
  const text = `${feed}.${position.toString(36)}`;
  return `${text}.${checkOf(text)}`;
}

/** The cursor of the latest place of a feed: after it, nothing has changed yet. */
export function latestCursor(state: FeedState): string {
  return cursorText({ feed: state.feed, position: lastPosition(state) });
}

const CURSOR = /^(([0-9a-z]{1,40})\.([0-9a-z]{1,11}))\.([0-9a-f]{8})$/;

/** The place that a cursor stands for; `undefined` for a text that is no cursor, or was altered. */
export function readCursor(cursor: string): FeedPosition | undefined {
  const [, text = '', feed = '', position = '', check] = CURSOR.exec(cursor) ?? [];
  return check === undefined || check !== checkOf(text)
    ? undefined
    : { feed, position: Number.parseInt(position, 36) };
}

/** Against typing errors and invented cursors. Cursors are no secret. */
function checkOf(text: string): string {
  return hash('sha256', `cursor ${text}`).slice(0, 8);
}

/** A publication or rollback, and the cursor after all of its changes. */
export type FeedSegment = Segment & { readonly feed: string; readonly cursor: string };

/** The publications and rollbacks after a cursor, the earliest first; `undefined` where it is no place of the feed any more. */
export function segmentsAfter(state: FeedState, cursor: string): readonly FeedSegment[] | undefined {
  const place = readCursor(cursor);
  const feeds = unbrokenFeeds(state);
  const from = feeds.findIndex((each) => each.feed === place?.feed && hasPosition(each, place.position));
  if (place === undefined || from < 0) return undefined;
  return feeds
    .slice(from)
    .flatMap(({ feed, segments }) =>
      segments
        .filter((each) => each.changes > 0 && endOf(each) > place.position)
        .map((each) => ({ ...each, feed, cursor: cursorText({ feed, position: endOf(each) }) })),
    );
}
