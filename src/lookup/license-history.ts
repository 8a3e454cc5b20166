import { changesOfOne } from '../changes/change.ts';
import type { Changes, NumberChanges } from '../changes/service.ts';
import type { Board } from '../licenses/boards.ts';
import type { LicenseRecord } from '../licenses/license-record.ts';
import { SearchUnavailableError } from '../storage/errors.ts';
import type { DatedOutcome, Lookups } from './service.ts';

/** A license as it is now, and what changed in it. */
export interface LicenseHistory extends DatedOutcome, Omit<NumberChanges, 'publication'> {
  /** The license's number as the board writes it; `undefined` for a number that was never seen. */
  readonly licenseNumber: string | undefined;
  /** The license as it is now; `undefined` when it is not in the dataset. */
  readonly record: LicenseRecord | undefined;
}

const MAX_TRIES = 3;

/**
 * The history of a license of one board. Everything is from the same publication.
 *
 * @param spentMs how long the request has already taken
 * @throws as `Lookups.lookUp` and `Changes.ofNumber`
 */
export async function licenseHistory(
  { lookups, changes }: { readonly lookups: Lookups; readonly changes: Changes },
  { board, number }: { readonly board: Board; readonly number: string },
  spentMs = 0,
): Promise<LicenseHistory> {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const [found, ofNumber] = await Promise.all([
      lookups.lookUp({ by: 'number', number, board, businessOnly: false }, spentMs),
      changes.ofNumber(board, number),
    ]);
    // Reading the changes makes lookups that begin later answer from the same publication, or from a newer one.
    if (found.publication === ofNumber.publication) return historyOf(found, ofNumber, number);
  }
  throw new SearchUnavailableError('Publications went live faster than a history could be read.');
}

function historyOf(
  found: DatedOutcome,
  { changes, since, gaps }: NumberChanges,
  number: string,
): LicenseHistory {
  const { outcome } = found;
  const record = outcome.outcome === 'found' ? outcome.record : undefined;
  const listed =
    record === undefined
      ? changesOfOne(changes, number)
      : changes.filter((change) => change.license_number === record.license_number);
  return {
    ...found,
    since,
    gaps,
    licenseNumber: record?.license_number ?? listed[0]?.license_number,
    record,
    changes: listed,
  };
}
