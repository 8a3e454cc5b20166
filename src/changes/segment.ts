import { z } from 'zod';
import type { Store } from '../storage/store.ts';
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
  counts: changeCounts,
});

export type Segment = Readonly<z.output<typeof segment>>;

/** The document id of a segment. Changes have their position as id. */
export function segmentId(epoch: number): string {
  return `segment-${epoch}`;
}

const segmentsResponse = z.object({
  docs: z.array(z.object({ _source: segment.optional() })),
});

/** The stored segments of a feed, the earliest first. One that is missing is left out. */
export async function readSegments(
  { client, names }: Store,
  { feed, segments }: FeedState,
): Promise<Segment[]> {
  if (segments.length === 0) return [];
  const ids = segments.map(([epoch]) => segmentId(epoch));
  const { body } = await client.mget({ index: names.changes, body: { ids } });
  const { docs } = segmentsResponse.parse(body);
  return docs.flatMap(({ _source }) => (_source?.feed === feed ? [_source] : []));
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
