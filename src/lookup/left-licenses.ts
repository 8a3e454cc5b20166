import { LRUCache } from 'lru-cache';
import type { StoredChange } from '../changes/change.ts';
import type { FeedState } from '../changes/feed.ts';
import { lastChangesOfNumbers } from '../changes/service.ts';
import { boardByLabel } from '../licenses/boards.ts';
import { isExactNumber, MAX_FOLDED_CHARACTERS, numberKey } from '../licenses/fold.ts';
import type { Miss, NumberRequest } from '../licenses/lookup.ts';
import { isSurelyNumber } from '../licenses/number-forms.ts';
import type { LivePublication } from '../publications/live.ts';
import type { PublicationMetadata } from '../publications/metadata.ts';
import { rejectedNumbers } from '../publications/rejected-rows.ts';
import { batcher, withTimeout } from '../storage/batcher.ts';
import type { Store } from '../storage/store.ts';

/** One search asks for the numbers of this many misses. */
const NUMBERS_A_SEARCH = 250;

/** A feed that takes longer is not waited for: the answer says that it could not be read. */
const MAX_WAIT_MS = 1500;

interface Asked {
  readonly state: FeedState;
  readonly number: string;
}

/**
 * Says of a miss whether the number left the dataset, as the feed of the publication that answered has it, or is in a row
 * that this publication rejected.
 */
export type WithLeft = (miss: Miss, live: LivePublication) => Promise<Miss>;

/** One for single lookups, and one for lists: neither waits for the other's searches. */
export function withLeftLicenses(store: Store): WithLeft {
  const lastChanges = batcher(
    async (asked: readonly Asked[]) => {
      const byState = Map.groupBy(asked, ({ state }) => state);
      const found = new Map(
        [...byState].map(([state, ofState]) => {
          const numbers = [...new Set(ofState.map(({ number }) => number))];
          return [state, lastChangesOfNumbers(store, state, numbers)] as const;
        }),
      );
      return asked.map(async ({ state, number }) => (await found.get(state))?.get(number) ?? []);
    },
    { maxBatchSize: NUMBERS_A_SEARCH, concurrency: 4 },
  );
  const rejected = new LRUCache<string, ReadonlySet<string>, PublicationMetadata>({
    max: 1,
    // Rows have other digits, too: ZIP codes and dates.
    fetchMethod: (_publication, _stale, { context }) => rejectedNumbers(store, context, isSurelyNumber),
  });

  /** Whether a row that the publication rejected has the number. */
  async function isRejected(key: string, metadata: PublicationMetadata): Promise<boolean> {
    return (await rejected.fetch(metadata.publication, { context: metadata }))?.has(key) === true;
  }

  return async (miss, { feed: state, feedError, metadata }) => {
    const { request, reason } = miss;
    if (request.by !== 'number' || (reason !== 'unknown' && reason !== 'other_board')) return miss;
    const number = numberKey(request.number);
    if (number === '' || number.length > MAX_FOLDED_CHARACTERS) return miss;
    try {
      if (feedError !== undefined) throw feedError;
      const [changes, isUnreadable] = await withTimeout(
        Promise.all([
          state === undefined ? [] : lastChanges({ state, number }),
          // A rejected row may repeat a number that was loaded: then a board has it.
          reason === 'unknown' && isRejected(number, metadata),
        ]),
        MAX_WAIT_MS,
      );
      if (isUnreadable) return { outcome: 'none', request, reason: 'unreadable', didYouMean: [] };
      return leftBy(request, changes, metadata.publication) ?? miss;
    } catch {
      return { ...miss, isFeedUnread: true };
    }
  };
}

type LastChange = Pick<
  StoredChange,
  | 'kind'
  | 'cause'
  | 'board'
  | 'license_number'
  | 'last_in_dataset'
  | 'fields'
  | 'publication'
  | 'date'
  | 'renumbered_to'
>;

/**
 * The miss of a number that left the dataset.
 *
 * @param changes the last of each license with it, the newest first
 * @param publication the one that answers
 */
export function leftBy(
  request: NumberRequest,
  changes: readonly LastChange[],
  publication: string,
): Miss | undefined {
  const { board, number } = request;
  // One whose number the State writes in another way has not left.
  const left = changes.filter(({ kind, renumbered_to: now }) => kind === 'removed' && now === undefined);
  const removed = left.filter((each) => board === undefined || boardByLabel(each.board) === board);
  const exact = removed.filter(({ license_number: written }) => isExactNumber(number, written));
  const [last, another] = exact.length > 0 ? exact : removed;
  if (last === undefined || (last.cause !== 'data' && last.cause !== 'rejected_row')) return undefined;
  // A number that was not found may be near others. One that was known is none of them.
  const miss = { outcome: 'none', request, didYouMean: [] } as const;
  if (last.cause === 'rejected_row') {
    // A row that can't be read may be gone the day after: that changes no license.
    const isSince = last.publication !== publication;
    return { ...miss, reason: 'unreadable', ...(isSince && { unreadableIn: last.date }) };
  }
  // What is told of one is not told of several.
  const only = another === undefined ? last : undefined;
  const lastRawStatus = only?.fields.raw_status?.before ?? null;
  const lastInDataset = only?.last_in_dataset ?? null;
  return { ...miss, reason: 'removed', left: { lastInDataset, lastRawStatus } };
}
