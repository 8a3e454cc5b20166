import { setImmediate as nextTurn } from 'node:timers/promises';
import pLimit, { type LimitFunction } from 'p-limit';
import { viewOf } from '../answers/view.ts';
import type { RosterSummary } from '../answers/words.ts';
import type { Lookups, ManyLookups, RosterOrigin } from '../lookup/service.ts';
import { withTimeout } from '../storage/batcher.ts';
import { TooBusyError } from '../storage/errors.ts';
import { rosterItems } from '../telemetry/metrics.ts';
import { invalidLookup, type Roster, type RosterItem, type RosterResult } from './roster.ts';

/** A whole roster's answer. */
export interface RosterAnswer<Shaped> {
  readonly origin: RosterOrigin;
  readonly summary: RosterSummary;
  /** The shaped results, in the order of the items. */
  readonly shaped: readonly Shaped[];
}

/** How results become a response. */
export interface AnswerFormat<Shaped> {
  /** Shapes some results. It is called for a few at a time, which keeps memory low. */
  readonly shape: (results: readonly RosterResult[]) => Shaped;
  /** The parts of the whole response, in order. */
  readonly parts: (answer: RosterAnswer<Shaped>) => Shaped[];
}

/** Answers rosters. */
export type Rosters = ReturnType<typeof liveRosters>['withKey'];

/** How many items of a roster are looked up at once. */
const WINDOW_ITEMS = 250;

/**
 * How many items are looked up at once while single lookups arrive. A single lookup waits for all work that OpenSearch
 * and this process have begun.
 */
const WINDOW_ITEMS_BESIDE_SINGLES = 64;

/** How many items without a license get suggestions. Each costs as much as several items. */
export const MAX_ITEMS_WITH_SUGGESTIONS = 50;

/** How long a roster waits for single lookups, in total. */
const MAX_GIVE_WAY_MS = 2000;

/** After this many items, other requests get their turn. */
const ITEMS_SHAPED_AT_ONCE = 12;

/** While one roster waits for OpenSearch, the process shapes the results of another. */
export const MAX_ROSTERS_UNDER_WAY = 2;

/** Further rosters are rejected, because they could not be answered in time. */
export const MAX_ROSTERS_WAITING = 30;

/**
 * At most one of the rosters under way is from a caller without a key. This many more may wait, in a separate queue.
 */
export const MAX_ROSTERS_WAITING_WITHOUT_KEY = 10;

/** A roster must be answered within ten seconds. */
export const TIMEOUT_MS = 8500;

/** The single lookups that rosters give way to. */
type Singles = Pick<Lookups, 'idle' | 'hadSingle'>;

/** Answers rosters from the live publication. Callers without an API key never take the places of callers with one. */
export function liveRosters(lookups: Pick<Lookups, 'lookUpMany'> & Singles) {
  const underWay = pLimit(MAX_ROSTERS_UNDER_WAY);
  let itemsInFlight = 0;

  function rosters(queue: LimitFunction, mostWaiting: number) {
    return {
      /**
       * Answers every item of a roster from one publication.
       *
       * @param clientGone stops the work
       * @throws {TooBusyError} immediately, when too many rosters wait
       * @throws {SearchUnavailableError} when OpenSearch does not answer in time
       */
      answer: <Shaped>(
        roster: Roster,
        shape: AnswerFormat<Shaped>['shape'],
        clientGone: AbortSignal,
      ): Promise<RosterAnswer<Shaped>> => {
        if (queue.pendingCount >= mostWaiting)
          return Promise.reject(new TooBusyError('Too many rosters wait.'));
        itemsInFlight += roster.items.length;
        const late = new AbortController();
        const signal = AbortSignal.any([clientGone, late.signal]);
        const answer = () => lookups.lookUpMany((many) => answerFrom(many, roster, shape, signal, lookups));
        const work = queue === underWay ? queue(answer) : queue(() => underWay(answer));
        const counted = work.finally(() => {
          itemsInFlight -= roster.items.length;
        });
        return withTimeout(counted, TIMEOUT_MS).finally(() => late.abort());
      },
    };
  }

  return {
    withKey: rosters(underWay, MAX_ROSTERS_WAITING),
    withoutKey: rosters(pLimit(1), MAX_ROSTERS_WAITING_WITHOUT_KEY),
    /** The number of items of the rosters under way and waiting. */
    itemsInFlight: () => itemsInFlight,
  };
}

/**
 * Returns a function that resolves when a roster may continue: other requests have had their turn, and no single lookup
 * waits.
 */
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
  shape: AnswerFormat<Shaped>['shape'],
  signal: AbortSignal,
  singles: Singles,
): Promise<RosterAnswer<Shaped>> {
  const { origin } = many;
  const summary = { found: 0, clear: 0, ambiguous: 0, not_found: 0, invalid: 0 };
  const shaped: Shaped[] = [];
  const giveWay = giveWayTo(singles);
  let searchedAgain = 0;

  const outcomeOf = async ({ request }: RosterItem, suggest: boolean) =>
    'outcome' in request ? request : many.lookUp(request, suggest).catch(invalidLookup);

  /** Looks up the items from `start` on without suggestions, then repeats those that may have suggestions. */
  async function lookUpWindow(start: number) {
    if (start >= items.length) return [];
    await giveWay();
    signal.throwIfAborted();
    const size = singles.hadSingle() ? WINDOW_ITEMS_BESIDE_SINGLES : WINDOW_ITEMS;
    const window = items.slice(start, start + size);
    const found = window.map(async (item) => ({ item, outcome: await outcomeOf(item, false) }));
    const ended = await Promise.all(found);
    return Promise.all(
      ended.map(async ({ item, outcome }, at) => {
        // Any other miss already says which licenses are meant.
        const isUnknown = outcome.outcome === 'none' && outcome.reason === 'unknown';
        const hasMore = isUnknown || (outcome.outcome === 'found' && outcome.nameMatch === false);
        if (hasMore) searchedAgain += 1;
        const isOmitted = hasMore && (withoutSuggestions || searchedAgain > MAX_ITEMS_WITH_SUGGESTIONS);
        const searched = hasMore && !isOmitted ? await outcomeOf(item, true) : outcome;
        return { item, index: start + at, outcome: searched, suggestionsOmitted: isOmitted && isUnknown };
      }),
    );
  }

  type EndedItem = Awaited<ReturnType<typeof lookUpWindow>>[number];

  function resultOf({ item: { reference, request }, outcome, ...ended }: EndedItem): RosterResult {
    const foundBy = 'by' in request && request.by === 'number' ? 'number' : 'name';
    const isCut = outcome.outcome === 'several' && outcome.records.length > maxMatches;
    const listed = isCut
      ? { ...outcome, records: outcome.records.slice(0, maxMatches), truncated: true }
      : outcome;
    return { ...ended, reference, view: viewOf(listed, origin, foundBy) };
  }

  async function shapeWindow(ended: readonly EndedItem[]): Promise<void> {
    for (let at = 0; at < ended.length; at += ITEMS_SHAPED_AT_ONCE) {
      await giveWay();
      signal.throwIfAborted();
      const results = ended.slice(at, at + ITEMS_SHAPED_AT_ONCE).map(resultOf);
      for (const { view } of results) {
        summary[view.outcome] += 1;
        if (view.outcome === 'found' && view.record.cautions.length === 0) summary.clear += 1;
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
