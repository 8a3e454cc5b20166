import { setTimeout as wait } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Origin } from '../answers/origin.ts';
import { changesOfLicense, changesOfOne } from '../changes/change.ts';
import { latestCursor } from '../changes/feed.ts';
import { type Changes, type NumberChanges, readFromOne } from '../changes/service.ts';
import type { Board } from '../licenses/boards.ts';
import { todayInOhio } from '../licenses/dates.ts';
import type { LicenseRecord } from '../licenses/license.ts';
import {
  BadRequestError,
  type LookupOutcome,
  type LookupRequest,
  type NumberRequest,
  problemOf,
} from '../licenses/lookup.ts';
import { type LivePublication, type PublicationSource, withLivePublication } from '../publications/live.ts';
import { withTimeout } from '../storage/batcher.ts';
import { TooBusyError } from '../storage/errors.ts';
import type { Store } from '../storage/store.ts';
import { withLeftLicenses } from './left-licenses.ts';
import { type ListRequest, listLicenses } from './lists.ts';
import { numberQuery } from './queries.ts';
import { MANY_LIMITS, SINGLE_LIMITS, searchByIndex } from './search.ts';
import { lookUp, matchCounts } from './steps.ts';

/** The outcome of a lookup, and the publication that it comes from. */
export interface DatedOutcome extends Origin {
  readonly outcome: LookupOutcome;
}

/** The origin of the answer to many lookups. */
export interface RosterOrigin extends Origin {
  /** The cursor in the feed at which the publication ends; null if unknown, as for a publication of version 0.2. */
  readonly feedCursor: string | null;
}

/** Many lookups in one publication. */
export interface ManyLookups {
  readonly origin: RosterOrigin;
  /** @throws {BadRequestError} as `Lookups.lookUp` */
  readonly lookUp: (request: LookupRequest, suggest: boolean) => Promise<LookupOutcome>;
}

/** The lookups that every interface offers. */
export type Lookups = ReturnType<typeof liveLookups>;

/** With more lookups in flight, responses have no suggestions. */
export const MAX_IN_FLIGHT_WITH_SUGGESTIONS = 64;

/** Further lookups are rejected, because they could not be answered in time. */
export const MAX_IN_FLIGHT = 1000;

/** Reading the API key and all of a lookup's OpenSearch requests must end within three seconds. */
export const TIMEOUT_MS = 2600;

/** Nothing waits longer than this after the last single lookup began: then OpenSearch is slow, not this process. */
const MAX_WAITED_FOR_MS = 50;

/** For this long after a single lookup began, the next one is likely to come. */
const MOMENT_MS = 200;

const PROBED_EVERY_MS = 1000;

/** Lookups in the live publication. All queries of one lookup go to the same physical index. */
export function liveLookups(store: Store, tracker: PublicationSource, publicUrl?: string) {
  let inFlight = 0;
  let lastBeganAt = Number.NEGATIVE_INFINITY;
  const single = batchedLookups(store, SINGLE_LIMITS);
  const many = batchedLookups(store, MANY_LIMITS);
  // The probe has batches of its own, so that it does not wait for clients' lookups.
  const searchAside = searchByIndex(store.client, SINGLE_LIMITS);

  function isSampleFound(): Promise<boolean> {
    return withLivePublication(tracker, async ({ index, sample }) => {
      const { licenses } = await searchAside(index).search(sample && numberQuery(sample.license_number));
      return licenses.length > 0;
    });
  }

  const probe = new LRUCache<'answer', boolean>({
    max: 1,
    ttl: PROBED_EVERY_MS,
    // If there is no publication yet, the probe does not ask for one, because the tracker does.
    fetchMethod: async () =>
      tracker.current() !== undefined && (await withTimeout(isSampleFound(), TIMEOUT_MS).catch(() => false)),
  });

  /** Whether few enough lookups are in flight for suggestions. */
  const maySuggest = () => inFlight <= MAX_IN_FLIGHT_WITH_SUGGESTIONS;

  /**
   * Makes a single answer, all of it from one publication. Rejects the request when too many are in flight. A request
   * that timed out counts as in flight until its work ends.
   */
  async function answer<Answer extends object>(
    spentMs: number,
    ask: (live: LivePublication) => Promise<Answer>,
  ): Promise<Answer & Origin> {
    if (inFlight >= MAX_IN_FLIGHT) throw new TooBusyError('Too many lookups are under way.');
    inFlight += 1;
    lastBeganAt = performance.now();
    const work = withLivePublication(tracker, async (live) => ({ ...(await ask(live)), ...originOf(live) }));
    const counted = work.finally(() => {
      inFlight -= 1;
    });
    return withTimeout(counted, TIMEOUT_MS - spentMs);
  }

  function originOf({ metadata: { publication, date, sample, sources } }: LivePublication): Origin {
    const files = sources && { individual: sources.individual.sha256, business: sources.business.sha256 };
    return { publication, date, today: todayInOhio(), isSampleData: sample, files, publicUrl };
  }

  return {
    /** The number of single lookups in flight. */
    inFlight: () => inFlight,
    /** Whether a single lookup began a moment ago, so that the next one is likely to come soon. */
    hadSingle: () => performance.now() - lastBeganAt < MOMENT_MS,
    /**
     * Resolves when no single lookup that began in the last 50 ms is in flight, and after `maxMs` milliseconds in any
     * case.
     */
    idle: async (maxMs: number): Promise<void> => {
      const until = performance.now() + maxMs;
      const leftMs = () => Math.min(until, lastBeganAt + MAX_WAITED_FOR_MS) - performance.now();
      while (inFlight > 0 && leftMs() > 0) await wait(1);
    },
    /**
     * @param spentMs how long the request has already taken
     * @throws {BadRequestError} for a name or filter without a letter or digit, or a license type that the board lacks
     * @throws {TooBusyError} immediately, when too many lookups are in flight
     * @throws {SearchUnavailableError} when OpenSearch does not answer in time
     */
    lookUp: (request: LookupRequest, spentMs = 0): Promise<DatedOutcome> =>
      answer(spentMs, async (live) => ({ outcome: await single.lookUp(request, live, maySuggest()) })),
    /** Like `lookUp`, but if several licenses match, counts all of them in the same publication. @throws as `lookUp` */
    lookUpCounted: (request: LookupRequest) =>
      answer(0, async (live) => {
        const outcome = await single.lookUp(request, live, maySuggest());
        return { outcome, counts: await matchCounts(request, outcome, single.searchOf(live.index)) };
      }),
    /** Lists licenses. Counts as a single lookup. @throws as `lookUp` */
    list: (request: ListRequest) =>
      answer(0, async (live) => {
        const asked = { ...request, suggest: request.suggest && maySuggest() };
        const lookUpNumber = (number: NumberRequest) => single.lookUp(number, live, false);
        return { listing: await listLicenses(asked, single.searchOf(live.index), lookUpNumber) };
      }),
    /**
     * Runs work with many lookups, all in one publication. They do not count as single lookups, and share no requests
     * to OpenSearch with them. If the publication's index is deleted meanwhile, all of the work is done again.
     */
    lookUpMany: <Result>(work: (many: ManyLookups) => Promise<Result>): Promise<Result> =>
      withLivePublication(tracker, (live) => {
        const feedCursor = live.feed === undefined ? null : latestCursor(live.feed);
        return work({
          origin: { ...originOf(live), feedCursor },
          lookUp: (request, suggest) => many.lookUp(request, live, suggest),
        });
      }),
    livePublication: () => withLivePublication(tracker, async (live) => ({ ...originOf(live), live })),
    /**
     * Asks OpenSearch whether a publication is still live. Lookups that begin later use the live publication.
     *
     * @throws as `lookUp`
     */
    isLive: async (publication: string): Promise<boolean> => {
      // A refresh that is already under way may have asked OpenSearch too early, so a second one follows.
      await tracker.refresh();
      return (await tracker.refresh())?.metadata.publication === publication;
    },
    /**
     * Whether lookups are answered. The probe looks up a license of the publication; its result is at most a second
     * old.
     */
    isAnswering: async (): Promise<boolean> => (await probe.fetch('answer')) === true,
  };
}

