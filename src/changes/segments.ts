import { z } from 'zod';
import { countsByName } from '../licenses/counts.ts';
import { collection } from '../storage/collection.ts';
import type { Store } from '../storage/store.ts';
import { WITHOUT_BAD_PARTS } from '../storage/stored.ts';
import { type Feed, type FeedState, feedsOf, trimmedFeed } from './feed.ts';

/** How many changes a publication or rollback made, by kind, by cause, and by the board's name. */
export const changeCounts = z.object({
  kinds: z.record(z.string(), z.int()),
  causes: z.record(z.string(), z.int()),
  boards: countsByName,
});

export type ChangeCounts = z.output<typeof changeCounts>;

/** All changes of one publication or rollback. */
const segment = z.object({
  feed: z.string(),
  epoch: z.int(),
  /** The publication that went live with them, and its run date. */
  publication: z.string(),
  date: z.string(),
  /** When they were found, ISO 8601. */
  at: z.string(),
  counts: changeCounts.optional(),
  /** The licenses whose numbers the State writes in another way: ids before and after, until subscriptions follow. */
  renumbered: z.array(z.tuple([z.string(), z.string()])).optional(),
  /** Whether earlier changes no longer have the places that these withdrew. */
  erased: z.boolean().optional(),
});

type Segment = Readonly<z.output<typeof segment>>;

const SEGMENT_ID = 'segment-';

/** Changes have their position as id. */
export function segmentId(epoch: number): string {
  return SEGMENT_ID + epoch;
}

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
