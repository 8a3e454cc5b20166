import { hash } from 'node:crypto';
import { z } from 'zod';

/** An entry of the feed: a publication, a rollback, or the beginning of a feed. */
const entry = z.object({
  /** The id of the feed. A new feed gets a new id. */
  feed: z.string(),
  epoch: z.int(),
  /** The number of changes that the publication or rollback made. */
  changes: z.int(),
  /** The publication that went live, and its run date, `YYYY-MM-DD`. */
  publication: z.string(),
  date: z.string(),
  /** ISO 8601. */
  at: z.string(),
  /**
   * Set on the beginning of a feed, the publication with which the feed's first changes are compared. Changes that this
   * publication made are not part of the feed. After a gap, the changes between the previous feed and this one are
   * unknown.
   */
  begins: z.enum(['after_gap', 'without_gap']).optional(),
  /** True if a rollback has undone this entry. */
  withdrawn: z.literal(true).optional(),
});

export type FeedEntry = Readonly<z.output<typeof entry>>;

/**
 * The current feed and all feeds before it, the earliest entry first, as of the last switch of the alias. The first
 * entry is the beginning of a feed. Changes with an epoch that is not listed here are not visible. A license's history
 * has the changes of all these feeds.
 */
export const feedState = z.array(entry).min(1).readonly();

export type FeedState = z.output<typeof feedState>;

/** Returns the last item. @throws {RangeError} when the list is empty */
export function lastOf<Item>(list: readonly Item[]): Item {
  const last = list.at(-1);
  if (last === undefined) throw new RangeError('A feed has a beginning.');
  return last;
}

/** The publications and rollbacks whose changes are visible. */
export function switchesOf(state: FeedState): FeedState {
  return state.filter(({ begins }) => begins === undefined);
}

/** Returns the entries since the last gap: a client can follow these without missing a change. */
export function unbroken(state: FeedState): FeedState {
  const gap = state.findLastIndex(({ begins }) => begins === 'after_gap');
  return state.slice(Math.max(0, gap));
}

/** A period without known changes, between the run dates of two datasets, `YYYY-MM-DD`. */
export const historyGap = z.object({ after: z.string(), before: z.string() });

export type HistoryGap = Readonly<z.output<typeof historyGap>>;

/** Returns the run date since which changes are known, and the gaps after it. */
export function coverageOf(state: FeedState): { since: string; gaps: readonly HistoryGap[] } {
  const gaps = state.flatMap(({ begins, date: before }, at) => {
    const last = state[at - 1];
    return begins === 'after_gap' && last !== undefined ? [{ after: last.date, before }] : [];
  });
  return { since: state[0]?.date ?? '', gaps };
}

const POSITIONS_OF_EPOCH = 2 ** 24;

/**
 * Returns the position of a change in its feed. Changes of a later epoch have a greater position.
 *
 * @param ordinal from 1; an epoch has six times as many positions as the State has licenses
 */
export function positionOf(epoch: number, ordinal: number): number {
  return epoch * POSITIONS_OF_EPOCH + ordinal;
}

/** Returns the position of the last change of a publication or rollback. */
export function endOf({ epoch, changes }: FeedEntry): number {
  return positionOf(epoch, changes);
}

/** The publication with which a feed begins. */
export type FeedBeginning = Pick<FeedEntry, 'publication' | 'epoch' | 'date'> & {
  readonly started_at?: string;
};

const FEED_ID_CHARACTERS = 12;

/** Starts a new feed. @param before the earlier feeds, whose changes stay in the history */
export function newFeed(
  { publication, epoch, date, started_at: at = '' }: FeedBeginning,
  before: FeedState = [],
  begins: FeedEntry['begins'] = 'after_gap',
): FeedState {
  const feed = hash('sha256', `feed ${publication} ${epoch}`).slice(0, FEED_ID_CHARACTERS);
  return withoutLoneBeginning([...before, { feed, epoch, changes: 0, publication, date, at, begins }]);
}

/** Drops a leading beginning without changes: before a gap, it tells nothing. */
function withoutLoneBeginning(state: FeedState): FeedState {
  return state[1]?.begins === 'after_gap' ? state.slice(1) : state;
}

/**
 * Returns the feed after a rollback. Everything after the target publication is withdrawn, including earlier rollbacks.
 *
 * @param then the feed when the target publication was live: exactly the entries that were withdrawn then stay
 * withdrawn
 * @returns the feed, and `isKnown`: false if the current feed does not have the target publication, so that the changes
 * are unknown
 */
