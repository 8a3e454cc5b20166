import { z } from 'zod';
import { REQUEST_WORDS } from '../answers/words.ts';
import { BOARDS, type Board, boardByName, boardByText } from '../licenses/boards.ts';
import { BadRequestError } from '../licenses/lookup.ts';
import { MAX_ITEMS } from '../rosters/roster.ts';

/** The exact name of a board, for requests and for the OpenAPI document. */
export const boardName = z
  .enum(
    BOARDS.map(({ name }) => name),
    { error: ({ input }) => boardError(input) },
  )
  .meta({ id: 'BoardName', description: 'Exactly the name of a board' });

/** A board by its exact name. */
export const board = boardName.transform((name) => found(name, boardByName));

/** A board by its name, code or short name. */
export const anyBoard = z.string('board must be a string.').transform((text) => found(text, boardByText));

function found(name: string, find: (text: string) => Board | undefined): Board {
  const board = find(name);
  if (board !== undefined) return board;
  throw new BadRequestError(REQUEST_WORDS.rest.unknownBoard(name));
}

/** The end of the answering publication's changes in the feed. */
export const feedCursor = z
  .string()
  .nullable()
  .describe(
    'The place in /changes of the dataset that answered: send it as since to get what changes later. null while it ' +
      'cannot be read, or a publication of version 0.2 is live',
  );

function boardError(input: unknown): string {
  if ((absentIfBlank(input) ?? null) === null) return 'board is needed.';
  return typeof input === 'string' ? REQUEST_WORDS.rest.unknownBoard(input) : 'board must be a string.';
}

function absentIfBlank(value: unknown): unknown {
  return typeof value === 'string' && value.trim() === '' ? undefined : value;
}

export function whole(name: string, least: number, most: number) {
  const error = `${name} must be a whole number from ${least} to ${most}.`;
  return z.int(error).min(least, error).max(most, error);
}

/** Converts text to a number, because query parameters are always text. */
export function fromText<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess(
    (text: unknown) => (typeof text === 'string' && /^\d{1,4}$/.test(text) ? Number(text) : text),
    schema,
  );
}

/** The body of a list. Items are counted before any of them is read. @param more further fields of the body */
export function listBody<Named extends z.ZodType, More extends z.ZodRawShape>(
  board: Named,
  what: string,
  more: More,
) {
  const error = `items must be an array of 1 to ${MAX_ITEMS} ${what}.`;
  const items = z.array(z.unknown(), error).min(1, error).max(MAX_ITEMS, error);
  const description = 'The board of every item that names none';
  const boardOfItems = z.preprocess(absentIfBlank, board.nullish()).meta({ description });
  return z.object({ board: boardOfItems, ...more, items }, REQUEST_WORDS.rest.notAnObject);
}
