import { z } from 'zod';
import { countsByName } from '../licenses/counts.ts';
import { collection } from '../storage/collection.ts';
import type { Store } from '../storage/store.ts';
import { WITHOUT_BAD_PARTS } from '../storage/stored.ts';
import type { ChangeCause } from './change.ts';
import { type Feed, type FeedState, feedsOf, isBegunBy, trimmedFeed } from './feed.ts';

/** How many changes a publication or rollback made, by kind, by cause, and by the board's name. */
export const changeCounts = z.object({
  kinds: z.record(z.string(), z.int()),
  causes: z.record(z.string(), z.int()),
  boards: countsByName,
});

export type ChangeCounts = z.output<typeof changeCounts>;

/** All changes of one publication or rollback. */
export const segment = z.object({
  feed: z.string(),
  epoch: z.int(),
  /** The publication that went live with them, and its run date. */
  publication: z.string(),
  date: z.string(),
  /** When they were found, ISO 8601. */
  at: z.string(),
  counts: changeCounts.optional(),
});

export type Segment = Readonly<z.output<typeof segment>>;

const SEGMENT_ID = 'segment-';

/** The document id of a segment. Changes have their position as id. */
export function segmentId(epoch: number): string {
  return SEGMENT_ID + epoch;
}

/** Whether a document of the changes is a segment. */
export function isSegmentId(id: string): boolean {
  return id.startsWith(SEGMENT_ID);
}

/** The segments. Nothing is decided by their counts. */
export const SEGMENTS = collection('changes', segment, {
  salvage: WITHOUT_BAD_PARTS,
  isStoredUnder: (id, { epoch }) => id === segmentId(epoch),
});

/** The stored segments of a feed, the earliest first. One that is missing or not valid is left out. */
export async function readSegments(
  store: Store,
  { feed, segments }: Pick<Feed, 'feed' | 'segments'>,
): Promise<Segment[]> {
  if (segments.length === 0) return [];
  const stored = await SEGMENTS.readAll(
    store,
    segments.map(([epoch]) => segmentId(epoch)),
  );
  return stored.filter((each) => each.feed === feed);
}

/** The feeds whose changes can be read, the earliest first: the longest row up to the last without a lost segment. */
export async function readableHistory(
  store: Store,
  state: FeedState,
): Promise<{ feeds: readonly Feed[]; lastDate: string }> {
  const feeds: Feed[] = [];
  let lastDate: string | undefined;
  for (const feed of feedsOf(state).toReversed()) {
    const segments = await readSegments(store, feed);
    lastDate ??= segments.at(-1)?.date ?? feed.since;
    if (segments.length < feed.segments.length) break;
    feeds.unshift(feed);
  }
  return { feeds, lastDate: lastDate ?? state.since };
}

const MS_A_DAY = 86_400_000;

/** The feeds without the publications and rollbacks that are more than this many days ago. */
export async function keptFeed(store: Store, state: FeedState, keptDays: number): Promise<FeedState> {
  const earliest = new Date(Date.now() - keptDays * MS_A_DAY).toISOString();
  const { earlier = [], ...current } = state;
  const kept: Feed[] = [];
  for (const feed of earlier) {
    const trimmed = await withoutOld(store, feed, earliest);
    if (kept.length > 0 || trimmed.segments.length > 0) kept.push(trimmed);
  }
  return {
    ...(await withoutOld(store, current, earliest)),
    ...(kept.length > 0 && { earlier: kept }),
  };
}

async function withoutOld<Trimmed extends Feed>(
  store: Store,
  feed: Trimmed,
  earliest: string,
): Promise<Trimmed> {
  const old = (await readSegments(store, feed)).filter(({ at }) => at < earliest);
  const last = old.at(-1);
  if (last === undefined) return feed;
  const dropped = feed.segments.findIndex(([epoch]) => epoch === last.epoch) + 1;
  return trimmedFeed(feed, dropped, last.date);
}

/** What made a publication live: the beginning of a feed, or a publication or rollback since. */
interface Step {
  readonly feed: string;
  readonly epoch: number | undefined;
  /** `undefined` when it is not known. */
  readonly publication: string | undefined;
  /** The causes of its changes; none when there are no changes, or their causes are not known. */
  readonly causes: readonly string[];
  readonly isLost: boolean;
}

const ROLLBACK: ChangeCause = 'rollback';

/**
 * The epochs whose changes a rollback has undone, among those of some feeds. Whether a rollback counts depends on those
 * after it: one that was undone itself withdraws nothing. So nothing is said of what is before a lost segment, which may
 * have been a rollback.
 *
 * @param feeds the earliest first
 * @param segments those of the feeds that could be read
 */
export function withdrawnEpochs(feeds: readonly Feed[], segments: readonly Segment[]): ReadonlySet<number> {
  const steps = feeds.flatMap((feed) => stepsOf(feed, segments));
  const lastLost = steps.findLastIndex(({ isLost }) => isLost);
  const known = steps.slice(Math.max(0, lastLost));
  const counting = new Set<Step>();
  for (let step = known.at(-1); step !== undefined; step = countingBefore(step, known)) counting.add(step);
  return new Set(known.flatMap((step) => (counting.has(step) ? [] : (step.epoch ?? []))));
}

function stepsOf(feed: Feed, segments: readonly Segment[]): Step[] {
  const ofEpoch = new Map(segments.map((segment) => [segment.epoch, segment]));
  const began = segments.find(({ publication }) => isBegunBy(feed, publication));
  const common = { feed: feed.feed, causes: [], isLost: false };
  return [
    { ...common, epoch: undefined, publication: began?.publication },
    ...feed.segments.map(([epoch]) => {
      const segment = ofEpoch.get(epoch);
      if (segment?.feed !== feed.feed) return { ...common, epoch, publication: undefined, isLost: true };
      const { publication, counts } = segment;
      return { ...common, epoch, publication, causes: Object.keys(counts?.causes ?? {}) };
    }),
  ];
}

/** The step whose state a step was made from, or, of a rollback, the step that it went back to. */
function countingBefore(step: Step, steps: readonly Step[]): Step | undefined {
  const before = steps.slice(0, steps.indexOf(step));
  const wasLive = before.findLast(
    ({ publication }) => publication !== undefined && publication === step.publication,
  );
  const isRollback =
    step.causes.length === 0 ? wasLive !== undefined : step.causes.every((cause) => cause === ROLLBACK);
  if (!isRollback) return before.at(-1);
  // One that went back to what is no longer kept has undone everything that is kept of its feed.
  return wasLive ?? before.find(({ feed }) => feed === step.feed);
}

/** The epochs whose changes a rollback has undone, as the feed of the live publication tells. */
export async function readWithdrawnEpochs(store: Store, state: FeedState): Promise<ReadonlySet<number>> {
  const feeds = feedsOf(state);
  const ids = feeds.flatMap(({ segments }) => segments.map(([epoch]) => segmentId(epoch)));
  if (ids.length === 0) return new Set();
  return withdrawnEpochs(feeds, await SEGMENTS.readAll(store, ids));
}
