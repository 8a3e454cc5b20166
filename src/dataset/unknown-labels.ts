import { type Board, isLicenseTypeOf } from '../licenses/boards.ts';
import { isKnownBoardAction } from '../licenses/discipline.ts';
import { isKnownStatus, isKnownSubStatus } from '../licenses/status.ts';

/** A label that is missing from the catalogs of boards and statuses. */
export interface UnknownLabel {
  readonly kind: 'board' | 'license type' | 'status' | 'sub-status' | 'board action';
  /** The text in the row. A license type has its board's code before it. */
  readonly label: string;
}

/** The labels of one license, as the row has them. */
export interface LicenseLabels {
  readonly type: string;
  readonly status: string;
  readonly subStatus: string;
  readonly boardAction: string;
}

const NO_LABELS: readonly UnknownLabel[] = [];

/**
 * The labels of a row that the catalogs do not have.
 *
 * @param board the catalog's board of the row's label; `undefined` for an unknown label
 * @param licenses the row's own license and its endorsements
 */
export function unknownLabels(
  board: Board | undefined,
  boardLabel: string,
  licenses: readonly LicenseLabels[],
): readonly UnknownLabel[] {
  const labels: UnknownLabel[] = [];
  if (board === undefined) labels.push({ kind: 'board', label: boardLabel });
  for (const { type, status, subStatus, boardAction } of licenses) {
    if (board !== undefined && type !== '' && !isLicenseTypeOf(board, type))
      labels.push({ kind: 'license type', label: `${board.code}: ${type}` });
    if (!isKnownStatus(status)) labels.push({ kind: 'status', label: status });
    if (!isKnownSubStatus(subStatus)) labels.push({ kind: 'sub-status', label: subStatus });
    if (!isKnownBoardAction(boardAction)) labels.push({ kind: 'board action', label: boardAction });
  }
  return labels.length === 0 ? NO_LABELS : labels;
}
