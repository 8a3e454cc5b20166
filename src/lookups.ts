import type { Client } from '@opensearch-project/opensearch';
import { type LookupOutcome, type LookupRequest, lookUp } from './licenses/lookup.ts';
import {
  type LivePublication,
  type LivePublicationTracker,
  NothingPublishedError,
  withLivePublication,
} from './publications/live.ts';
import { searchLicenses } from './search/license-search.ts';

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

/** Lookups answered by the live publication, all of one lookup's queries by the same. */
export function liveLookups(client: Client, tracker: LivePublicationTracker): Lookups {
  return {
    lookUp: (request) =>
      withLivePublication(tracker, async ({ index, metadata }) => ({
        outcome: await lookUp(request, (body) => searchLicenses(client, index, body)),
        date: metadata.date,
      })),
    livePublication: async () => {
      const publication = tracker.current() ?? (await tracker.refresh());
      if (publication === undefined) throw new NothingPublishedError('Nothing has been published yet.');
      return publication;
    },
  };
}
