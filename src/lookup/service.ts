import type { Client } from '@opensearch-project/opensearch';
import type { LookupOutcome } from '../licenses/lookup-outcome.ts';
import { type LookupRequest, requireLetterOrDigit, requireLicenseType } from '../licenses/lookup-request.ts';
import {
  type LivePublication,
  type LivePublicationTracker,
  NothingPublishedError,
  withLivePublication,
} from '../publications/live.ts';
import { SearchUnavailableError, TooBusyError } from '../storage/errors.ts';
import { batchedSearch } from './batched-search.ts';
import { nearSurnames } from './license-search.ts';
import { lookUp, type Search } from './look-up.ts';

/** What was found, and in which publication. */
export interface DatedOutcome {
  readonly outcome: LookupOutcome;
  /** The run date of the publication, `YYYY-MM-DD`. */
  readonly date: string;
  /** Whether its data was generated. */
  readonly isSample: boolean;
}

/** The lookups that every interface offers. */
export interface Lookups {
  /**
   * @param spentMs what of its time the request has spent already
   * @throws {BadRequestError} for a search that asks for nothing, or for a license type that the board does not have
   * @throws {TooBusyError} at once, with more lookups under way than are taken
   * @throws {SearchUnavailableError} when OpenSearch does not answer in time
   */
  lookUp(request: LookupRequest, spentMs?: number): Promise<DatedOutcome>;
  /** How many lookups are under way. */
  inFlight(): number;
  livePublication(): Promise<LivePublication>;
}

/** With more lookups than this in flight, the process is busy and leaves out suggestions. */
const BUSY = 64;

/** As many are taken at once; what comes beyond would only wait for a turn that is too late. */
const MAX_IN_FLIGHT = 1000;

/** A lookup may ask OpenSearch several times, and the key was read before: all must end within three seconds. */
const ANSWER_WITHIN_MS = 2600;

/** Lookups answered by the live publication, all of one lookup's queries by the same. */
export function liveLookups(client: Client, tracker: LivePublicationTracker): Lookups {
  let inFlight = 0;
  let latest: { readonly index: string; readonly search: Search } | undefined;

  /** All lookups in one index share its batches. */
  function searchIn(index: string): Search {
    if (latest?.index !== index) latest = { index, search: batchedSearch(client, index) };
    return latest.search;
  }

  /** Refuses what is too many; counts the others for as long as they really take. */
  async function bounded<Result>(spentMs: number, work: () => Promise<Result>): Promise<Result> {
    if (inFlight >= MAX_IN_FLIGHT) throw new TooBusyError('Too many lookups are under way.');
    inFlight += 1;
    return inTime(
      work().finally(() => {
        inFlight -= 1;
      }),
      ANSWER_WITHIN_MS - spentMs,
    );
  }

  return {
    inFlight: () => inFlight,
    lookUp: (request, spentMs = 0) =>
      bounded(spentMs, () =>
        withLivePublication(tracker, async ({ index, metadata, licenseTypes }) => {
          requireLetterOrDigit(request);
          requireLicenseType(request, licenseTypes);
          const outcome = await lookUp(
            request,
            searchIn(index),
            inFlight > BUSY ? undefined : (query) => nearSurnames(client, index, query),
          );
          return { outcome, date: metadata.date, isSample: metadata.sample };
        }),
      ),
    livePublication: async () => {
      const publication = tracker.current() ?? (await tracker.refresh());
      if (publication === undefined) throw new NothingPublishedError('Nothing has been published yet.');
      return publication;
    },
  };
}

/** Fails when the work takes too long; what it was waiting for is left to its own time-out. */
function inTime<Result>(work: Promise<Result>, ms: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    const tooLate = setTimeout(
      () => reject(new SearchUnavailableError('OpenSearch did not answer in time')),
      ms,
    );
    work.then(resolve, reject).finally(() => clearTimeout(tooLate));
  });
}
