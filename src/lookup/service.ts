import type { Client } from '@opensearch-project/opensearch';
import { BadRequestError } from '../http/errors.ts';
import { licenseTypeKeys } from '../licenses/document.ts';
import { fold } from '../licenses/fold.ts';
import {
  type LivePublication,
  type LivePublicationTracker,
  NothingPublishedError,
  withLivePublication,
} from '../publications/live.ts';
import { TooBusyError } from '../storage/batcher.ts';
import { SearchUnavailableError } from '../storage/client.ts';
import { sharedSearch } from './batched-search.ts';
import { nearTerms } from './license-search.ts';
import { type LookupOutcome, type LookupRequest, lookUp, type Search } from './look-up.ts';

/** What was found, and of the one publication that answered its run date, `YYYY-MM-DD`, and whether it was generated. */
export interface DatedOutcome {
  readonly outcome: LookupOutcome;
  readonly date: string;
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

  /** All lookups in one index share one search. */
  function searchIn(index: string): Search {
    if (latest?.index !== index) latest = { index, search: sharedSearch(client, index) };
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
          requireWords(request);
          requireLicenseType(request, licenseTypes);
          const outcome = await lookUp(
            request,
            searchIn(index),
            inFlight > BUSY ? undefined : (body) => nearTerms(client, index, body),
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

/**
 * Refuses a search by a name, or with a filter, that has neither a letter nor a digit: it asks for nothing.
 *
 * @throws {BadRequestError} naming the field, as all interfaces call it
 */
function requireWords(request: LookupRequest): void {
  if (request.by === 'number') return;
  const names =
    request.by === 'person'
      ? { last_name: request.lastName, first_name: request.firstName }
      : { business_name: request.name };
  for (const [field, typed] of Object.entries({ ...names, ...request.narrowing })) {
    if (typed !== undefined && fold(typed) === '') {
      throw new BadRequestError(`${field} must have a letter or a digit.`);
    }
  }
}

/**
 * Refuses a filter by a license type that the board, or without a board any board, does not have: it could only
 * exclude everything.
 *
 * @param licenseTypes names of the live publication's license types by board
 * @throws {BadRequestError} naming the types that the board has
 */
function requireLicenseType(request: LookupRequest, licenseTypes: LivePublication['licenseTypes']): void {
  const typed = request.by === 'number' ? undefined : request.narrowing.license_type;
  if (typed === undefined) return;
  const key = fold(typed);
  const { board } = request;
  const types =
    board === undefined ? [...licenseTypes.values()].flat() : (licenseTypes.get(board.name) ?? []);
  if (types.some((type) => licenseTypeKeys(type).includes(key))) return;
  throw new BadRequestError(
    board === undefined
      ? 'No board has this license_type; the list of the boards has the types of each.'
      : `The ${board.name} has no such license_type. It has: ${types.join('; ')}.`,
  );
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
