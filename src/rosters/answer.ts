import { dataAgeDays, lastScraped } from '../answers/origin.ts';
import { type MissFacts, needOf, type ResponseRecord, sentencesOf, type View } from '../answers/view.ts';
import { NEED_WORDS } from '../answers/words.ts';
import { type Cell, type CsvFormat, type ListFormat, spreadsheetCsv } from '../csv.ts';
import { boardAction, hasBoardAction, isBoardActionGiven } from '../licenses/standing.ts';
import type { Table } from './list.ts';
import type { AnswerFormat } from './service.ts';

const BYTE_ORDER_MARK = '\ufeff';

/** The parts of a roster that its answer repeats. */
export type AnsweredTable = Pick<Table, 'columns' | 'rows'> & { readonly format: Omit<ListFormat, 'quotes'> };

/** The columns that an answer adds to a roster, with the function for each cell. */
const RESULT_CELLS: Readonly<Record<string, (view: View) => Cell | undefined>> = {
  result_outcome: ({ outcome }) => outcome,
  result_verdict: (view) => NEED_WORDS[needOf(view)],
  result_license_number: (view) => recordOf(view)?.license_number,
  result_full_name: (view) => recordOf(view)?.full_name,
  result_license_type: (view) => recordOf(view)?.license_type,
  result_status: (view) => recordOf(view)?.status,
  result_raw_status: (view) => recordOf(view)?.raw_status,
  result_expiry_date: (view) => recordOf(view)?.expiry_date,
  result_days_until_expiry: (view) => recordOf(view)?.days_until_expiry,
  result_board_action: (view) => boardActionOf(recordOf(view)),
  result_cautions: (view) => recordOf(view)?.cautions.join(';'),
  result_notes: (view) => recordOf(view)?.notes.join(';'),
  result_name_match: (view) => recordOf(view)?.name_match?.toString(),
  result_found_by: (view) => recordOf(view) && view.foundBy,
  result_reason: (view) => factsOf(view).reason,
  result_last_in_dataset: (view) => factsOf(view).last_in_dataset,
  result_last_raw_status: (view) => factsOf(view).last_raw_status,
  result_matches: ({ outcome, records }) =>
    outcome === 'ambiguous' ? records.map(({ license_number: number }) => number).join('; ') : '',
  result_detail: (view) => sentencesOf(view, 'rest').join(' '),
  result_last_scraped: ({ origin }) => lastScraped(origin.date),
  result_data_age_days: ({ origin }) => dataAgeDays(origin),
};

function recordOf(view: View): ResponseRecord | undefined {
  return view.outcome === 'found' ? view.record : undefined;
}

/** A disciplinary status counts as a board action, even if the State's column says No. */
function boardActionOf(record: ResponseRecord | undefined): string | undefined {
  const isByStatus = record !== undefined && hasBoardAction(record) && !isBoardActionGiven(record);
  return isByStatus ? 'Yes' : record && boardAction(record);
}

function factsOf(view: View): Partial<MissFacts> {
  return view.outcome === 'not_found' ? view.facts : {};
}

export const RESULT_COLUMNS = Object.keys(RESULT_CELLS);

/** Whether a column comes from the answer to an earlier roster. */
export function isResultColumn(column: string): boolean {
  return Object.hasOwn(RESULT_CELLS, column);
}

/** The format of a CSV answer: separated by commas, or by semicolons if the list is. */
export function csvFormat({ separator, newline }: Pick<ListFormat, 'separator' | 'newline'>): CsvFormat {
  return { delimiter: separator === ';' ? ';' : ',', newline };
}

/** The answer to a roster as a table: the roster's rows and columns in their order, then the result columns. */
export function answerTable({ columns, rows, format }: AnsweredTable): AnswerFormat<Buffer> {
  const written = csvFormat(format);
  const kept = [...columns.keys()].filter((at) => !isResultColumn(columns[at] ?? ''));
  const keptCells = (cells: readonly string[]) => kept.map((at) => cells[at] ?? '');
  return {
    shape: (results) =>
      Buffer.from(
        spreadsheetCsv(
          results.map(({ index, view }) => [
            ...keptCells(rows[index]?.cells ?? []),
            ...Object.values(RESULT_CELLS).map((cell) => cell(view) ?? null),
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
