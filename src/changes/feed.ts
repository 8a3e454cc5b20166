import { hash } from 'node:crypto';
import { z } from 'zod';

/** A publication or rollback, as the feed knows it, or the beginning of a feed. */
const entry = z.object({
  /** The id of its feed: another one when a new feed begins. */
  feed: z.string(),
  epoch: z.int(),
  /** How many changes it made. */
  changes: z.int(),
  /** The publication that it made live, and its run date, `YYYY-MM-DD`. */
  publication: z.string(),
  date: z.string(),
  /** ISO 8601. */
  at: z.string(),
  /**
   * Of what the first changes of a feed were compared with: its own changes are not part of the feed. After a gap,
   * changes are not known between the feed before and this one.
   */
  begins: z.enum(['after_gap', 'without_gap']).optional(),
  /** Whether a rollback has undone it. */
  withdrawn: z.literal(true).optional(),
});

export type FeedEntry = Readonly<z.output<typeof entry>>;

/**
 * The feed of changes as a switch of the alias leaves it, after the feeds before it, the earliest first. It begins with
 * a beginning. Changes of other epochs are not visible. The history of a license has the changes of all these feeds.
 */
export const feedState = z.array(entry).min(1).readonly();

export type FeedState = z.output<typeof feedState>;

/** The last of a list that has one. */
export function lastOf<Item>(list: readonly Item[]): Item {
  const last = list.at(-1);
  if (last === undefined) throw new RangeError('A feed has a beginning.');
  return last;
}

/** The publications and rollbacks whose changes are visible. */
export function switchesOf(state: FeedState): FeedState {
  return state.filter(({ begins }) => begins === undefined);
}

/** What a client can follow to the end without missing a change. */
export function unbroken(state: FeedState): FeedState {
  const gap = state.findLastIndex(({ begins }) => begins === 'after_gap');
  return state.slice(Math.max(0, gap));
}

/** A time of which no changes are known: between the datasets of two dates, `YYYY-MM-DD`. */
export const historyGap = z.object({ after: z.string(), before: z.string() });

export type HistoryGap = Readonly<z.output<typeof historyGap>>;

/** Since the dataset of which date changes are known, and where some are not. */
export function coverageOf(state: FeedState): { since: string; gaps: readonly HistoryGap[] } {
  const gaps = state.flatMap(({ begins, date: before }, at) => {
    const last = state[at - 1];
    return begins === 'after_gap' && last !== undefined ? [{ after: last.date, before }] : [];
  });
  return { since: state[0]?.date ?? '', gaps };
}

const POSITIONS_OF_EPOCH = 2 ** 24;

/**
 * The place of a change in its feed: those of a later epoch come later.
 *
 * @param ordinal from 1; the State has a sixth of as many licenses as an epoch has places
 */
export function positionOf(epoch: number, ordinal: number): number {
  return epoch * POSITIONS_OF_EPOCH + ordinal;
}

/** The place of the last change of a publication or rollback. */
export function endOf({ epoch, changes }: FeedEntry): number {
  return positionOf(epoch, changes);
}

/** A publication that begins a feed. */
export type FeedBeginning = Pick<FeedEntry, 'publication' | 'epoch' | 'date'> & {
  readonly started_at?: string;
};

const FEED_ID_CHARACTERS = 12;

/** A feed that begins. @param before the feeds whose changes stay in the history */
export function newFeed(
  { publication, epoch, date, started_at: at = '' }: FeedBeginning,
  before: FeedState = [],
  begins: FeedEntry['begins'] = 'after_gap',
): FeedState {
  const feed = hash('sha256', `feed ${publication} ${epoch}`).slice(0, FEED_ID_CHARACTERS);
  return withoutLoneBeginning([...before, { feed, epoch, changes: 0, publication, date, at, begins }]);
}

/** A beginning without changes says nothing about the time before a gap. */
function withoutLoneBeginning(state: FeedState): FeedState {
  return state[1]?.begins === 'after_gap' ? state.slice(1) : state;
}

/**
 * The feed after a rollback, which undoes what came after the publication that it goes back to, other rollbacks too.
 *
 * @param then the feed as that publication left it: what was withdrawn by then stays so, and nothing else
 * @returns `isKnown` is false where the last feed does not have that publication, so that what changed is not known
 */
export function rolledBackFeed(state: FeedState, then: FeedState | undefined, to: FeedBeginning) {
  // A publication that is none of these was live before them.
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

/** Whether a rollback has undone a change of one of these feeds. */
export function isWithdrawn(state: FeedState, change: { feed: string; epoch: number }): boolean {
  return state.some(
    ({ feed, epoch, withdrawn }) => withdrawn && feed === change.feed && epoch === change.epoch,
  );
}

/** The feeds without the publications and rollbacks before a time. @param earliest ISO 8601 */
export function keptFeed(state: FeedState, earliest: string): FeedState {
  const last = state.findLastIndex(({ at }) => at < earliest);
  const [first, ...later] = state.slice(Math.max(0, last));
  return first === undefined ? state : withoutLoneBeginning([{ ...first, begins: 'after_gap' }, ...later]);
}

/** Whether a visible change has this place, or a feed begins after it. */
export function hasPosition(entry: FeedEntry, position: number): boolean {
  if (entry.begins !== undefined) return position === endOf(entry);
  return position > positionOf(entry.epoch, 0) && position <= endOf(entry);
}

/** How many visible changes have a place after one and up to another: each epoch's are numbered from 1. */
export function positionsBetween(state: FeedState, after: number, upTo: number): number {
  return switchesOf(state).reduce((sum, each) => {
    const begins = positionOf(each.epoch, 0);
    return sum + Math.max(0, Math.min(endOf(each), upTo) - Math.max(begins, after));
  }, 0);
}

/** A place in the feed of an id; greater for later changes. */
type FeedPosition = Readonly<{ feed: string; position: number }>;

/** The text that stands for a place in a feed. Clients do not look into it. */
export function cursorText({ feed, position }: FeedPosition): string {
  const text = `${feed}.${position.toString(36)}`;
  return `${text}.${checkOf(text)}`;
}

/** The place of the last visible change. */
export function lastPosition(state: FeedState): FeedPosition {
  const last = lastOf(state.filter(({ begins, changes }) => begins !== undefined || changes > 0));
  return { feed: last.feed, position: endOf(last) };
}

/** The cursor of the latest place of a feed: after it, nothing has changed yet. */
export function latestCursor(state: FeedState): string {
  return cursorText(lastPosition(state));
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

/**
 * The publications and rollbacks that changed something after a cursor, the earliest first, with the cursor after all of
 * the changes of each; `undefined` where it is no place of the feed any more. A place that its feed does not have was
 * given out, too: after the backup from which the feed was restored.
 */
export function changesAfterCursor(state: FeedState, cursor: string) {
  const { feed: its, position = 0 } = readCursor(cursor) ?? {};
  const known = unbroken(state);
  if (!known.some((each) => each.feed === its && hasPosition(each, position))) return undefined;
  return switchesOf(known)
    .filter((each) => each.changes > 0 && endOf(each) > position)
    .map((each) => ({ ...each, cursor: cursorText({ feed: each.feed, position: endOf(each) }) }));
}
