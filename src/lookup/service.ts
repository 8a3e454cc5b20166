import type { Client } from '@opensearch-project/opensearch';
import { type LookupOutcome, MAX_MATCHES } from '../licenses/lookup-outcome.ts';
import { type LookupRequest, requireLetterOrDigit, requireLicenseType } from '../licenses/lookup-request.ts';
import {
  type LivePublication,
  type LivePublicationTracker,
  NothingPublishedError,
  withLivePublication,
} from '../publications/live.ts';
import { SearchUnavailableError, TooBusyError } from '../storage/errors.ts';
import { batchedSearch, type SearchLimits } from './batched-search.ts';
import type { Search } from './license-query.ts';
import { lookUp } from './lookup-steps.ts';
import { nearSurnames } from './opensearch-requests.ts';

/** The outcome of a lookup, and the publication that it is from. */
export interface DatedOutcome {
  readonly outcome: LookupOutcome;
  /** The publication's id. */
  readonly publication: string;
  /** The run date of the publication, `YYYY-MM-DD`. */
  readonly date: string;
  /** Whether the publication is generated sample data. */
  readonly isSampleData: boolean;
}

/** The lookups that every interface offers. */
export interface Lookups {
  /**
   * @param spentMs how long the request has already taken
   * @throws {BadRequestError} for a name or filter without a letter or digit, or a license type that the board lacks
   * @throws {TooBusyError} immediately, when too many lookups are in flight
   * @throws {SearchUnavailableError} when OpenSearch does not answer in time
   */
  lookUp(request: LookupRequest, spentMs?: number): Promise<DatedOutcome>;
  /** The number of lookups in flight. */
  inFlight(): number;
  /** Resolves when no lookup is in flight, and after `maxMs` milliseconds in any case. */
  idle(maxMs: number): Promise<void>;
  livePublication(): Promise<LivePublication>;
}

/** With more lookups in flight, responses have no suggestions. */
export const MAX_IN_FLIGHT_WITH_SUGGESTIONS = 64;

/** Further lookups are rejected, because they would wait until they are too late. */
export const MAX_IN_FLIGHT = 1000;

/** Reading the API key and all of a lookup's OpenSearch requests must end within three seconds. */
export const TIMEOUT_MS = 2600;

/**
 * Measured on two cores with 64 clients: larger batches delay responses, and more concurrency makes batches smaller.
 * While one batch has half of the clients' numbers, the process writes the responses of the other half.
 */
export const SEARCH_LIMITS: SearchLimits = {
  ids: { maxBatchSize: 32, concurrency: 1 },
  numbers: { maxBatchSize: 32, concurrency: 1 },
  persons: { maxBatchSize: 32, concurrency: 2 },
  nearNumbers: { maxBatchSize: 32, concurrency: 2 },
  others: { maxBatchSize: 16, concurrency: 4 },
  // More are rare, even for initials.
  maxOfSeveralPersons: 1000,
  maxMatches: MAX_MATCHES,
};

/** Lookups in the live publication. All queries of one lookup go to the same physical index. */
export function liveLookups(client: Client, tracker: LivePublicationTracker): Lookups {
  let inFlight = 0;
  const becameIdle = new EventTarget();
  const searchIn = searchByIndex(client, SEARCH_LIMITS);

  /** Rejects the work when too much is in flight. Work that timed out counts until it really ends. */
  async function bounded<Result>(spentMs: number, work: () => Promise<Result>): Promise<Result> {
    if (inFlight >= MAX_IN_FLIGHT) throw new TooBusyError('Too many lookups are under way.');
    inFlight += 1;
    return withTimeout(
      work().finally(() => {
        inFlight -= 1;
        if (inFlight === 0) becameIdle.dispatchEvent(new Event('idle'));
      }),
      TIMEOUT_MS - spentMs,
    );
  }

  function idle(maxMs: number): Promise<void> {
    if (inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        becameIdle.removeEventListener('idle', end);
        resolve();
      };
      const timer = setTimeout(end, maxMs);
      becameIdle.addEventListener('idle', end);
    });
  }

  return {
    inFlight: () => inFlight,
    idle,
    lookUp: (request, spentMs = 0) =>
      bounded(spentMs, () =>
        withLivePublication(tracker, async ({ index, metadata, licenseTypes }) => {
          requireLetterOrDigit(request);
          requireLicenseType(request, licenseTypes);
          const outcome = await lookUp(
            request,
            searchIn(index),
            inFlight > MAX_IN_FLIGHT_WITH_SUGGESTIONS
              ? undefined
              : (query) => nearSurnames(client, index, query),
          );
          const { publication, date, sample: isSampleData } = metadata;
          return { outcome, publication, date, isSampleData };
        }),
      ),
    livePublication: async () => {
      const publication = tracker.current() ?? (await tracker.refresh());
      if (publication === undefined) throw new NothingPublishedError('Nothing has been published yet.');
      return publication;
    },
  };
}

/** Returns the same search for all lookups in an index, so that they share batches. */
export function searchByIndex(client: Client, limits: SearchLimits): (index: string) => Search {
  let latest: { readonly index: string; readonly search: Search } | undefined;
  return (index) => {
    if (latest?.index !== index) latest = { index, search: batchedSearch(client, index, limits) };
    return latest.search;
  };
}

/** Fails when the work takes too long. The work itself is not stopped; its requests have their own timeouts. */
function withTimeout<Result>(work: Promise<Result>, ms: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new SearchUnavailableError('OpenSearch did not answer in time')),
      ms,
    );
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
