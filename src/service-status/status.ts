import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { freshness } from '../answers/origin.ts';
import { boardActivity } from '../changes/board-activity.ts';
import { changeCounts } from '../changes/stored-feed.ts';
import { SERVICE_VERSION } from '../config.ts';
import { type Route, resource } from '../http/guard.ts';
import { daysBetween, todayInOhio } from '../licenses/dates.ts';
import type { PublicationSummary } from '../publications/history.ts';
import { PUBLICATION_STATES } from '../publications/ledger.ts';
import type { LivePublication, LivePublicationTracker } from '../publications/live.ts';
import { publicationCounts } from '../publications/metadata.ts';

const MAX_RUNS = 10;
const MAX_KNOWN = 50;
const KNOWN_FOR_MS = 10_000;

/** `changeCounts` as described in the OpenAPI document. */
const shownChanges = changeCounts.extend({ boards: z.record(z.string(), z.int()) });

const run = z.object({
  publication: z.string(),
  state: z.enum(PUBLICATION_STATES).describe('What happened last'),
  at: z.string().describe('When, ISO 8601'),
  date: z.string().nullable().describe('The run date of its dataset, once read'),
  counts: publicationCounts.nullable(),
  changes: shownChanges
    .nullable()
    .describe('Licenses that changed when it went live, by kind, cause and board'),
});

const statusAnswer = z
  .object({
    service_version: z.string(),
    publication: z
      .object({
        id: z.string(),
        date: z.string().describe('The run date of the dataset, YYYY-MM-DD'),
        age_in_days: z.int(),
        freshness: z
          .enum(['fresh', 'late', 'stale'])
          .describe('fresh to 2 days, late to 7 days, stale beyond and before its date'),
        sample: z.boolean().describe('Whether the data is generated, not the State’s'),
        verified_at: z.string().nullable(),
        counts: publicationCounts.nullable(),
        changes: shownChanges.nullable(),
      })
      .nullable()
      .describe('What answers now; null while nothing is known to be published'),
    licenses_by_board: z.record(z.string(), z.int()),
    board_activity: z.record(z.string(), boardActivity).describe('By the name of the board'),
    last_runs: z
      .array(run)
      .nullable()
      .describe('The last publications requested, latest first; null if they were never known'),
  })
  .meta({ id: 'ServiceStatus' });

/** The last known publications of the ledger, latest first; `undefined` if the ledger was never read. */
export type KnownPublications = () => Promise<readonly PublicationSummary[] | undefined>;

/**
 * Reads the latest publications at most every ten seconds. While OpenSearch is down, it returns the last known ones.
 */
export function knownPublications(
  publications: () => Promise<readonly PublicationSummary[]>,
): KnownPublications {
  const known = new LRUCache<'publications', readonly PublicationSummary[]>({
    max: 1,
    ttl: KNOWN_FOR_MS,
    allowStaleOnFetchRejection: true,
    fetchMethod: async () => (await publications()).slice(0, MAX_KNOWN),
  });
  return () => known.fetch('publications').catch(() => undefined);
}

/** GET /status. It needs no key. While OpenSearch is down, it responds with the last known state. */
export function statusRoute(tracker: LivePublicationTracker, publications: KnownPublications): Route {
  return resource('Service', {}, '')('GET', '/status', {
    id: 'status',
    summary: 'How current the data is',
    security: [],
    responses: {
      200: { when: 'The live publication and the last runs, as last known', body: statusAnswer },
    },
    handle: async () => {
      const live = tracker.current();
      const runs = (await publications())?.slice(0, MAX_RUNS);
      return {
        service_version: SERVICE_VERSION,
        publication: live === undefined ? null : publicationStatus(live),
        licenses_by_board: Object.fromEntries(live?.licenses ?? []),
        board_activity: Object.fromEntries(live?.activity ?? []),
        last_runs:
          runs?.map(({ publication, state, at, date = null, counts = null, changes = null }) => {
            return { publication, state, at, date, counts, changes };
          }) ?? null,
      } satisfies z.output<typeof statusAnswer>;
    },
  });
}

function publicationStatus({ metadata }: LivePublication) {
  const { publication: id, date, sample, counts = null, changes = null, verified_at = null } = metadata;
  const age = daysBetween(date, todayInOhio());
  return { id, date, age_in_days: age, freshness: freshness(age), sample, verified_at, counts, changes };
}
