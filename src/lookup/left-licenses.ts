import { LRUCache } from 'lru-cache';
import type { StoredChange } from '../changes/change.ts';
import type { FeedState } from '../changes/feed.ts';
import { lastChangesOfNumbers } from '../changes/service.ts';
import { type Board, boardByLabel, currentBoardName } from '../licenses/boards.ts';
import { MAX_FOLDED_CHARACTERS, numberKey } from '../licenses/fold.ts';
import type { LookupOutcome, LookupRequest, Miss, NumberRequest } from '../licenses/lookup.ts';
import { boardsOfLetters, isSurelyNumber } from '../licenses/number-forms.ts';
import type { LivePublication } from '../publications/live.ts';
import type { PublicationMetadata } from '../publications/metadata.ts';
import { rejectedNumbers } from '../publications/rejected-rows.ts';
import { batcher, withTimeout } from '../storage/batcher.ts';
import type { Store } from '../storage/store.ts';
import { nearNumberQuery } from './queries.ts';
import type { PublicationSearch } from './search.ts';
import { exactOf, none } from './steps.ts';
import { offeredNumbers } from './suggestions.ts';

/** How many misses share one search for their numbers. */
const NUMBERS_A_SEARCH = 250;

/** If reading the feed takes longer, the answer says that it could not be read. */
const MAX_WAIT_MS = 1500;

/**
 * Adds to an outcome whether the number left the dataset, according to the feed of the publication that answered, or is
 * in a row that this publication rejected.
 */
export function withLeftLicenses(store: Store, searchOf: (index: string) => PublicationSearch) {
  const lastChangesIn = new LRUCache({
    max: 1,
    memoMethod: (state: FeedState) =>
      batcher(
        async (numbers: readonly string[]) => {
          const found = await lastChangesOfNumbers(store, state, [...new Set(numbers)]);
          return numbers.map((number) => found.get(number) ?? []);
        },
        { maxBatchSize: NUMBERS_A_SEARCH, concurrency: 4 },
      ),
  });
  const rejected = new LRUCache<string, ReadonlySet<string>, PublicationMetadata>({
    max: 1,
    // Rows also have digits that are not license numbers, such as ZIP codes and dates.
    fetchMethod: (_publication, _stale, { context }) => rejectedNumbers(store, context, isSurelyNumber),
  });

  /** Whether a row that the publication rejected has the number. */
  async function isRejected(key: string, metadata: PublicationMetadata): Promise<boolean> {
    return (await rejected.fetch(metadata.publication, { context: metadata }))?.has(key) === true;
  }

  /**
   * For a number that left the dataset, suggests the numbers that differ only in zeros, because the State may have
   * padded the number in another way.
   */
  async function withPadded(miss: Miss, request: NumberRequest, index: string): Promise<Miss> {
    if (miss.reason !== 'removed') return miss;
    const { licenses } = await searchOf(index).search(nearNumberQuery(request));
    const padded = licenses.filter(
      ({ board, license_number: each }) =>
        miss.boards?.includes(board) === true && withoutZeros(each) === withoutZeros(request.number),
    );
    return padded.length === 0 ? miss : { ...miss, ...offeredNumbers(request, padded) };
  }

  return async (
    request: LookupRequest,
    outcome: LookupOutcome,
    live: LivePublication,
  ): Promise<LookupOutcome> => {
    const { feed: state, feedError, metadata, index } = live;
    if (request.by !== 'number' || outcome.outcome === 'several') return outcome;
    const number = numberKey(request.number);
    if (number === '' || number.length > MAX_FOLDED_CHARACTERS) return outcome;
    const boards = boardsOfLetters(request.number);
    if (outcome.outcome === 'found') {
      if (request.board !== undefined || boards.length < 2) return outcome;
      // The other board's row may be unreadable. If the rejected rows cannot be read, the answer also asks for the
      // board.
      const isOfSeveral = await withTimeout(isRejected(number, metadata), MAX_WAIT_MS).catch(() => true);
      return isOfSeveral ? ofSeveralBoards(request, outcome, boards) : outcome;
    }
    if (outcome.reason !== 'unknown' && outcome.reason !== 'other_board') return outcome;
    // A rejected row may repeat a number that was loaded. If another board has the number, the answer says so.
    const isOthers = outcome.reason === 'other_board' && !boards.some((each) => each === request.board);
    let left: Miss | undefined;
    try {
      if (feedError !== undefined) throw feedError;
      const [changes, isUnreadable] = await withTimeout(
        Promise.all([
          state === undefined ? [] : lastChangesIn.memo(state)(number),
          isRejected(number, metadata),
        ]),
        MAX_WAIT_MS,
      );
      left =
        isUnreadable && !isOthers
          ? none(request, 'unreadable')
          : leftBy(request, changes, metadata.publication);
    } catch {
      return { ...outcome, isFeedUnread: true };
    }
    return left === undefined ? outcome : withPadded(left, request, index);
  };
}

/** The key of a number without the zeros before its digits. Boards pad the same number in different ways. */
function withoutZeros(written: string): string {
  return numberKey(written.replace(/(?<!\d)0+/g, ''));
}

/**
 * The ambiguous miss for a license that was found although another board with such numbers has an unreadable row with
 * the number.
 */
function ofSeveralBoards(
  request: NumberRequest,
  { record, nameMatch }: Extract<LookupOutcome, { outcome: 'found' }>,
  boards: readonly Board[],
): Miss {
  const didYouMean = [record.license_number];
  const names = boards.map(({ name }) => name).toSorted();
  const miss = { ...none(request, 'ambiguous'), didYouMean, offered: [record], boards: names };
  return nameMatch === undefined ? miss : { ...miss, ofTheName: nameMatch ? didYouMean : [] };
}

/**
 * The miss of a number that left the dataset.
 *
 * @param changes the last change of each license with the number, newest first
 * @param publication the publication that answers
 */
export function leftBy(
  request: NumberRequest,
  changes: readonly StoredChange[],
  publication: string,
): Miss | undefined {
  const { board } = request;
  // A license whose number the State now writes in another way has not left the dataset.
  const gone = changes.filter(({ kind, renumbered_to: now }) => kind === 'removed' && now === undefined);
  const removed = gone.filter((each) => board === undefined || boardByLabel(each.board) === board);
  const [last, another] = exactOf(removed, request);
  if (last === undefined || (last.cause !== 'data' && last.cause !== 'rejected_row')) return undefined;
  // There are no suggestions: the number was once valid, so it is not a typing mistake.
  if (last.cause === 'rejected_row') {
    // A later dataset may no longer have the unreadable row. That causes no change in the feed, because no license
    // changes.
    const isSince = last.publication !== publication;
    return { ...none(request, 'unreadable'), ...(isSince && { unreadableIn: last.date }) };
  }
  // If several licenses had the number, the facts of one of them would mislead.
  const only = another === undefined ? last : undefined;
  const left = {
    last_in_dataset: only?.last_in_dataset ?? null,
    last_raw_status: only?.fields.raw_status?.before ?? null,
  };
  return { ...none(request, 'removed'), left, boards: [currentBoardName(last.board)] };
}
