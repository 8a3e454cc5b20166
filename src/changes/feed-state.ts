import { hash } from 'node:crypto';
import { z } from 'zod';

/**
 * The feed of changes as a publication leaves it. It is part of the `_meta` of the publication's index, so the changes
 * become visible in the moment in which the publication goes live.
 */
export const feedState = z.object({
  /** The feed's id: a new one when a feed begins anew. Cursors of another feed are no longer valid. */
  feed: z.string(),
  /** The run date of the publication with which its oldest kept change was compared. */
  since: z.string(),
  /** The place before its oldest kept change. */
  start: z.int(),
  /** The publications and rollbacks since then: epoch, and number of changes. Changes of other epochs are not visible. */
  segments: z.array(z.tuple([z.int(), z.int()])),
});

export type FeedState = Readonly<z.output<typeof feedState>>;

/** More changes than two publications can have. */
const POSITIONS_OF_EPOCH = 2 ** 24;

/** The place of a change in its feed: those of a later epoch come later. @param ordinal from 1 */
export function positionOf(epoch: number, ordinal: number): number {
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

/** A feed that begins with a publication, without changes. */
export function newFeed({ publication, epoch, date }: FeedBeginning): FeedState {
  const feed = hash('sha256', `feed ${publication} ${epoch}`).slice(0, FEED_ID_CHARACTERS);
  return { feed, since: date, start: positionOf(epoch, 0), segments: [] };
}

/** The feed with the changes of one more epoch. */
export function extendedFeed(state: FeedState, epoch: number, changes: number): FeedState {
  return { ...state, segments: [...state.segments, [epoch, changes]] };
}

/** The place of the last visible change. */
export function lastPosition({ start, segments }: FeedState): number {
  const [epoch, changes] = segments.findLast(([, changes]) => changes > 0) ?? [];
  return epoch === undefined || changes === undefined ? start : positionOf(epoch, changes);
}

/** Whether a visible change has this place, or the feed begins after it. */
export function hasPosition({ start, segments }: FeedState, position: number): boolean {
  return (
    position === start ||
    segments.some(
      ([epoch, changes]) => position > positionOf(epoch, 0) && position <= positionOf(epoch, changes),
    )
  );
}

/** How many changes have a place after one and up to another: each epoch's are numbered from 1. */
export function positionsBetween({ segments }: FeedState, after: number, upTo: number): number {
  return segments.reduce((sum, [epoch, changes]) => {
    const [before, last] = [positionOf(epoch, 0), positionOf(epoch, changes)];
    return sum + Math.max(0, Math.min(last, upTo) - Math.max(before, after));
  }, 0);
}

/** The feed without the segments that are no longer kept. @param date the run date of the last of them */
export function trimmedFeed(state: FeedState, dropped: number, date: string): FeedState {
  const [epoch, changes] = state.segments[dropped - 1] ?? [];
  if (epoch === undefined || changes === undefined) return state;
  return {
    ...state,
    since: date,
    start: positionOf(epoch, changes),
    segments: state.segments.slice(dropped),
  };
}