export function rolledBackFeed(state: FeedState, then: FeedState | undefined, to: FeedBeginning) {
  // If no entry matches, the target publication was live before all of them.
  const last = state.findLastIndex(
    ({ publication, epoch }) => publication === to.publication || epoch === to.epoch,
  );
  const before = then && new Set(then.flatMap(({ epoch, withdrawn }) => (withdrawn ? [epoch] : [])));
  const feed = state.map(({ withdrawn, ...each }, at) => {
    const isWithdrawn = at > last || (before === undefined ? withdrawn : before.has(each.epoch));
    return isWithdrawn ? { ...each, withdrawn: true as const } : each;
  });
  return { feed, isKnown: state[last]?.feed === lastOf(state).feed };
}

/** Whether a rollback has undone this change. */
export function isWithdrawn(state: FeedState, change: { feed: string; epoch: number }): boolean {
  return state.some(
    ({ feed, epoch, withdrawn }) => withdrawn && feed === change.feed && epoch === change.epoch,
  );
}

/** Returns the feeds without the publications and rollbacks before a time. @param earliest ISO 8601 */
export function keptFeed(state: FeedState, earliest: string): FeedState {
  const last = state.findLastIndex(({ at }) => at < earliest);
  const [first, ...later] = state.slice(Math.max(0, last));
  return first === undefined ? state : withoutLoneBeginning([{ ...first, begins: 'after_gap' }, ...later]);
}

/** Whether a visible change of this entry has this position, or the feed begins right after it. */
export function hasPosition(entry: FeedEntry, position: number): boolean {
  if (entry.begins !== undefined) return position === endOf(entry);
  return position > positionOf(entry.epoch, 0) && position <= endOf(entry);
}

/** Counts the visible changes with positions in (`after`, `upTo`]. The positions of each epoch are numbered from 1. */
export function positionsBetween(state: FeedState, after: number, upTo: number): number {
  return switchesOf(state).reduce((sum, each) => {
    const begins = positionOf(each.epoch, 0);
    return sum + Math.max(0, Math.min(endOf(each), upTo) - Math.max(begins, after));
  }, 0);
}

/** A position in a feed. Later changes have greater positions. */
type FeedPosition = Readonly<{ feed: string; position: number }>;

/** Returns the cursor for a position. Clients treat it as opaque. */
export function cursorText({ feed, position }: FeedPosition): string {
  const text = `${feed}.${position.toString(36)}`;
  return `${text}.${checkOf(text)}`;
}

/** Returns the position of the last visible change. */
export function lastPosition(state: FeedState): FeedPosition {
  const last = lastOf(state.filter(({ begins, changes }) => begins !== undefined || changes > 0));
  return { feed: last.feed, position: endOf(last) };
}

/** Returns the cursor of the last visible change. Nothing has changed after it yet. */
export function latestCursor(state: FeedState): string {
  return cursorText(lastPosition(state));
}

const CURSOR = /^(([0-9a-z]{1,40})\.([0-9a-z]{1,11}))\.([0-9a-f]{8})$/;

/** Returns the position that a cursor stands for; `undefined` if the text is not a valid cursor. */
export function readCursor(cursor: string): FeedPosition | undefined {
  const [, text = '', feed = '', position = '', check] = CURSOR.exec(cursor) ?? [];
  return check === undefined || check !== checkOf(text)
    ? undefined
    : { feed, position: Number.parseInt(position, 36) };
}

/** A checksum against typing errors and invented cursors. Cursors are not secret. */
function checkOf(text: string): string {
  return hash('sha256', `cursor ${text}`).slice(0, 8);
}

/**
 * Returns the publications and rollbacks with changes after a cursor, the earliest first, each with the cursor that
 * follows all its changes. Returns `undefined` if the feed no longer has the cursor's position, or never had it: after
 * a restore, clients may have cursors that were given out after the backup.
 */
export function changesAfterCursor(state: FeedState, cursor: string) {
  const { feed: its, position = 0 } = readCursor(cursor) ?? {};
  const known = unbroken(state);
  if (!known.some((each) => each.feed === its && hasPosition(each, position))) return undefined;
  return switchesOf(known)
    .filter((each) => each.changes > 0 && endOf(each) > position)
    .map((each) => ({ ...each, cursor: cursorText({ feed: each.feed, position: endOf(each) }) }));
}
