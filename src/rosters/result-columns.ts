import type { Cell } from '../csv.ts';
import { NAME_DOES_NOT_MATCH } from '../licenses/cautions.ts';
import { EXTRA_DATA_LABELS } from '../licenses/extra-data-labels.ts';
import { lastScraped, toResponseRecord } from '../licenses/license-record.ts';
import { notFoundDetail } from '../licenses/not-found.ts';
import type { RosterResult } from './roster.ts';

/** What a result's cells are made of. */
interface ResultCells {
  readonly result_outcome: string;
  readonly result_license_number?: string;
  readonly result_full_name?: string;
  readonly result_license_type?: Cell;
  readonly result_status?: Cell;
  readonly result_raw_status?: Cell;
  readonly result_expiry_date?: Cell;
  readonly result_days_until_expiry?: Cell;
  readonly result_board_action?: Cell;
  readonly result_cautions?: string;
  readonly result_name_match?: string;
  readonly result_found_by?: string;
  readonly result_reason?: string;
  readonly result_matches?: Cell;
  readonly result_detail?: string;
  readonly result_last_scraped: string;
}

/** The columns that an answer adds to a roster. */
export const RESULT_COLUMNS = [
  'result_outcome',
  'result_license_number',
  'result_full_name',
  'result_license_type',
  'result_status',
  'result_raw_status',
  'result_expiry_date',
  'result_days_until_expiry',
  'result_board_action',
  'result_cautions',
  'result_name_match',
  'result_found_by',
  'result_reason',
  'result_matches',
  'result_detail',
  'result_last_scraped',
] as const satisfies readonly (keyof ResultCells)[];

/**
 * The cells of a result, in the order of `RESULT_COLUMNS`.
 *
 * @param publicationDate the run date of the dataset that answered, `YYYY-MM-DD`
 * @param today the date in Ohio
 */
export function resultCells(result: RosterResult, publicationDate: string, today: string): readonly Cell[] {
  const cells: ResultCells = {
    ...outcomeCells(result, publicationDate, today),
    result_outcome: result.outcome,
    result_last_scraped: lastScraped(publicationDate),
  };
  return RESULT_COLUMNS.map((column) => cells[column] ?? null);
}

function outcomeCells(
  result: RosterResult,
  publicationDate: string,
  today: string,
): Omit<ResultCells, 'result_outcome' | 'result_last_scraped'> {
  switch (result.outcome) {
    case 'found': {
      const record = toResponseRecord(result.record, publicationDate, today, result.nameMatch);
      return {
        result_license_number: record.license_number,
        result_full_name: record.full_name,
        result_license_type: record.license_type,
        result_status: record.status,
        result_raw_status: record.raw_status,
        result_expiry_date: record.expiry_date,
        result_days_until_expiry: record.days_until_expiry,
        result_board_action: record.extra_data[EXTRA_DATA_LABELS.boardAction] ?? null,
        result_cautions: record.cautions.join(';'),
        result_found_by: result.foundBy,
        ...(record.name_match !== undefined && { result_name_match: String(record.name_match) }),
        ...(record.name_match === false && { result_detail: NAME_DOES_NOT_MATCH }),
      };
    }
    case 'ambiguous': {
      const numbers = result.matches.map(({ license_number: number }) => number);
      return {
        result_matches: numbers.join('; '),
        result_detail: `${result.truncated ? 'More than ' : ''}${numbers.length} licenses match. Send the number, or more of the name.`,
      };
    }
    case 'not_found':
      return {
        result_detail: notFoundDetail(result.reason, publicationDate),
        ...(result.reason.outcome === 'number_not_found' && { result_reason: result.reason.reason }),
      };
    case 'invalid':
      return { result_detail: result.detail };
  }
}
