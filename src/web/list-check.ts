import { hash } from 'node:crypto';
import type { Origin } from '../answers/origin.ts';
import { REQUEST_WORDS } from '../answers/words.ts';
import { clientGone, type Context } from '../http/app.ts';
import { type RowFields, rowRequest } from '../licenses/row-lookup.ts';
import type { ListRow, NewRecord } from '../records/saved-records.ts';
import { DEFAULT_LISTED_MATCHES, type Roster, type RosterResult, readItems } from '../rosters/roster.ts';
import { boardByCode } from './addresses.ts';
import type { PageServices } from './page.ts';
import { listRow, type SentRow } from './roster-results.ts';

/** A visitor sends a list again for the file, and to save it: so an item costs less than one over REST. */
export const ITEMS_FOR_ONE_OVER_REST = 4;

/** A list that was checked. */
export interface CheckedList {
  readonly rows: readonly ListRow[];
  /** The code of the board of the rows that name none; empty for none. */
  readonly board: string;
  readonly origin: Origin;
}

/** The rows of a list as lookups. What is wrong with a row makes only that row invalid. */
export async function rosterOf(rows: readonly SentRow[], board: string): Promise<Roster> {
  const defaultBoard = boardByCode(board);
  const reader = {
    // The page shows a reference, and nothing else is done with it.
    fieldsOf: ({ fields: { reference: _, ...fields } }: SentRow): RowFields => fields,
    requestOf: (fields: RowFields) => rowRequest(fields, REQUEST_WORDS.row, defaultBoard),
  };
  return { items: await readItems(rows, reader), maxMatches: DEFAULT_LISTED_MATCHES };
}

/** Looks up every row of a list, in one publication. */
export async function checkList(
  ctx: Context,
  { rosters }: PageServices,
  sent: readonly SentRow[],
  board: string,
): Promise<CheckedList> {
  const shape = (results: readonly RosterResult[]) =>
    results.flatMap((result) => {
      const row = sent[result.index];
      return row === undefined ? [] : [listRow(result, row)];
    });
  const roster = await rosterOf(sent, board);
  const { shaped, origin } = await rosters.answer(roster, shape, clientGone(ctx));
  return { rows: shaped.flat(), board, origin };
}

/** A hash of what the page of a list shows: a record is saved only as it was shown. */
export function shownListHash({ rows, origin }: CheckedList): string {
  return hash('sha256', JSON.stringify([rows, origin.publication, origin.today])).slice(0, 32);
}

/** The record of a list as it was shown. */
export function listRecord({ rows, board, origin }: CheckedList): NewRecord<'list'> {
  const { publication, date, isSampleData, today } = origin;
  return { kind: 'list', publication, date, sample: isSampleData, today, board, rows: [...rows] };
}
