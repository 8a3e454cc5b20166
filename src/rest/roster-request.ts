import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { listLimit } from '../http/body.ts';
import { BadRequestError } from '../licenses/bad-request.ts';
import type { Board } from '../licenses/boards.ts';
import {
  DEFAULT_LISTED_MATCHES,
  type InvalidItem,
  MAX_ITEMS,
  MAX_LISTED_MATCHES,
  type Roster,
  type RosterItem,
} from '../rosters/roster.ts';
import { type RosterTable, rowReader } from '../rosters/table.ts';
import { boardName, boardNamed } from './board-name.ts';
import { verifyBody, verifyRequest } from './verify-request.ts';

export const ROSTER_LIMIT = listLimit('a roster takes at most 1 MB');

/** The error of a body of another media type. */
export const MEDIA_TYPES =
  'Send the roster as JSON, with Content-Type: application/json, or as CSV, with text/csv.';

/** After so many items are read, other requests get their turn. */
const ITEMS_READ_TOGETHER = 25;

const MAX_REFERENCE = 100;
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
const reference = z
  .string('reference must be a string.')
  .max(MAX_REFERENCE, `reference must have at most ${MAX_REFERENCE} characters.`)
  .nullish()
  .transform((text) => text ?? null);

const rosterBody = z.object(
  {
    board: board.describe('The board of every item that names none'),
    max_matches: maxMatches.describe('The most matches of a name to list'),
    items: z.custom<readonly unknown[]>(isListOfItems, ITEMS_ERROR),
  },
  'The body must be a JSON object.',
);

/** The items are counted before anything looks at each. */
function isListOfItems(value: unknown): boolean {
  return Array.isArray(value) && value.length >= 1 && value.length <= MAX_ITEMS;
}

/** The body in the OpenAPI document. */
export const documentedRosterBody = rosterBody
  .extend({
    board: boardName.nullish().meta({ description: 'The board of every item that names none' }),
    items: z
      .array(
        verifyBody
          .extend({ reference: reference.describe('Your own name for the item, which its result repeats') })
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

/** A roster whose items are counted, and not read yet: that costs time, so it is paid for first. */
export interface UnreadRoster {
  readonly count: number;
  /** Reads the items. What is wrong with one makes only that item invalid. */
  read(): Promise<Roster>;
}

/** A roster from the JSON body of a request. */
export interface JsonRoster extends UnreadRoster {
  readonly items: readonly unknown[];
}

/**
 * Counts the items of a JSON body.
 *
 * @param query the query parameters of the request: `board` and `max_matches`
 * @throws {BadRequestError} for what is wrong with the roster as a whole
 */
export function rosterRequest(body: unknown, query: unknown): JsonRoster {
  const fallback = checked(queryOptions, query);
  const { items, ...options } = checked(rosterBody, body);
  const fallbackBoard = optionalBoard(fallback.board);
  const defaultBoard = optionalBoard(options.board) ?? fallbackBoard;
  return {
    items,
    count: items.length,
    read: async () => ({
      items: await inTurns(items, (item) => rosterItem(item, defaultBoard)),
      maxMatches: options.max_matches ?? fallback.max_matches ?? DEFAULT_LISTED_MATCHES,
    }),
  };
}

/**
 * Counts the rows of a CSV table.
 *
 * @param query the query parameters of the request: `board` and `max_matches`
 * @throws {BadRequestError} for what is wrong with the roster as a whole
 */
export function tableRequest(table: RosterTable, query: unknown): UnreadRoster {
  const options = checked(queryOptions, query);
  const defaultBoard = optionalBoard(options.board);
  if (table.rows.length === 0) throw new BadRequestError('The CSV has no rows below the header row.');
  const fieldsOf = rowReader(table);
  return {
    count: table.rows.length,
    read: async () => ({
      items: await inTurns(table.rows, (row) => {
        const fields = fieldsOf(row);
        return fields instanceof BadRequestError
          ? invalidItem(fields, null)
          : rosterItem(fields, defaultBoard);
      }),
      maxMatches: options.max_matches ?? DEFAULT_LISTED_MATCHES,
    }),
  };
}

async function inTurns<Item>(
  items: readonly Item[],
  read: (item: Item) => RosterItem,
): Promise<readonly RosterItem[]> {
  const all: RosterItem[] = [];
  for (let at = 0; at < items.length; at += ITEMS_READ_TOGETHER) {
    all.push(...items.slice(at, at + ITEMS_READ_TOGETHER).map(read));
    await nextTurn();
  }
  return all;
}

function checked<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (!result.success) throw new BadRequestError(result.error.issues[0]?.message);
  return result.data;
}

function optionalBoard(name: string | undefined): Board | undefined {
  return name === undefined ? undefined : boardNamed(name);
}

const itemObject = z.object({ reference }, 'The item must be a JSON object.');

/**
 * One item of a roster.
 *
 * @param defaultBoard the board of an item that names none
 */
export function rosterItem(item: unknown, defaultBoard: Board | undefined): RosterItem {
  let name: string | null = null;
  try {
    name = checked(itemObject, item).reference;
    return { reference: name, request: verifyRequest(item, defaultBoard) };
  } catch (error) {
    if (error instanceof BadRequestError) return invalidItem(error, name);
    throw error;
  }
}

function invalidItem(error: BadRequestError, name: string | null): RosterItem {
  const request: InvalidItem = { by: 'nothing', detail: error.message };
  return { reference: name, request };
}
