import { z } from 'zod';
import { BOARDS, currentBoardName } from '../licenses/boards.ts';
import { addTo } from '../licenses/counts.ts';
import { search } from '../storage/checked-search.ts';
import { responseStatus, SearchUnavailableError } from '../storage/errors.ts';
import type { Store } from '../storage/store.ts';
import { liveIndex, type PublicationMetadata, readMetadata } from './metadata.ts';

/** The live publication, as this process knows it. */
export interface LivePublication {
  readonly index: string;
  readonly metadata: PublicationMetadata;
  /** License types by board name: those of the publication; the catalog's for a board without rows. */
  readonly licenseTypes: ReadonlyMap<string, readonly string[]>;
  /** Licenses by board name. */
  readonly licenses: ReadonlyMap<string, number>;
  /** One of its licenses, to see whether lookups find what is there. */
  readonly sample: Sample | undefined;
}

/** Nothing has been published, so nothing can be answered. */
export class NothingPublishedError extends Error {}

export type LivePublicationTracker = ReturnType<typeof trackLivePublication>;

const REFRESH_MS = 1000;

/** Reads the alias once a second. After a failed refresh the last known publication stays; only the first failure is reported. */
export function trackLivePublication(store: Store, onError: (error: unknown) => void) {
  let known: LivePublication | undefined;
  let underWay: Promise<LivePublication | undefined> | undefined;

  async function ask(): Promise<LivePublication | undefined> {
    const index = await liveIndex(store);
    if (index !== known?.index) known = index === undefined ? undefined : await readPublication(store, index);
    return known;
  }

  /** Asks OpenSearch now. Concurrent calls share one request. */
  function refresh(): Promise<LivePublication | undefined> {
    underWay ??= ask().finally(() => {
      underWay = undefined;
    });
    return underWay;
  }

  let isFailing = false;
  async function follow(): Promise<void> {
    try {
      await refresh();
      isFailing = false;
    } catch (error) {
      if (!isFailing) onError(error);
      isFailing = true;
    }
  }

  const timer = setInterval(follow, REFRESH_MS);
  timer.unref();
  /** As last seen; `undefined` before anything was published or seen. */
  const current = () => known;
  return { current, refresh, stop: () => clearInterval(timer) };
}

/**
 * Does all work of one lookup against one publication. If the work fails because the publication's index has been
 * deleted or is being deleted, all of it is done again against the publication that is live now. Nothing is ever taken
 * from two.
 *
 * While OpenSearch deletes an index, a search of it fails with 503 "no shard available", as it does when a node is
 * away; so after any error from OpenSearch the alias decides: is another publication live?
 *
 * @throws {NothingPublishedError} when nothing is live
 */
export async function withLivePublication<Result>(
  tracker: LivePublicationTracker,
  work: (publication: LivePublication) => Promise<Result>,
): Promise<Result> {
  const publication = tracker.current() ?? (await refreshed(tracker));
  try {
    return await work(publication);
  } catch (error) {
    const isFromOpenSearch = responseStatus(error) !== undefined || error instanceof SearchUnavailableError;
    if (!isFromOpenSearch) throw error;
    const live = await refreshed(tracker);
    if (live.index === publication.index) throw error;
    return work(live);
  }
}

/** The publication that is live now. @throws {NothingPublishedError} when nothing is */
async function refreshed(tracker: LivePublicationTracker): Promise<LivePublication> {
  const publication = await tracker.refresh();
  if (publication === undefined) throw new NothingPublishedError('Nothing has been published yet.');
  return publication;
}

const MAX_TYPES = 5000;

const sample = z.object({ board: z.string(), license_number: z.string() });

type Sample = Readonly<z.output<typeof sample>>;

const typesResponse = z.object({
  hits: z.object({ hits: z.array(z.object({ _source: sample })) }),
  aggregations: z.object({
    types: z.object({
      buckets: z.array(
        z.object({
          key: z.object({ board: z.string(), license_type: z.string().nullable() }),
          doc_count: z.int(),
        }),
      ),
    }),
  }),
});

async function readPublication(store: Store, index: string): Promise<LivePublication> {
  const [metadata, response] = await Promise.all([
    readMetadata(store, index),
    search(store.client, typesResponse, {
      index,
      body: {
        size: 1,
        _source: Object.keys(sample.shape),
        aggs: {
          types: {
            composite: {
              size: MAX_TYPES,
              sources: [
                { board: { terms: { field: 'board' } } },
                { license_type: { terms: { field: 'license_type', missing_bucket: true } } },
              ],
            },
          },
        },
      },
    }),
  ]);
  const { buckets } = response.aggregations.types;
  const licenses = new Map<string, number>();
  for (const { key, doc_count: count } of buckets) addTo(licenses, currentBoardName(key.board), count);
  const licenseTypes = BOARDS.map(({ name, license_types: catalog }) => {
    const published = buckets.flatMap(({ key }) =>
      currentBoardName(key.board) === name ? (key.license_type ?? []) : [],
    );
    return [name, licenses.has(name) ? published : catalog.map((type) => type.name)] as const;
  });
  const [first] = response.hits.hits;
  return { index, metadata, licenseTypes: new Map(licenseTypes), licenses, sample: first?._source };
}
