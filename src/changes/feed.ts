import { hash } from 'node:crypto';
import { z } from 'zod';

const feed = z.object({
  /** The feed's id: a new one when a new feed starts. */
  feed: z.string(),
  /** The run date of the publication with which its oldest kept change was compared. */
  since: z.string(),
  /** The place before its oldest kept change. */
  start: z.int(),
  /** The publications and rollbacks since then: epoch, and number of changes. Changes of other epochs are not visible. */
  segments: z.array(z.tuple([z.int(), z.int()])),
  /** The epochs whose changes a rollback has undone. */
  withdrawn: z.array(z.int()).optional(),
});

const endedFeed = feed.extend({
  /** The run date after which changes are not known, up to the date of the next feed; absent where none are missing. */
  until: z.string().optional(),
});

/**
 * The feed of changes as a publication leaves it. It is part of the `_meta` of the publication's index, so the changes
 * become visible in the moment in which the publication goes live.
 */
export const feedState = feed.extend({
  /** The feeds before this one, the earliest first. The history of a license has their changes, too. */
  earlier: z.array(endedFeed).optional(),
});

/** One feed: from its beginning to its end, no change is missing. */
export type Feed = Readonly<z.output<typeof endedFeed>>;

export type FeedState = Readonly<z.output<typeof feedState>>;

/** The feeds that the history of a license is read from, the earliest first; the last is the current one. */
export function feedsOf({ earlier = [], ...current }: FeedState): readonly Feed[] {
  return [...earlier, current];
}

/** The feeds that a client can follow to the end without missing a change, the earliest first. */
export function unbrokenFeeds(state: FeedState): readonly Feed[] {
  const feeds = feedsOf(state);
  return feeds.slice(feeds.findLastIndex(({ until }) => until !== undefined) + 1);
}

/** A time of which no changes are known: between the datasets of two dates, `YYYY-MM-DD`. */
export const historyGap = z.object({ after: z.string(), before: z.string() });

export type HistoryGap = Readonly<z.output<typeof historyGap>>;

