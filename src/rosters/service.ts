import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Client } from '@opensearch-project/opensearch';
import pLimit from 'p-limit';
import { BadRequestError } from '../licenses/bad-request.ts';
import { cautionsOf } from '../licenses/cautions.ts';
import { todayInOhio } from '../licenses/dates.ts';
import { type LookupRequest, requireLetterOrDigit, requireLicenseType } from '../licenses/lookup-request.ts';
import type { SearchLimits } from '../lookup/batched-search.ts';
import type { NearSurnames, Search } from '../lookup/license-query.ts';
import { lookUp } from '../lookup/lookup-steps.ts';
import { nearSurnames } from '../lookup/opensearch-requests.ts';
import { type Lookups, searchByIndex } from '../lookup/service.ts';
import {
  type LivePublication,
  type LivePublicationTracker,
  withLivePublication,
} from '../publications/live.ts';
import { SearchUnavailableError, TooBusyError } from '../storage/errors.ts';
import { rosterItems } from '../telemetry/metrics.ts';
import {
  type InvalidItem,
  type ItemOutcome,
  itemOutcome,
  MAX_ITEMS_WITH_SUGGESTIONS,
  MAX_LISTED_MATCHES,
  type Roster,
  type RosterItem,
  type RosterResult,
  type RosterSummary,
} from './roster.ts';

/** The publication that a roster was answered from. */
export interface RosterOrigin {
  /** Its run date, `YYYY-MM-DD`. */
  readonly date: string;
  /** Whether it is generated sample data. */
  readonly isSampleData: boolean;
  /** The date in Ohio, `YYYY-MM-DD`: days until expiry and cautions depend on it. */
  readonly today: string;
}

/** A whole roster's answer. */
export interface RosterAnswer<Shaped> extends RosterOrigin {
  readonly summary: RosterSummary;
  /** The shaped results, in the order of the items. */
  readonly shaped: readonly Shaped[];
}

/** Gives results the form of a response. It is called for some results at a time, which keeps memory low. */
export type ShapeResults<Shaped> = (results: readonly RosterResult[], origin: RosterOrigin) => Shaped;

/** How results become a response. */
export interface AnswerFormat<Shaped> {
  readonly shape: ShapeResults<Shaped>;
  /** The parts of the whole response, in order. */
  readonly parts: (answer: RosterAnswer<Shaped>) => Shaped[];
}

/** Answers rosters. */
export interface Rosters {
  /**
   * Answers every item of a roster from one publication.
   *
   * @param signal stops the work, for a client that is gone
   * @throws {TooBusyError} immediately, when too many rosters wait
   * @throws {SearchUnavailableError} when OpenSearch does not answer in time
   */
  answer<Shaped>(
    roster: Roster,
    shape: ShapeResults<Shaped>,
    signal: AbortSignal,
  ): Promise<RosterAnswer<Shaped>>;
}

/** Rosters of callers with an API key and without one. Those without never take the places of those with one. */
export interface LiveRosters {
  readonly withKey: Rosters;
  readonly withoutKey: Rosters;
  /** The number of items of the rosters under way and waiting. */
  itemsInFlight(): number;
}

/** Rosters never share a batch with single lookups, so those do not wait for a roster. */
const SEARCH_LIMITS: SearchLimits = {
  ids: { maxBatchSize: 250, concurrency: 2 },
  numbers: { maxBatchSize: 250, concurrency: 2 },
  persons: { maxBatchSize: 250, concurrency: 2 },
  nearNumbers: { maxBatchSize: 25, concurrency: 2 },
  others: { maxBatchSize: 16, concurrency: 2 },
  maxOfSeveralPersons: 5000,
  maxMatches: MAX_LISTED_MATCHES,
};

/** How many items of a roster are looked up at once. */
const WINDOW = 250;

/** So long a roster waits for single lookups altogether. */
const MAX_GIVE_WAY_MS = 2000;

/** After so many items, other requests get their turn. */
const SHAPED_TOGETHER = 25;

/** While one roster waits for OpenSearch, the process shapes the results of another. */
export const MAX_ROSTERS_UNDER_WAY = 2;

/** Further rosters are rejected, because they would wait until they are too late. */
export const MAX_ROSTERS_WAITING = 30;

/** Of callers without a key: one is under way, and it is one of the two; so many wait, in a queue of their own. */
export const MAX_ROSTERS_WAITING_WITHOUT_KEY = 10;

/** A roster must be answered within ten seconds. */
export const TIMEOUT_MS = 8500;

