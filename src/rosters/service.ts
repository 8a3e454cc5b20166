import { setImmediate as nextTurn } from 'node:timers/promises';
import pLimit, { type LimitFunction } from 'p-limit';
import { viewOf } from '../answers/view.ts';
import type { RosterSummary } from '../answers/words.ts';
import type { InvalidLookup, LookupOutcome } from '../licenses/lookup.ts';
import type { Lookups, ManyLookups, RosterOrigin } from '../lookup/service.ts';
import { withTimeout } from '../storage/batcher.ts';
import { TooBusyError } from '../storage/errors.ts';
import { rosterItems } from '../telemetry/metrics.ts';
import type { Roster, RosterItem, RosterResult } from './roster.ts';

/** A whole roster's answer. */
export interface RosterAnswer<Shaped> {
  readonly origin: RosterOrigin;
  readonly summary: RosterSummary;
  /** The shaped results, in the order of the items. */
  readonly shaped: readonly Shaped[];
}

/** Gives results the form of a response. It is called for some results at a time, which keeps memory low. */
export type ShapeResults<Shaped> = (results: readonly RosterResult[]) => Shaped;

/** How results become a response. */
export interface AnswerFormat<Shaped> {
  readonly shape: ShapeResults<Shaped>;
  /** The parts of the whole response, in order. */
  readonly parts: (answer: RosterAnswer<Shaped>) => Shaped[];
}

/** Rosters of callers with an API key and without one. Those without never take the places of those with one. */
type LiveRosters = ReturnType<typeof liveRosters>;

/** Answers rosters. */
export type Rosters = LiveRosters['withKey'];

/** How many items of a roster are looked up at once. */
const WINDOW_ITEMS = 250;

/** The same while single lookups come: each waits for what OpenSearch and this process have begun. */
const WINDOW_ITEMS_BESIDE_SINGLES = 64;

/** How many items without a license get suggestions. Each costs as much as several items. */
export const MAX_ITEMS_WITH_SUGGESTIONS = 50;

/** How long a roster waits for single lookups, in total. */
const MAX_GIVE_WAY_MS = 2000;

/** After this many items, other requests get their turn. */
const ITEMS_SHAPED_AT_ONCE = 12;

/** While one roster waits for OpenSearch, the process shapes the results of another. */
export const MAX_ROSTERS_UNDER_WAY = 2;

/** Further rosters are rejected, because they would wait until they are too late. */
export const MAX_ROSTERS_WAITING = 30;

/** Of the rosters under way, one may be of a caller without a key. This many more wait, in a queue of their own. */
export const MAX_ROSTERS_WAITING_WITHOUT_KEY = 10;

/** A roster must be answered within ten seconds. */
export const TIMEOUT_MS = 8500;

/** The single lookups that rosters give way to. */
type Singles = Pick<Lookups, 'idle' | 'hadSingle'>;

/** Does work when its turn comes. @throws {TooBusyError} when too much waits */
type Queue = <Result>(work: () => Promise<Result>) => Promise<Result>;

function bounded(underWay: LimitFunction, mostWaiting: number): Queue {
  return async (work) => {
    if (underWay.pendingCount >= mostWaiting) throw new TooBusyError('Too many rosters wait.');
    return underWay(work);
  };
}

/** Rosters in the live publication. */
export function liveRosters(lookups: Pick<Lookups, 'lookUpMany'> & Singles) {
  const underWay = pLimit(MAX_ROSTERS_UNDER_WAY);
  const withKey = bounded(underWay, MAX_ROSTERS_WAITING);
  const withoutKey = bounded(pLimit(1), MAX_ROSTERS_WAITING_WITHOUT_KEY);
  let itemsInFlight = 0;

  function rosters(queue: Queue) {
    return {
      /**
       * Answers every item of a roster from one publication.
       *
       * @param clientGone stops the work
       * @throws {TooBusyError} immediately, when too many rosters wait
       * @throws {SearchUnavailableError} when OpenSearch does not answer in time
       */
      answer: async <Shaped>(
        roster: Roster,
        shape: ShapeResults<Shaped>,
        clientGone: AbortSignal,
      ): Promise<RosterAnswer<Shaped>> => {
        itemsInFlight += roster.items.length;
        const late = new AbortController();
        const signal = AbortSignal.any([clientGone, late.signal]);
        const work = queue(() =>
          lookups.lookUpMany((many) => answerFrom(many, roster, shape, signal, lookups)),
        ).finally(() => {
          itemsInFlight -= roster.items.length;
        });
        try {
          return await withTimeout(work, TIMEOUT_MS);
        } finally {
          late.abort();
        }
      },
    };
  }

  return {
    withKey: rosters(withKey),
    withoutKey: rosters((work) => withoutKey(() => underWay(work))),
    /** The number of items of the rosters under way and waiting. */
    itemsInFlight: () => itemsInFlight,
  };
}

