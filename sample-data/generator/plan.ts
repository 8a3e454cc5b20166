import { z } from 'zod';
import { BOARDS, type LicenseType } from '../../src/licenses/boards.ts';
import proportionsJson from '../data/proportions.json' with { type: 'json' };

/** By board code, then license type: how many thousands of rows or numbered endorsements the State's files have. */
const PROPORTIONS = z.record(z.string(), z.record(z.string(), z.number().positive())).parse(proportionsJson);

/** Each type has at least this many licenses, however small the files. */
const FEWEST = 3;

/** For a type that is in the catalog of boards but not in the proportions. */
const UNKNOWN_THOUSANDS = 0.5;

/** The number of licenses of one type in the sample. */
export interface PlannedType {
  readonly boardName: string;
  readonly boardCode: string;
  readonly type: LicenseType;
  /** The number of rows; for an endorsement, the number of endorsements in rows of the endorsed type. */
  readonly count: number;
}

/** One board's license types, in the catalog's order. */
export interface PlannedBoard {
  readonly types: readonly PlannedType[];
}

/**
 * Distributes exactly `rows` rows among all license types that have rows of their own, with at least a few for each,
 * and plans a proportional number of endorsements.
 */
export function planBoards(rows: number): PlannedBoard[] {
  const all = BOARDS.map((board) =>
    board.license_types.map((type) => ({
      boardName: board.name,
      boardCode: board.code,
      type,
      thousands: PROPORTIONS[board.code]?.[type.name] ?? UNKNOWN_THOUSANDS,
    })),
  );
  const withRows = all.flat().filter(({ type }) => type.endorses === undefined);
  const thousands = withRows.reduce((sum, entry) => sum + entry.thousands, 0);
  const shared = rows - FEWEST * withRows.length;
  const countOf = (entry: { thousands: number }) =>
    FEWEST + Math.floor((shared * entry.thousands) / thousands);
  const largest = withRows.reduce((most, entry) => (entry.thousands > most.thousands ? entry : most));
  const leftOver = rows - withRows.reduce((sum, entry) => sum + countOf(entry), 0);

  return all.map((types) => ({
    types: types.map((entry) => ({
      boardName: entry.boardName,
      boardCode: entry.boardCode,
      type: entry.type,
      count: countOf(entry) + (entry === largest ? leftOver : 0),
    })),
  }));
}
