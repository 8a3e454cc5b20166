import { activityOf } from '../changes/board-activity.ts';
import { readFeed } from '../changes/stored-feed.ts';
import { BOARDS, currentBoardName } from '../licenses/boards.ts';
import { responseStatus, SearchUnavailableError } from '../storage/errors.ts';
import type { Store } from '../storage/store.ts';
import { lastLivePublication } from './history.ts';
import { readPublishedChanges } from './ledger.ts';
import { anyLicense, byCurrentName, readLicenseTypes } from './license-types.ts';
import { indicesUnderAlias, readMetadata, SeveralLiveError } from './metadata.ts';

/** The live publication as known to this process. */
export type LivePublication = Readonly<Awaited<ReturnType<typeof readPublication>>>;

/** Nothing has been published, so no lookup can be answered. */
export class NothingPublishedError extends Error {}

export type LivePublicationTracker = ReturnType<typeof trackLivePublication>;

/** The part of the tracker that lookups need. */
export type PublicationSource = Pick<LivePublicationTracker, 'current' | 'refresh'>;

const REFRESH_MS = 1000;

/** Missing parts are read again after this time. A feed that could not be read is read again at the next refresh. */
const REREAD_EVERY_MS = 60_000;

const PUBLICATION_UNREAD = 'the live publication cannot be read; the last known one answers';
const FEED_UNREAD = 'the feed of changes cannot be read; lookups are answered without it';

/**
 * Reads the alias once a second. After a failed refresh, the last known publication stays in use. Only the first of
 * several failures is reported.
 *
 * @param onError called with the error and its meaning
 */
export function trackLivePublication(store: Store, onError: (error: unknown, meaning: string) => void) {
  let known: LivePublication | undefined;
  let readAt = 0;
  let problem: string | undefined;
  let underWay: Promise<LivePublication | undefined> | undefined;

  /**
   * Returns the live index. If several are live, it is the one this process already uses; in a process that is
   * starting, it is the one that went live last according to the ledger.
   */
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
  /** The publication as last seen; `undefined` before any was seen. */
  const current = () => known;
  return {
    current,
    /** What an operator must do about the alias; `undefined` if nothing. */
    problem: () => problem,
    refresh,
    stop: () => clearInterval(timer),
  };
}

/**
 * Runs all work of one lookup against a single publication. If the work fails because the publication's index has been
 * or is being deleted, all of it is repeated against the publication that is live by then. Results of two publications
 * are never mixed.
 *
 * While OpenSearch deletes an index, searching it fails with 503 "no shard available", just as when a node is down. So
 * after any error from OpenSearch, the alias decides: the work is repeated if another publication is live.
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

/** Returns the publication that is live now. @throws {NothingPublishedError} when nothing is live */
async function refreshed(tracker: PublicationSource): Promise<LivePublication> {
  const publication = await tracker.refresh();
  if (publication === undefined) throw new NothingPublishedError('Nothing has been published yet.');
  return publication;
}

/** Reads the publication of an index. Until its license types have been counted, the catalog's types are used. */
export async function readPublication(store: Store, index: string) {
  const [metadata, counted] = await Promise.all([readMetadata(store, index), readLicenseTypes(store, index)]);
  const byLabel = Object.entries(metadata.boards ?? {});
  const licenses = byLabel.toSorted(([one], [other]) => (one < other ? -1 : 1));
  const published = Map.groupBy(counted?.types ?? [], ({ board }) => currentBoardName(board));
  const licenseTypes = BOARDS.map(({ name, license_types: catalog }) => {
    const types = published.get(name)?.map(({ license_type }) => license_type);
    return [name, types ?? catalog.map((type) => type.name)] as const;
  });
  const examples = (counted?.types ?? []).map(
    ({ board, license_type: type, license_number: number }) =>
      [`${currentBoardName(board)}/${type}`, number] as const,
  );
  // Lookups work even if the feed or the changes cannot be read.
  let feedError: unknown;
  const feed = await readFeed(store, index, metadata.feed).catch((error: unknown): undefined => {
    feedError = error;
  });
  const changes =
    feed === undefined ? [] : await readPublishedChanges(store, metadata, feed).catch(() => undefined);
  const boards = BOARDS.map(({ name }) => name);
  return {
    ...{ index, metadata },
    /** The feed of changes; `undefined` if it is unknown, as for a publication of version 0.2.0. */
    feed,
    /**
     * The error if the feed could not be read. Lookups are still answered, but without knowing which licenses left the
     * dataset.
     */
    feedError,
    /** License types by board name: the publication's own, or the catalog's for a board without rows. */
    licenseTypes: new Map(licenseTypes),
    /** The number of one license of each type, by `BOARD/TYPE`. Empty until the types have been counted. */
    examples: new Map(examples),
    /** The number of licenses by board name. */
    licenses: byCurrentName(Object.fromEntries(licenses)),
    /** The activity of each board, by its name. It is unknown if the changes could not be read. */
    activity: activityOf(changes ?? [], boards),
    /** One of its licenses, for checking that lookups work. */
    sample: counted?.sample ?? (await anyLicense(store, index)),
    /**
     * Whether everything was read: the feed, the changes, and the counted license types. A publication of version 0.3.0
     * gets these counts when the worker starts.
     */
    isWhole: counted !== undefined && changes !== undefined && feedError === undefined,
  };
}
