import type { HistoryChange } from '../changes/change.ts';
import type { HistoryGap } from '../changes/feed-state.ts';
import { changesOfOne } from '../changes/history.ts';
import type { Changes } from '../changes/service.ts';
import type { Board } from '../licenses/boards.ts';
import type { LicenseRecord } from '../licenses/license-record.ts';
import type { DatedOutcome, Lookups } from './service.ts';

/** A license as it is now, and what changed in it. */
export interface LicenseHistory extends DatedOutcome {
  /** Changes are known since the dataset of this date, `YYYY-MM-DD`. */
  readonly since: string;
  /** The times of which changes are not known. */
  readonly gaps: readonly HistoryGap[];
  /** The license's number as the board writes it; `undefined` for a number that was never seen. */
  readonly licenseNumber: string | undefined;
  /** The license as it is now; `undefined` when it is not in the dataset. */
  readonly record: LicenseRecord | undefined;
  /** The newest first. */
  readonly changes: readonly HistoryChange[];
}

/**
 * The history of a license of one board. Everything is from the same publication.
 *
 * @param spentMs how long the request has already taken
 * @throws as `Lookups.lookUp` and `Changes.history`
 */
export async function licenseHistory(
  { lookups, changes }: { readonly lookups: Lookups; readonly changes: Changes },
  { board, number }: { readonly board: Board; readonly number: string },
  spentMs = 0,
): Promise<LicenseHistory> {
  const found = await changes.history({ board, number }, () =>
    lookups.lookUp({ by: 'number', number, board, businessOnly: false }, spentMs),
  );
  const { outcome } = found.result;
  const record = outcome.outcome === 'found' ? outcome.record : undefined;
  const listed =
    record === undefined
      ? changesOfOne(found.changes, number)
      : found.changes.filter((change) => change.license_number === record.license_number);
  return {
    ...found.result,
    since: found.since,
    gaps: found.gaps,
    licenseNumber: record?.license_number ?? listed[0]?.license_number,
    record,
    changes: listed,
  };
}
