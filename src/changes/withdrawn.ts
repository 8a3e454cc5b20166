import type { Store } from '../storage/store.ts';
import type { ChangeCause } from './change.ts';
import { type Feed, type FeedState, feedsOf, isBegunBy } from './feed-state.ts';
import { SEGMENTS, type Segment, segmentId } from './segment.ts';

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
