import { z } from 'zod';
import { REQUEST_WORDS } from '../answers/words.ts';
import { BOARDS, type Board, boardByName } from '../licenses/boards.ts';
import { BadRequestError } from '../licenses/lookup.ts';

/** Exactly a board's name, in requests and in the OpenAPI document. */
export const boardName = z
  .enum(
    BOARDS.map(({ name }) => name),
    { error: ({ input }) => boardError(input) },
  )
  .meta({ id: 'BoardName', description: 'Exactly the name of a board' });

/** A board by exactly its name. */
export const board = boardName.transform((name): Board => {
  const named = boardByName(name);
  if (named === undefined) throw unknownBoard(name);
  return named;
});

/** Where in the feed of changes the publication that answered ends. */
export const feedCursor = z
  .string()
  .nullable()
  .describe(
    'The place in /changes of the dataset that answered: send it as since to get what changes later. null while it ' +
      'can not be read, or a publication of version 0.2 is live',
  );

function boardError(input: unknown): string {
  if ((absentIfBlank(input) ?? null) === null) return 'board is needed.';
  return typeof input === 'string' ? unknownBoard(input).message : 'board must be a string.';
}

/** The error for a name that is not exactly one of the 24 boards'. */
export function unknownBoard(name: string): BadRequestError {
  return new BadRequestError(REQUEST_WORDS.rest.unknownBoard(name));
}

/** A text of blanks counts as absent. */
export function absentIfBlank(value: unknown): unknown {
  return typeof value === 'string' && value.trim() === '' ? undefined : value;
}

/** A whole number in these bounds. */
export function whole(name: string, least: number, most: number) {
  const error = `${name} must be a whole number from ${least} to ${most}.`;
  return z.int(error).min(least, error).max(most, error);
}

/** A query has only text. */
export function fromText<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess(
    (text: unknown) => (typeof text === 'string' && /^\d{1,4}$/.test(text) ? Number(text) : text),
    schema,
  );
}