/** A function that resolves when a roster may go on: other requests have had their turn, and no single lookup waits. */
function giveWayTo(singles: Singles): () => Promise<void> {
  let leftMs = MAX_GIVE_WAY_MS;
  return async () => {
    await nextTurn();
    if (leftMs <= 0) return;
    const since = performance.now();
    await singles.idle(leftMs);
    leftMs -= performance.now() - since;
  };
}

async function answerFrom<Shaped>(
  many: ManyLookups,
  { items, maxMatches, withoutSuggestions = false }: Roster,
  shape: ShapeResults<Shaped>,
  signal: AbortSignal,
  singles: Singles,
): Promise<RosterAnswer<Shaped>> {
  const { origin } = many;
  const summary = { found: 0, clear: 0, ambiguous: 0, not_found: 0, invalid: 0 };
  const shaped: Shaped[] = [];
  const giveWay = giveWayTo(singles);
  let searchedAgain = 0;

  /** Looks up the items from `start` on: without suggestions, then those that have something to suggest once more. */
  async function lookUpWindow(start: number): Promise<readonly EndedItem[]> {
    if (start >= items.length) return [];
    await giveWay();
    signal.throwIfAborted();
    const size = singles.hadSingle() ? WINDOW_ITEMS_BESIDE_SINGLES : WINDOW_ITEMS;
    const window = items.slice(start, start + size);
    const outcomes = window.map(async (item) => ({ item, outcome: await outcomeOf(many, item, false) }));
    const ended = await Promise.all(outcomes);
    return Promise.all(
      ended.map(async ({ item, outcome }, at) => {
        // Any other miss says already which licenses are meant.
        const isUnknown = outcome.outcome === 'none' && outcome.reason === 'unknown';
        const hasMore = isUnknown || (outcome.outcome === 'found' && outcome.nameMatch === false);
        if (hasMore) searchedAgain += 1;
        const isOmitted = hasMore && (withoutSuggestions || searchedAgain > MAX_ITEMS_WITH_SUGGESTIONS);
        const searched = hasMore && !isOmitted ? await outcomeOf(many, item, true) : outcome;
        return { item, index: start + at, outcome: searched, suggestionsOmitted: isOmitted && isUnknown };
      }),
    );
  }

  async function shapeWindow(ended: readonly EndedItem[]): Promise<void> {
    for (let at = 0; at < ended.length; at += ITEMS_SHAPED_AT_ONCE) {
      await giveWay();
      signal.throwIfAborted();
      const results = ended
        .slice(at, at + ITEMS_SHAPED_AT_ONCE)
        .map((each) => resultOf(each, origin, maxMatches));
      for (const { view } of results) {
        summary[view.outcome] += 1;
        if (view.isClear) summary.clear += 1;
      }
      shaped.push(shape(results));
    }
  }

  let results = await lookUpWindow(0);
  let begun = results.length;
  while (results.length > 0) {
    // OpenSearch searches the next window while this one is shaped.
    const [next] = await Promise.all([lookUpWindow(begun), shapeWindow(results)]);
    begun += next.length;
    results = next;
  }
  signal.throwIfAborted();
  const { clear: _, ...ended } = summary;
  for (const [outcome, count] of Object.entries(ended)) rosterItems.inc({ outcome }, count);
  return { origin, summary, shaped };
}

/** An item, and how its lookup ended. */
interface EndedItem extends Pick<RosterResult, 'index' | 'suggestionsOmitted'> {
  readonly item: RosterItem;
  readonly outcome: LookupOutcome | InvalidLookup;
}

async function outcomeOf(
  many: ManyLookups,
  { request }: RosterItem,
  suggest: boolean,
): Promise<LookupOutcome | InvalidLookup> {
  return 'outcome' in request ? request : many.lookUp(request, suggest);
}

function resultOf(
  { item: { reference, request }, index, outcome, suggestionsOmitted }: EndedItem,
  origin: RosterOrigin,
  maxMatches: number,
): RosterResult {
  const foundBy = 'by' in request && request.by === 'number' ? 'number' : 'name';
  const view = viewOf(listedOf(outcome, maxMatches), origin, foundBy);
  return { index, reference, view, suggestionsOmitted };
}

/** The outcome with at most `maxMatches` of several matches. */
function listedOf(outcome: LookupOutcome | InvalidLookup, maxMatches: number): LookupOutcome | InvalidLookup {
  if (outcome.outcome !== 'several' || outcome.records.length <= maxMatches) return outcome;
  return { ...outcome, records: outcome.records.slice(0, maxMatches), truncated: true };
}