/** Rosters in the live publication. All lookups of one roster go to the same physical index. */
export function liveRosters(
  client: Client,
  tracker: LivePublicationTracker,
  singleLookups: Pick<Lookups, 'idle'>,
): LiveRosters {
  const searchIn = searchByIndex(client, SEARCH_LIMITS);
  const inTurn = pLimit(MAX_ROSTERS_UNDER_WAY);
  const oneWithoutKey = pLimit(1);
  let itemsInFlight = 0;

  async function answer<Shaped>(
    turns: Turns,
    roster: Roster,
    shape: ShapeResults<Shaped>,
    clientSignal: AbortSignal,
  ): Promise<RosterAnswer<Shaped>> {
    itemsInFlight += roster.items.length;
    const deadline = new AbortController();
    const timer = setTimeout(
      () => deadline.abort(new SearchUnavailableError('OpenSearch did not answer the roster in time')),
      TIMEOUT_MS,
    );
    const signal = AbortSignal.any([clientSignal, deadline.signal]);
    const work = turns(() =>
      withLivePublication(tracker, (publication) =>
        answerFrom(publication, toolsFor(publication), roster, shape, signal),
      ),
    ).finally(() => {
      itemsInFlight -= roster.items.length;
    });
    try {
      return await unlessAborted(work, signal);
    } finally {
      clearTimeout(timer);
    }
  }

  function toolsFor({ index }: LivePublication): LookupTools {
    let leftMs = MAX_GIVE_WAY_MS;
    const giveWay = async () => {
      await nextTurn();
      if (leftMs <= 0) return;
      const since = performance.now();
      await singleLookups.idle(leftMs);
      leftMs -= performance.now() - since;
    };
    return {
      search: searchIn(index),
      nearSurnames: (query) => nearSurnames(client, index, query),
      giveWay,
    };
  }

  const withKey: Turns = async (work) => {
    if (inTurn.pendingCount >= MAX_ROSTERS_WAITING) throw new TooBusyError('Too many rosters wait.');
    return inTurn(work);
  };
  const withoutKey: Turns = async (work) => {
    const isFull = oneWithoutKey.pendingCount >= MAX_ROSTERS_WAITING_WITHOUT_KEY;
    if (isFull) throw new TooBusyError('Too many rosters without a key wait.');
    return oneWithoutKey(() => inTurn(work));
  };
  return {
    withKey: { answer: (...asked) => answer(withKey, ...asked) },
    withoutKey: { answer: (...asked) => answer(withoutKey, ...asked) },
    itemsInFlight: () => itemsInFlight,
  };
}

/** Does work when its turn comes. @throws {TooBusyError} when too much waits */
type Turns = <Result>(work: () => Promise<Result>) => Promise<Result>;

interface LookupTools {
  readonly search: Search;
  readonly nearSurnames: NearSurnames;
  /** Resolves when the roster may go on. */
  readonly giveWay: () => Promise<void>;
}

async function answerFrom<Shaped>(
  publication: LivePublication,
  tools: LookupTools,
  { items, maxMatches }: Roster,
  shape: ShapeResults<Shaped>,
  signal: AbortSignal,
): Promise<RosterAnswer<Shaped>> {
  const { date, sample: isSampleData } = publication.metadata;
  const today = todayInOhio();
  const summary = { found: 0, clear: 0, ambiguous: 0, not_found: 0, invalid: 0 };
  const shaped: Shaped[] = [];
  const lookUpWindow = (start: number) => {
    const missesBefore = summary.not_found;
    const outcomes = tools.giveWay().then(() => {
      signal.throwIfAborted();
      return lookUpItems(items.slice(start, start + WINDOW), maxMatches, publication, tools, missesBefore);
    });
    // The loop below throws what failed, unless the signal has ended it.
    outcomes.catch(() => undefined);
    return outcomes;
  };
  let outcomes = lookUpWindow(0);
  for (let start = 0; start < items.length; start += WINDOW) {
    const results = (await outcomes).map((outcome, at): RosterResult => {
      summary[outcome.outcome] += 1;
      if (isClear(outcome, today)) summary.clear += 1;
      return { index: start + at, reference: items[start + at]?.reference ?? null, ...outcome };
    });
    // OpenSearch searches the next window while this one is shaped.
    outcomes = lookUpWindow(start + WINDOW);
    for (let at = 0; at < results.length; at += SHAPED_TOGETHER) {
      await tools.giveWay();
      signal.throwIfAborted();
      shaped.push(shape(results.slice(at, at + SHAPED_TOGETHER), { date, isSampleData, today }));
    }
  }
  signal.throwIfAborted();
  const { clear: _, ...ended } = summary;
  for (const [outcome, count] of Object.entries(ended)) rosterItems.inc({ outcome }, count);
  return { date, isSampleData, today, summary, shaped };
}

function isClear(outcome: ItemOutcome, today: string): boolean {
  return outcome.outcome === 'found' && cautionsOf(outcome.record, today, outcome.nameMatch).length === 0;
}

/**
 * Looks items up without suggestions, then those without a license once more with them.
 *
 * @param missesBefore how many items before these have no license
 */
async function lookUpItems(
  items: readonly RosterItem[],
  maxMatches: number,
  publication: LivePublication,
  { search, nearSurnames }: LookupTools,
  missesBefore: number,
): Promise<readonly ItemOutcome[]> {
  const lookUpItem = async (item: RosterItem, near?: NearSurnames): Promise<ItemOutcome> => {
    const request = checked(item.request, publication);
    if (request.by === 'nothing') return { outcome: 'invalid', detail: request.detail };
    const outcome = await lookUp(request, search, near);
    return itemOutcome(outcome, request.by === 'number' ? 'number' : 'name', maxMatches);
  };
  const outcomes = await Promise.all(items.map((item) => lookUpItem(item)));
  let misses = missesBefore;
  return Promise.all(
    outcomes.map((outcome, at) => {
      const item = items[at];
      if (item === undefined || outcome.outcome !== 'not_found') return outcome;
      misses += 1;
      return misses > MAX_ITEMS_WITH_SUGGESTIONS
        ? { ...outcome, suggestionsOmitted: true }
        : lookUpItem(item, nearSurnames);
    }),
  );
}

/** The request, or what is wrong with it in this publication. */
function checked(
  request: LookupRequest | InvalidItem,
  { licenseTypes }: LivePublication,
): LookupRequest | InvalidItem {
  if (request.by === 'nothing') return request;
  try {
    requireLetterOrDigit(request);
    requireLicenseType(request, licenseTypes);
    return request;
  } catch (error) {
    if (error instanceof BadRequestError) return { by: 'nothing', detail: error.message };
    throw error;
  }
}

/** Fails with the signal's reason as soon as it aborts. The work itself stops at its next step. */
function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