/** Lookups that share batches of queries. Single lookups and lists each have their own, so neither waits for the other. */
function batchedLookups(store: Store, limits: typeof SINGLE_LIMITS) {
  const searchOf = searchByIndex(store.client, limits);
  const withLeft = withLeftLicenses(store, searchOf);
  return {
    searchOf,
    /** @param suggest whether to look for suggestions when nothing is found, which costs more */
    async lookUp(request: LookupRequest, live: LivePublication, suggest: boolean): Promise<LookupOutcome> {
      const problem = problemOf(request, live.licenseTypes);
      if (problem !== undefined) throw new BadRequestError(problem);
      const outcome = await lookUp(request, searchOf(live.index), suggest);
      const { by, board } = request;
      // A miss may be of a license that left, and another board may have left a number.
      const mayHaveLeft = outcome.outcome === 'none' || (by === 'number' && board === undefined);
      return mayHaveLeft ? withLeft(request, outcome, live) : outcome;
    },
  };
}

/** The current state of a license, and its changes. */
export interface LicenseHistory extends DatedOutcome, Omit<NumberChanges, 'publication'> {
  /** The license's number as the board writes it; `undefined` for a number that was never seen. */
  readonly licenseNumber: string | undefined;
  /** The license as it is now; `undefined` when it is not in the dataset. */
  readonly record: LicenseRecord | undefined;
}

/**
 * The history of a license of one board. Everything is from the same publication.
 *
 * @param spentMs how long the request has already taken
 * @throws as `Lookups.lookUp` and `Changes.ofNumber`
 */
export async function licenseHistory(
  { lookups, changes }: { readonly lookups: Lookups; readonly changes: Changes },
  { board, number }: { readonly board: Board; readonly number: string },
  spentMs = 0,
): Promise<LicenseHistory> {
  return readFromOne(async () => {
    const [found, { publication, changes: all, since, gaps }] = await Promise.all([
      lookups.lookUp({ by: 'number', number, board, businessOnly: false }, spentMs),
      changes.ofNumber(board, number),
    ]);
    // After the changes are read, lookups that begin later use the same publication or a newer one.
    if (found.publication !== publication) return undefined;
    const { outcome } = found;
    const record = outcome.outcome === 'found' ? outcome.record : undefined;
    const isAmbiguous = outcome.outcome === 'none' && outcome.reason === 'ambiguous';
    // If the number fits several existing licenses, a removed license counts only if its number is written exactly like
    // this.
    const ofRemoved = () =>
      isAmbiguous ? all.filter((each) => each.license_number === number) : changesOfOne(all, number);
    const listed = record === undefined ? ofRemoved() : changesOfLicense(all, record.license_number);
    const licenseNumber = record?.license_number ?? listed[0]?.license_number;
    return { ...found, since, gaps, licenseNumber, record, changes: listed };
  });
}
