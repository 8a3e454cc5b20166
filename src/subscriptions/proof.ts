import { toResponseRecord } from '../answers/view.ts';
import { changesOfLicense } from '../changes/change.ts';
import { coverageOf, type FeedEntry, switchesOf } from '../changes/feed.ts';
import { type Changes, isSameFeed, type LiveFeed, readFromOne } from '../changes/service.ts';
import { boardByLabel } from '../licenses/boards.ts';
import { daysBefore, daysBetween } from '../licenses/dates.ts';
import { licenseId } from '../licenses/license.ts';
import type { Lookups } from '../lookup/service.ts';
import type { Subscription } from './subscription.ts';

/** A comparison of all licenses with the publication that was live before. */
type Comparison = Pick<FeedEntry, 'date' | 'at' | 'withdrawn'>;

/**
 * Returns the days on which a watched license was compared, as run dates of datasets, `YYYY-MM-DD`.
 *
 * @param comparisons the known comparisons, the earliest first
 * @param start the run date of the dataset with which the earliest comparison was made
 * @param createdAt when the subscription was created
 * @param until the last day that can count as missed
 * @returns `coverage_start` is the run date of the dataset that was live when the subscription was created, or since
 * which comparisons are known. Each later day is either compared or missed. A missed day whose comparison was undone is
 * also in `withdrawn`
 */
export function watchedDays(
  comparisons: readonly Comparison[],
  { start, createdAt, until }: Readonly<Record<'start' | 'createdAt' | 'until', string>>,
) {
  const coverage_start = comparisons.findLast(({ at }) => at <= createdAt)?.date ?? start;
  const later = comparisons.filter(({ at }) => at > createdAt);
  const byDay = Map.groupBy(later, ({ date }) => date);
  const isCompared = (day: string) => byDay.get(day)?.some((each) => !each.withdrawn) === true;
  const length = daysBetween(coverage_start, until);
  const days = Array.from({ length }, (_, at) => daysBefore(coverage_start, -at - 1));
  const missed = days.filter((day) => !isCompared(day));
  const withdrawn = missed.filter((day) => byDay.has(day));
  return { coverage_start, compared: days.filter(isCompared), missed, withdrawn };
}

export type WatchProofs = ReturnType<typeof watchProofs>;

/** @param feed asks OpenSearch for the live publication and its feed */
export function watchProofs(
  feed: () => Promise<LiveFeed>,
  { lookups, changes: feedChanges }: { readonly lookups: Lookups; readonly changes: Changes },
) {
  /**
   * Returns what is known about a license since the account subscribed to it, all from one publication.
   *
   * @returns `undefined` if its board is no longer in the catalog
   * @throws {SearchUnavailableError} when OpenSearch does not answer
   */
  return async function proofOf(watched: Subscription) {
    const board = boardByLabel(watched.board);
    if (board === undefined) return undefined;
    const { license_number: number, created_at: createdAt } = watched;
    return readFromOne(async () => {
      const live = await feed();
      const { publication, state } = live;
      const { changes, since } = await feedChanges.ofNumber(board, number);
      const found = await lookups.lookUp({ by: 'number', number, board, businessOnly: false });
      if (found.publication !== publication || !isSameFeed(live, await feed())) return undefined;
      const { date, today, files, isSampleData: sample, outcome } = found;
      const record = outcome.outcome === 'found' ? outcome.record : undefined;
      // For a license with too many changes, not all are listed. The proof then begins at the first listed change.
      const comparisons = switchesOf(state).filter((each) => each.date >= since);
      const later = new Set(switchesOf(state).flatMap(({ at, epoch }) => (at > createdAt ? [epoch] : [])));
      const until = daysBetween(date, today) > 1 ? daysBefore(today, 1) : date;
      const days = watchedDays(comparisons, { start: since, createdAt, until });
      // The record may belong to another license with a similar number.
      const isIt = record !== undefined && licenseId(record.board, record.license_number) === watched.license;
      return {
        ...{ publication, date, sample, files, today, ...days },
        gaps: coverageOf(state).gaps.filter(({ before }) => before > days.coverage_start),
        record: isIt ? toResponseRecord(record, found) : null,
        changes: changesOfLicense(changes, number).filter(({ epoch }) => later.has(epoch)),
      };
    });
  };
}
