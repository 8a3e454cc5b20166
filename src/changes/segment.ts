import { z } from 'zod';
import { collection } from '../storage/collection.ts';
import type { Store } from '../storage/store.ts';
import { WITHOUT_BAD_PARTS } from '../storage/stored.ts';
import { changeCounts } from './counts.ts';
import { type FeedState, trimmedFeed } from './feed-state.ts';

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
export async function readSegments(store: Store, { feed, segments }: FeedState): Promise<Segment[]> {
  if (segments.length === 0) return [];
  const stored = await SEGMENTS.readAll(
    store,
    segments.map(([epoch]) => segmentId(epoch)),
  );
  return stored.filter((each) => each.feed === feed);
}

const MS_A_DAY = 86_400_000;

/** The feed without the publications and rollbacks that are more than this many days ago. */
export async function keptFeed(store: Store, state: FeedState, keptDays: number): Promise<FeedState> {
  const earliest = new Date(Date.now() - keptDays * MS_A_DAY).toISOString();
  const old = (await readSegments(store, state)).filter(({ at }) => at < earliest);
  const last = old.at(-1);
  if (last === undefined) return state;
  const dropped = state.segments.findIndex(([epoch]) => epoch === last.epoch) + 1;
  return trimmedFeed(state, dropped, last.date);
}
