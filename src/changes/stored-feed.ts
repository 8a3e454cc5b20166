import { z } from 'zod';
import { countsByName } from '../licenses/counts.ts';
import { collection } from '../storage/collection.ts';
import type { Store } from '../storage/store.ts';
import { BadDocumentError } from '../storage/stored.ts';
import { endOf, type FeedEntry, type FeedState, feedState, lastOf, positionOf, switchesOf } from './feed.ts';

/** How many changes a publication or rollback made, by kind, by cause, and by the board's name. */
export const changeCounts = z.object({
  kinds: z.record(z.string(), z.int()),
  causes: z.record(z.string(), z.int()),
  boards: countsByName,
});

export type ChangeCounts = z.output<typeof changeCounts>;

/**
 * The feed after a switch of the alias. It is written before the switch, under the name of the index that goes live,
 * and does not change while that index is live. Backups contain it, so the history survives a restore.
 */
const feedSwitch = z.object({
  index: z.string(),
  epoch: z.int(),
  /** The publication that becomes live. */
  publication: z.string(),
  state: feedState,
});

type FeedSwitch = Readonly<z.output<typeof feedSwitch>>;

const SWITCH_ID = 'switch-';

export const SWITCHES = collection('changes', feedSwitch, {
  isStoredUnder: (id, { index }) => id === SWITCH_ID + index,
});

/**
 * @throws when a later epoch has already made the same index live, so that a late write of a fenced process changes
 * nothing
 */
export async function writeSwitch(store: Store, made: FeedSwitch): Promise<void> {
  const { index, epoch } = made;
  await store.client.index({
    ...{ index: store.names.changes, id: SWITCH_ID + index, body: SWITCHES.valid(made) },
    ...{ version: epoch, version_type: 'external_gte' },
  });
  const last = lastOf(made.state);
  // Commands of version 0.3.0 read this document.
  if (last.begins === undefined) await EARLIER_SEGMENTS.put(store, EARLIER_SEGMENT_ID + last.epoch, last);
}

/**
 * Returns the feed for the time that an index is live; `undefined` if it is unknown, as for an index of version 0.2.0.
 *
 * @param earlier the feed in the index's `_meta`, where version 0.3.0 wrote it
 */
export async function readFeed(store: Store, index: string, earlier: EarlierFeed | undefined) {
  const made = (await SWITCHES.read(store, SWITCH_ID + index).catch(noneIfBad))?.document;
  if (earlier === undefined) return made?.state;
  const [epoch] = earlier.segments.at(-1) ?? [placeIn(earlier.start).epoch];
  // If the epoch in `_meta` is later, a rollback by version 0.3.0 wrote it.
  return made === undefined || epoch > made.epoch ? fromEarlier(store, earlier) : made.state;
}

/**
 * Returns the feed stored for the switch to an index, which is also what a restore has. `isOfIndex` is false if it is
 * the copy written by version 0.3.0.
 */
export async function lastFeed(store: Store, index = '') {
  const made = (await SWITCHES.read(store, SWITCH_ID + index).catch(noneIfBad))?.document;
  if (made !== undefined) return { state: made.state, isOfIndex: true };
  const copy = (await EARLIER_COPIES.read(store, EARLIER_COPY_ID).catch(noneIfBad))?.document;
  const state = copy && (await fromEarlier(store, copy.state));
  return state && { state, isOfIndex: false };
}

export function noneIfBad(error: unknown): undefined {
  if (!(error instanceof BadDocumentError)) throw error;
}

/** The progress of a task that runs once for each publication and rollback. */
const taskProgress = z.object({ feed: z.string(), epoch: z.int() });

const TASK_ID = 'done-';

const TASKS = collection('changes', taskProgress);

/** Runs a task once for each visible publication and rollback. After an interruption, the next call continues. */
export async function onceForEach(
  store: Store,
  task: 'erased' | 'followed',
  state: FeedState,
  work: (each: FeedEntry) => Promise<void>,
): Promise<void> {
  const done = (await TASKS.read(store, TASK_ID + task).catch(noneIfBad))?.document;
  const switches = switchesOf(state);
  const last = switches.findLastIndex(({ feed, epoch }) => feed === done?.feed && epoch === done.epoch);
  for (const each of switches.slice(last + 1)) {
    await work(each);
    await TASKS.put(store, TASK_ID + task, { feed: each.feed, epoch: each.epoch });
  }
}

