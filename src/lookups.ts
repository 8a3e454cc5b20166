import type { Client } from '@opensearch-project/opensearch';
import { type LookupOutcome, type LookupRequest, lookUp, type Search } from './licenses/lookup.ts';
import {
  type LivePublication,
  type LivePublicationTracker,
  NothingPublishedError,
  withLivePublication,
} from './publications/live.ts';
import { nearTerms } from './search/license-search.ts';
import { sharedSearch } from './search/shared-search.ts';

/** What was found, and the run date of the one publication that answered, `YYYY-MM-DD`. */
export interface DatedOutcome {
  readonly outcome: LookupOutcome;
  readonly date: string;
}

/** The lookups that every door offers. */
export interface Lookups {
  lookUp(request: LookupRequest): Promise<DatedOutcome>;
  livePublication(): Promise<LivePublication>;
}

/** With more lookups than this in flight, the process is busy and leaves out suggestions. */
const BUSY = 64;

/** Lookups answered by the live publication, all of one lookup's queries by the same. */
export function liveLookups(client: Client, tracker: LivePublicationTracker): Lookups {
  let inFlight = 0;
  let latest: { readonly index: string; readonly search: Search } | undefined;

  /** All lookups in one index share one search. */
  function searchIn(index: string): Search {
    if (latest?.index !== index) latest = { index, search: sharedSearch(client, index) };
    return latest.search;
  }

  async function counted<Result>(work: () => Promise<Result>): Promise<Result> {
    inFlight += 1;
    try {
      return await work();
    } finally {
      inFlight -= 1;
    }
  }

  return {
    lookUp: (request) =>
      counted(() =>
        withLivePublication(tracker, async ({ index, metadata }) => ({
          outcome: await lookUp(
            request,
            searchIn(index),
            inFlight > BUSY ? undefined : (body) => nearTerms(client, index, body),
          ),
          date: metadata.date,
        })),
      ),
    livePublication: async () => {
      const publication = tracker.current() ?? (await tracker.refresh());
      if (publication === undefined) throw new NothingPublishedError('Nothing has been published yet.');
      return publication;
    },
  };
}
