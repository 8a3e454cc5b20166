import { type Cell, type CsvFormat, type ListFormat, spreadsheetCsv } from '../csv.ts';
import { NAME_DOES_NOT_MATCH } from '../licenses/cautions.ts';
import {
  lastScraped,
  type RecordOrigin,
  type ResponseRecord,
  toResponseRecord,
} from '../licenses/license.ts';
import { isMiss, type Miss } from '../licenses/lookup.ts';
import { notFoundDetail, reasonOf } from '../licenses/not-found.ts';
import { EXTRA_DATA_LABELS } from '../licenses/status.ts';
import type { Table } from './list.ts';
import { type RosterResult, rosterOutcome } from './roster.ts';
import type { AnswerFormat } from './service.ts';

const BYTE_ORDER_MARK = '\ufeff';

/** What an answer repeats of a roster. */
export type AnsweredTable = Pick<Table, 'columns' | 'rows'> & { readonly format: Omit<ListFormat, 'quotes'> };

/** What a row of an answer is made of. */
interface Answered {
  readonly result: RosterResult;
  readonly origin: RecordOrigin;
  /** What was found. */
  readonly record: ResponseRecord | undefined;
  readonly miss: Miss | undefined;
}

/** The columns that an answer adds to a roster, and what each has. */
const RESULT_CELLS: Readonly<Record<string, (row: Answered) => Cell | undefined>> = {
  result_outcome: ({ result }) => rosterOutcome(result.outcome),
  result_license_number: ({ record }) => record?.license_number,
  result_full_name: ({ record }) => record?.full_name,
  result_license_type: ({ record }) => record?.license_type,
  result_status: ({ record }) => record?.status,
  result_raw_status: ({ record }) => record?.raw_status,
  result_expiry_date: ({ record }) => record?.expiry_date,
  result_days_until_expiry: ({ record }) => record?.days_until_expiry,
  result_board_action: ({ record }) => record?.extra_data[EXTRA_DATA_LABELS.boardAction],
  result_cautions: ({ record }) => record?.cautions.join(';'),
  result_name_match: ({ record }) => record?.name_match?.toString(),
  result_found_by: ({ result, record }) => record && result.foundBy,
  result_reason: ({ miss }) => (miss?.request.by === 'number' ? reasonOf(miss) : undefined),
  result_matches: ({ result }) => severalOf(result).join('; '),
  result_detail: detailOf,
  result_last_scraped: ({ origin }) => lastScraped(origin.date),
};

export const RESULT_COLUMNS = Object.keys(RESULT_CELLS);

/** Whether a column is of the answer to an earlier roster. */
export function isResultColumn(column: string): boolean {
  return Object.hasOwn(RESULT_CELLS, column);
}

function severalOf({ outcome }: RosterResult): string[] {
  return outcome.outcome === 'several' ? outcome.records.map(({ license_number: number }) => number) : [];
}

function detailOf({ result, origin, record, miss }: Answered): string | undefined {
  const { outcome } = result;
  if (outcome.outcome === 'invalid') return outcome.detail;
  if (outcome.outcome === 'several') {
    return `${outcome.truncated ? 'More than ' : ''}${outcome.records.length} licenses match. Send the number, or more of the name.`;
  }
  if (miss !== undefined) return notFoundDetail(miss, origin.date);
  return record?.name_match === false ? NAME_DOES_NOT_MATCH : undefined;
}

/** The cells of a result, in the order of `RESULT_COLUMNS`. */
function resultCells(result: RosterResult, origin: RecordOrigin): readonly Cell[] {
  const { outcome } = result;
  const record =
    outcome.outcome === 'found' ? toResponseRecord(outcome.record, origin, outcome.nameMatch) : undefined;
  const row = { result, origin, record, miss: isMiss(outcome) ? outcome : undefined };
  return Object.values(RESULT_CELLS).map((cell) => cell(row) ?? null);
}

/** How CSV is written in answer to a list: with commas, unless it has semicolons. */
export function csvFormat({ separator, newline }: Pick<ListFormat, 'separator' | 'newline'>): CsvFormat {
  return { delimiter: separator === ';' ? ';' : ',', newline };
}

/** The answer to a roster as a table: its rows and columns in their order, with the columns of the results. */
export function answerTable({ columns, rows, format }: AnsweredTable): AnswerFormat<Buffer> {
  const written = csvFormat(format);
  const kept = [...columns.keys()].filter((at) => !isResultColumn(columns[at] ?? ''));
  const keptCells = (cells: readonly string[]) => kept.map((at) => cells[at] ?? '');
  return {
    shape: (results, origin) =>
      Buffer.from(
        spreadsheetCsv(
          results.map((result) => [
            ...keptCells(rows[result.index]?.cells ?? []),
            ...resultCells(result, origin),
          ]),
          written,
        ),
      ),
    parts: ({ shaped }) => [
      Buffer.from(format.hasByteOrderMark ? BYTE_ORDER_MARK : ''),
      Buffer.from(spreadsheetCsv([[...keptCells(columns), ...RESULT_COLUMNS]], written)),
      ...shaped,
    ],
  };
}