/** Returns the check for a document of the feed by its id; `undefined` for the document of a change. */
export function feedDocumentCheck(id: string) {
  if (id.startsWith(SWITCH_ID)) return SWITCHES.check;
  if (id.startsWith(TASK_ID)) return TASKS.check;
  if (id.startsWith(EARLIER_SEGMENT_ID)) return EARLIER_SEGMENTS.check;
  return id === EARLIER_COPY_ID ? EARLIER_COPIES.check : undefined;
}

const oneEarlierFeed = z.object({
  feed: z.string(),
  since: z.string(),
  start: z.int(),
  segments: z.array(z.tuple([z.int(), z.int()])),
  withdrawn: z.array(z.int()).optional(),
  until: z.string().optional(),
});

/**
 * The feed in the `_meta` format of version 0.3.0. For one more release, it is still written for an API or command of
 * 0.3.0, like the segment documents. This and everything below goes away in the release after 0.4.0.
 */
export const earlierFeed = oneEarlierFeed.extend({ earlier: z.array(oneEarlierFeed).optional() });

type EarlierFeed = Readonly<z.output<typeof earlierFeed>>;

const EARLIER_SEGMENT_ID = 'segment-';

export const EARLIER_SEGMENTS = collection(
  'changes',
  z.object({ feed: z.string(), epoch: z.int(), publication: z.string(), date: z.string(), at: z.string() }),
  { isStoredUnder: (id, { epoch }) => id === EARLIER_SEGMENT_ID + epoch },
);

const EARLIER_COPY_ID = 'feed';

const EARLIER_COPIES = collection('changes', z.object({ feed: z.string(), state: earlierFeed }));

/** Returns `undefined` if a segment document is lost, because its changes may be lost as well. */
async function fromEarlier(store: Store, { earlier = [], ...current }: EarlierFeed) {
  const all = [...earlier, current];
  const ids = all.flatMap(({ segments }) => segments.map(([epoch]) => EARLIER_SEGMENT_ID + epoch));
  const stored = await EARLIER_SEGMENTS.readAll(store, ids);
  const state = all.flatMap(({ feed, since: date, start, segments, withdrawn = [] }, at): FeedState => {
    const isAfterGap = at === 0 || all[at - 1]?.until !== undefined;
    const beginning = { feed, ...placeIn(start), publication: '', date, at: '' };
    const switches = segments.flatMap(([epoch, changes]) => {
      const found = stored.find((each) => each.feed === feed && each.epoch === epoch);
      return found
        ? [{ ...found, changes, ...(withdrawn.includes(epoch) && { withdrawn: true as const }) }]
        : [];
    });
    return [{ ...beginning, begins: isAfterGap ? 'after_gap' : 'without_gap' }, ...switches];
  });
  return state.length < all.length + ids.length ? undefined : state;
}

function placeIn(position: number) {
  const ofEpoch = positionOf(1, 0);
  return { epoch: Math.floor(position / ofEpoch), changes: position % ofEpoch };
}

/** Converts the feed to the `_meta` format of version 0.3.0. */
export function toEarlier(state: FeedState): EarlierFeed {
  const all = [...Map.groupBy(state, ({ feed }) => feed).values()];
  const feeds = all.map((entries, at): EarlierFeed => {
    const [beginning = lastOf(entries), ...segments] = entries;
    const isBeforeGap = all[at + 1]?.[0]?.begins === 'after_gap';
    return {
      ...{ feed: beginning.feed, since: beginning.date, start: endOf(beginning) },
      segments: segments.map(({ epoch, changes }) => [epoch, changes]),
      withdrawn: segments.flatMap(({ epoch, withdrawn }) => (withdrawn ? [epoch] : [])),
      ...(isBeforeGap && { until: lastOf(entries).date }),
    };
  });
  return { ...lastOf(feeds), earlier: feeds.slice(0, -1) };
}
