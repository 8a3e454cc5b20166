import { hash } from 'node:crypto';
import { type Context, clientGone } from '../http/app.ts';
import { nearestBoards } from '../licenses/boards.ts';
import { FIELD_WORDS, type LookupWords, MAX_CHARACTERS } from '../licenses/lookup.ts';
import { type RowFields, rowRequest } from '../licenses/row-lookup.ts';
import type { ListRow, NewRecord } from '../records/saved-records.ts';
import { DEFAULT_LISTED_MATCHES, type Roster, type RosterResult, readItems } from '../rosters/roster.ts';
import type { RosterOrigin } from '../rosters/service.ts';
import { boardByCode } from './addresses.ts';
import type { PageServices } from './page.ts';
import { listRow, type SentRow } from './roster-results.ts';

/** A visitor sends a list again for the file, and to save it: so an item costs less than one over REST. */
export const ITEMS_FOR_ONE_OVER_REST = 4;

/** What is wrong with a row that has only a name, and no board. */
export const NO_BOARD = 'A name without a license number needs a board.';

/** How the page says what is wrong with a row. */
const ROW_WORDS: LookupWords = {
  ...FIELD_WORDS,
  tooLong: (field) => `The ${field.replace('_', ' ')} has more than ${MAX_CHARACTERS} characters.`,
  unknownBoard: (name) => `No board is called “${name}”. The nearest is the ${nearestBoards(name)[0].name}.`,
  noBoard: (by) => (by === 'person' ? NO_BOARD : undefined),
  noName: 'The row has neither a license number nor a name.',
  onlyFirstName: 'A first name alone finds nobody. Add the last name or the license number.',
};

/** A list that was checked. */
export interface CheckedList {
  readonly rows: readonly ListRow[];
  /** The code of the board of the rows that name none; empty for none. */
  readonly board: string;
  readonly origin: RosterOrigin;
}

/** The rows of a list as lookups. What is wrong with a row makes only that row invalid. */
export async function rosterOf(rows: readonly SentRow[], board: string): Promise<Roster> {
  const defaultBoard = boardByCode(board);
  const reader = {
    // The page shows a reference, and nothing else is done with it.
    fieldsOf: ({ fields: { reference: _, ...fields } }: SentRow): RowFields => fields,
    requestOf: (fields: RowFields) => rowRequest(fields, ROW_WORDS, defaultBoard),
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
  const shape = (results: readonly RosterResult[], { date, today }: RosterOrigin) =>
    results.flatMap((result) => {
      const row = sent[result.index];
      return row === undefined ? [] : [listRow(result, row, date, today)];
    });
  const roster = await rosterOf(sent, board);
  const { shaped, publication, date, isSampleData, today } = await rosters.answer(
    roster,
    shape,
    clientGone(ctx),
  );
  return { rows: shaped.flat(), board, origin: { publication, date, isSampleData, today } };
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