/** Since the dataset of which date changes are known, and where some are not. */
export function coverageOf(state: FeedState): { since: string; gaps: readonly HistoryGap[] } {
  const feeds = feedsOf(state);
  const gaps = feeds.flatMap(({ until: after }, at) => {
    const before = feeds[at + 1]?.since;
    return after === undefined || before === undefined ? [] : [{ after, before }];
  });
  return { since: feeds[0]?.since ?? state.since, gaps };
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

/** A publication that begins a feed. */
export interface FeedBeginning {
  readonly publication: string;
  readonly epoch: number;
  /** Its run date, `YYYY-MM-DD`. */
  readonly date: string;
}

const FEED_ID_CHARACTERS = 12;

export function newFeed({ publication, epoch, date }: FeedBeginning): FeedState {
  const feed = hash('sha256', `feed ${publication} ${epoch}`).slice(0, FEED_ID_CHARACTERS);
  return { feed, since: date, start: positionOf(epoch, 0), segments: [] };
}

/**
 * A feed that begins after others, whose changes stay in the history.
 *
 * @param until the run date after which changes are not known; `undefined` when none are missing
 */
export function nextFeed(
  before: readonly Feed[],
  until: string | undefined,
  beginning: FeedBeginning,
): FeedState {
  const last = before.at(-1);
  // A single feed without changes says nothing about the time before a gap.
  const hasHistory = before.length > 1 || until === undefined || (last?.segments.length ?? 0) > 0;
  if (last === undefined || !hasHistory) return newFeed(beginning);
  return {
    ...newFeed(beginning),
    earlier: [...before.slice(0, -1), until === undefined ? last : { ...last, until }],
  };
}

/**
 * The feed after a rollback, which undoes what came after the publication that it goes back to, other rollbacks too.
 *
 * @param then the feed as that publication left it: what was withdrawn by then stays so
 * @param since the epochs since it was live the last time
 */
export function rolledBackFeed(
  state: FeedState,
  then: FeedState | undefined,
  since: readonly number[],
): FeedState {
  const before = then?.feed === state.feed ? (then.withdrawn ?? []) : [];
  return { ...state, withdrawn: [...new Set([...before, ...since])] };
}

/** Whether a rollback has undone a change of one of these feeds. */
export function isWithdrawn(state: FeedState, { feed, epoch }: { feed: string; epoch: number }): boolean {
  return feedsOf(state).some((each) => each.feed === feed && each.withdrawn?.includes(epoch));
}

export function extendedFeed(state: FeedState, epoch: number, changes: number): FeedState {
  return { ...state, segments: [...state.segments, [epoch, changes]] };
}

/** The place of the last visible change. */
export function lastPosition({ start, segments }: Feed): number {
  const [epoch, changes] = segments.findLast(([, changes]) => changes > 0) ?? [];
  return epoch === undefined || changes === undefined ? start : positionOf(epoch, changes);
}

/** Whether a visible change has this place, or the feed begins after it. */
export function hasPosition(feed: Feed, position: number): boolean {
  return position === feed.start || positionsBetween([feed], position - 1, position) > 0;
}

/** How many changes of feeds have a place after one and up to another: each epoch's are numbered from 1. */
export function positionsBetween(feeds: readonly Feed[], after: number, upTo: number): number {
  return feeds
    .flatMap(({ segments }) => segments)
    .reduce((sum, [epoch, changes]) => {
      const [before, last] = [positionOf(epoch, 0), positionOf(epoch, changes)];
      return sum + Math.max(0, Math.min(last, upTo) - Math.max(before, after));
    }, 0);
}

/** The feed without the segments that are no longer kept. @param date the run date of the last of them */
export function trimmedFeed<Trimmed extends Feed>(state: Trimmed, dropped: number, date: string): Trimmed {
  const [epoch, changes] = state.segments[dropped - 1] ?? [];
  if (epoch === undefined || changes === undefined) return state;
  return {
    ...state,
    since: date,
    start: positionOf(epoch, changes),
    segments: state.segments.slice(dropped),
  };
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

/** The place that a cursor stands for; `undefined` for a text that is no cursor, or was altered. */
export function readCursor(cursor: string): FeedPosition | undefined {
  const [, text = '', feed = '', position = '', check] = CURSOR.exec(cursor) ?? [];
  return check === undefined || check !== checkOf(text)
    ? undefined
    : { feed, position: Number.parseInt(position, 36) };
}

/** One publication or rollback of a feed: its epoch, and how many changes it made. */
export interface FeedSegment {
  readonly feed: string;
  readonly epoch: number;
  readonly changes: number;
}

/** The publications and rollbacks after a cursor, the earliest first; `undefined` where it is no place of the feed any more. */
export function segmentsAfter(state: FeedState, cursor: string): readonly FeedSegment[] | undefined {
  const place = readCursor(cursor);
  const feeds = unbrokenFeeds(state);
  const from = feeds.findIndex((each) => each.feed === place?.feed && hasPosition(each, place.position));
  if (place === undefined || from < 0) return undefined;
  return feeds
    .slice(from)
    .flatMap(({ feed, segments }) => segments.map(([epoch, changes]) => ({ feed, epoch, changes })))
    .filter(({ epoch, changes }) => changes > 0 && positionOf(epoch, changes) > place.position);
}

/** The cursor after all changes of a publication or rollback. */
export function endOf({ feed, epoch, changes }: FeedSegment): string {
  return cursorText({ feed, position: positionOf(epoch, changes) });
}

const CURSOR = /^(([0-9a-z]{1,40})\.([0-9a-z]{1,11}))\.([0-9a-f]{8})$/;

/** Against typing errors and invented cursors. Cursors are no secret. */
function checkOf(text: string): string {
  return hash('sha256', `cursor ${text}`).slice(0, 8);
}
