import { activityOf } from '../changes/board-activity.ts';
import { readFeed } from '../changes/stored-feed.ts';
import { BOARDS, currentBoardName } from '../licenses/boards.ts';
import { responseStatus, SearchUnavailableError } from '../storage/errors.ts';
import type { Store } from '../storage/store.ts';
import { lastLivePublication } from './history.ts';
import { readPublishedChanges } from './ledger.ts';
import { anyLicense, byCurrentName, readLicenseTypes } from './license-types.ts';
import { indicesUnderAlias, readMetadata, SeveralLiveError } from './metadata.ts';

/** The live publication, as this process knows it. */
export type LivePublication = Readonly<Awaited<ReturnType<typeof readPublication>>>;

/** Nothing has been published, so nothing can be answered. */
export class NothingPublishedError extends Error {}

export type LivePublicationTracker = ReturnType<typeof trackLivePublication>;

/** What lookups need to know which publication answers. */
export type PublicationSource = Pick<LivePublicationTracker, 'current' | 'refresh'>;

const REFRESH_MS = 1000;

/** What was missing is looked for again after this long; a feed that could not be read, at the next refresh. */
const REREAD_EVERY_MS = 60_000;

const PUBLICATION_UNREAD = 'the live publication can not be read; the last known one answers';
const FEED_UNREAD = 'the feed of changes can not be read; lookups are answered without it';

/**
 * Reads the alias once a second. After a failed refresh the last known publication stays; only the first failure is
 * reported.
 *
 * @param onError gets an error and what it means
 */
export function trackLivePublication(store: Store, onError: (error: unknown, meaning: string) => void) {
  let known: LivePublication | undefined;
  let readAt = 0;
  let problem: string | undefined;
  let underWay: Promise<LivePublication | undefined> | undefined;

  /** Of several, the one that answers from now; in a process that starts, the one that went live last by the ledger. */
  async function theLiveIndex(): Promise<string | undefined> {
    const indices = await indicesUnderAlias(store);
    const several = indices.length > 1 ? new SeveralLiveError(indices) : undefined;
    problem = several?.message;
    if (several === undefined) return indices[0];
    if (known !== undefined && indices.includes(known.index)) return known.index;
    const last = (await lastLivePublication(store))?.index;
    if (last === undefined || !indices.includes(last)) throw several;
    return last;
  }

  async function ask(): Promise<LivePublication | undefined> {
    const index = await theLiveIndex();
    const wasUnread = known?.feedError !== undefined;
    const isRecent = known?.isWhole === true || (!wasUnread && performance.now() - readAt < REREAD_EVERY_MS);
    if (index === known?.index && isRecent) return known;
    known = index === undefined ? undefined : await readPublication(store, index);
    if (!wasUnread && known?.feedError !== undefined) onError(known.feedError, FEED_UNREAD);
    readAt = performance.now();
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
      if (!isFailing) onError(error, PUBLICATION_UNREAD);
      isFailing = true;
    }
  }

  const timer = setInterval(follow, REFRESH_MS);
  timer.unref();
  /** As last seen; `undefined` before anything was published or seen. */
  const current = () => known;
  return {
    current,
    /** What an operator must do about the alias, if anything. */
    problem: () => problem,
    refresh,
    stop: () => clearInterval(timer),
  };
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
  tracker: PublicationSource,
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
async function refreshed(tracker: PublicationSource): Promise<LivePublication> {
  const publication = await tracker.refresh();
  if (publication === undefined) throw new NothingPublishedError('Nothing has been published yet.');
  return publication;
}

/** The publication of an index. Its types are the catalog's until they have been counted. */
export async function readPublication(store: Store, index: string) {
  const [metadata, counted] = await Promise.all([readMetadata(store, index), readLicenseTypes(store, index)]);
  const byLabel = Object.entries(metadata.boards ?? {});
  const licenses = byLabel.toSorted(([one], [other]) => (one < other ? -1 : 1));
  const published = Map.groupBy(counted?.types ?? [], ({ board }) => currentBoardName(board));
  const licenseTypes = BOARDS.map(({ name, license_types: catalog }) => {
    const types = published.get(name)?.map(({ license_type }) => license_type);
    return [name, types ?? catalog.map((type) => type.name)] as const;
  });
  // Lookups do not wait for a feed or changes that cannot be read.
  let feedError: unknown;
  const feed = await readFeed(store, index, metadata.feed).catch((error: unknown): undefined => {
    feedError = error;
  });
  const changes =
    feed === undefined ? [] : await readPublishedChanges(store, metadata, feed).catch(() => undefined);
  const boards = BOARDS.map(({ name }) => name);
  return {
    ...{ index, metadata },
    /** The feed of changes; `undefined` where it is not known, as for a publication of version 0.2.0. */
    feed,
    /** Why the feed could not be read, if so: lookups are answered, and nobody knows what left the dataset. */
    feedError,
    /** License types by board name: those of the publication; the catalog's for a board without rows. */
    licenseTypes: new Map(licenseTypes),
    /** Licenses by board name. */
    licenses: byCurrentName(Object.fromEntries(licenses)),
    /** How active each board is, by its name; nothing is known of it where the changes could not be read. */
    activity: activityOf(changes ?? [], boards),
    /** One of its licenses, to see whether lookups find what is there. */
    sample: counted?.sample ?? (await anyLicense(store, index)),
    /**
     * Whether its licenses have been counted, as those of version 0.3.0 are once its worker has started, and feed and
     * changes were read.
     */
    isWhole: counted !== undefined && changes !== undefined && feedError === undefined,
  };
}
