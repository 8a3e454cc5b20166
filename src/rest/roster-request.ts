import { z } from 'zod';
import { jsonBody, listLimit, textBody, utf8WithMark } from '../http/body.ts';
import type { Context } from '../http/context.ts';
import { ClientError } from '../http/errors.ts';
import { BadRequestError, checked } from '../licenses/bad-request.ts';
import type { Board } from '../licenses/boards.ts';
import { lookupFields, MAX_LISTED_MATCHES } from '../licenses/lookup.ts';
import { DEFAULT_LISTED_MATCHES, MAX_ITEMS, type Roster, readItems, reference } from '../rosters/roster.ts';
import { itemsTable, type RosterTable, readTable, rowReader } from '../rosters/table.ts';
import { boardName, boardNamed } from './board-name.ts';
import { REST_WORDS } from './verify.ts';

export const ROSTER_LIMIT = listLimit('a roster takes at most 1 MB');

/** The error of a body of another media type. */
export const MEDIA_TYPES =
  'Send the roster as JSON, with Content-Type: application/json, or as CSV, with text/csv.';

/** The error of a roster without items, or with too many. */
export const ITEMS_ERROR = `items must be an array of 1 to ${MAX_ITEMS} lookups.`;
const MATCHES_ERROR = `max_matches must be a whole number from 1 to ${MAX_LISTED_MATCHES}.`;

const board = z
  .string('board must be a string.')
  .nullish()
  .transform((name) => (name?.trim() ? name : undefined));
const maxMatches = z
  .int(MATCHES_ERROR)
  .min(1, MATCHES_ERROR)
  .max(MAX_LISTED_MATCHES, MATCHES_ERROR)
  .nullish();

const rosterBody = z.object(
  {
    board: board.describe('The board of every item that names none'),
    max_matches: maxMatches.describe('The most matches of a name to list'),
    // The items are counted before anything looks at each.
    items: z.custom<readonly unknown[]>(
      (value) => Array.isArray(value) && value.length >= 1 && value.length <= MAX_ITEMS,
      ITEMS_ERROR,
    ),
  },
  'The body must be a JSON object.',
);

/** The body in the OpenAPI document. */
export const documentedRosterBody = rosterBody
  .extend({
    board: boardName.nullish().meta({ description: 'The board of every item that names none' }),
    items: z
      .array(
        lookupFields
          .extend({
            board: lookupFields.shape.board.describe(
              'Exactly the name of a board, as GET /lookup/boards lists it; always required',
            ),
            reference: reference.describe('Your own name for the item, which its result repeats'),
          })
          .meta({ id: 'RosterItem', description: 'The fields of /lookup/verify, and a reference' }),
      )
      .min(1)
      .max(MAX_ITEMS),
  })
  .meta({ id: 'RosterRequest' });

/** The query parameters of a request. The body of a JSON request overrides them. */
const queryOptions = z.object({
  board,
  max_matches: z
    .string(MATCHES_ERROR)
    .optional()
    .transform((text): number | null | undefined => (text?.trim() ? Number(text) : undefined))
    .pipe(maxMatches),
});

/** A roster as it was sent. */
export interface SentRoster {
  /** How many items it has. Reading them takes time, so they are paid for first. */
  readonly count: number;
  /** Reads the items. What is wrong with one makes only that item invalid. */
  readonly read: () => Promise<Roster>;
  /** The roster as rows, to which an answer in CSV adds columns. */
  readonly table: () => RosterTable;
  readonly isTable: boolean;
}

/** @throws {BadRequestError} for what is wrong with the roster as a whole */
export async function sentRoster(ctx: Context): Promise<SentRoster> {
  const type = ctx.request.type.toLowerCase();
  if (type === 'text/csv') {
    return tableRoster(await readTable(await textBody(ctx, ROSTER_LIMIT, utf8WithMark)), ctx.query);
  }
  if (type !== '' && type !== 'application/json') throw new ClientError(415, MEDIA_TYPES);
  return jsonRoster(await jsonBody(ctx, ROSTER_LIMIT), ctx.query);
}

function tableRoster(table: RosterTable, query: unknown): SentRoster {
  const options = checked(queryOptions, query);
  const defaultBoard = optionalBoard(options.board);
  if (table.rows.length === 0) throw new BadRequestError('The CSV has no rows below the header row.');
  return {
    count: table.rows.length,
    read: async () => ({
      items: await readItems(table.rows, { fieldsOf: rowReader(table), defaultBoard, words: REST_WORDS }),
      maxMatches: options.max_matches ?? DEFAULT_LISTED_MATCHES,
    }),
    table: () => table,
    isTable: true,
  };
}

function jsonRoster(body: unknown, query: unknown): SentRoster {
  const fallback = checked(queryOptions, query);
  const { items, ...options } = checked(rosterBody, body);
  const fallbackBoard = optionalBoard(fallback.board);
  const defaultBoard = optionalBoard(options.board) ?? fallbackBoard;
  return {
    count: items.length,
    read: async () => ({
      items: await readItems(items, { fieldsOf: (item) => item, defaultBoard, words: REST_WORDS }),
      maxMatches: options.max_matches ?? fallback.max_matches ?? DEFAULT_LISTED_MATCHES,
    }),
    table: () => itemsTable(items),
    isTable: false,
  };
}

function optionalBoard(name: string | undefined): Board | undefined {
  return name === undefined ? undefined : boardNamed(name);
}
