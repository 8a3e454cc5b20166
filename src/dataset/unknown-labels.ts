import { type Board, isLicenseTypeOf } from '../licenses/boards.ts';
import { isKnownStatus, isKnownSubStatus } from '../licenses/status.ts';

/** A label that is missing from the catalogs of boards and statuses. */
export interface UnknownLabel {
  readonly kind: 'board' | 'license type' | 'status' | 'sub-status';
  /** The text in the row. A license type has its board's code before it. */
  readonly label: string;
}

const NO_LABELS: readonly UnknownLabel[] = [];

/**
 * The labels of a row that the catalogs do not have.
 *
 * @param board the catalog's board of the row's label; `undefined` for an unknown label
 * @param types the license types of the row and of its endorsements
 */
export function unknownLabels(
  board: Board | undefined,
  row: { readonly board: string; readonly status: string; readonly subStatus: string },
  types: readonly string[],
): readonly UnknownLabel[] {
  const labels: UnknownLabel[] = [];
  if (board === undefined) labels.push({ kind: 'board', label: row.board });
  else {
    for (const type of types) {
      if (type !== '' && !isLicenseTypeOf(board, type))
        labels.push({ kind: 'license type', label: `${board.code}: ${type}` });
    }
  }
  if (!isKnownStatus(row.status)) labels.push({ kind: 'status', label: row.status });
  if (!isKnownSubStatus(row.subStatus)) labels.push({ kind: 'sub-status', label: row.subStatus });
  return labels.length === 0 ? NO_LABELS : labels;
}
