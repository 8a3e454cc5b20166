import { z } from 'zod';
import { BadRequestError } from '../licenses/bad-request.ts';
import { type Board, boardByName } from '../licenses/boards.ts';
import { mapFilters } from '../licenses/filters.ts';
import { type LookupRequest, lookupRequest } from '../licenses/lookup-request.ts';
import { nearestBoards } from '../licenses/nearest-boards.ts';

const MAX_CHARACTERS = 200;

const anyText = z.string().max(MAX_CHARACTERS, `must have at most ${MAX_CHARACTERS} characters`);

/** A field of the body: text of up to 200 characters, where null and blanks count as absent. */
const text = anyText.nullish().transform((value) => value?.trim() || undefined);

/** A board's name, which must be exact: blanks around it are not taken off. */
const boardName = anyText.nullish().transform((value) => (value?.trim() ? value : undefined));

/** The body of POST /lookup/verify (specification 4.3). Unknown fields are ignored. */
export const verifyBody = z.object({
  board: boardName.describe('Exactly the name of a board, as GET /lookup/boards lists it; always required'),
  license_number: text.describe('Looks up by number, whatever its case, blanks and separators'),
  last_name: text.describe(
    'The whole surname; either half of a hyphenated one. With a number: compared with the holder',
  ),
  first_name: text.describe('The beginning of the given names; only narrows last_name'),
  search_type: text.describe('"business" for an establishment; left out for a person'),
  business_name: text.describe('The beginning of either trade name, or words of it; needs search_type'),
  ...mapFilters(({ description }) => text.describe(`${description}; ignored in a lookup by number`)),
});

/**
 * The lookup that a body asks for.
 *
 * @throws {BadRequestError} naming what is wrong and what to send instead
 */
export function verifyRequest(body: unknown): LookupRequest {
  const result = verifyBody.safeParse(body);
  if (!result.success) throw new BadRequestError(describe(result.error));
  const asked = result.data;
  const board = requiredBoard(asked.board);
  if (asked.search_type !== undefined && asked.search_type !== 'business') {
    throw new BadRequestError('search_type may only be "business"; leave it out to look for a person.');
  }
  const businessOnly = asked.search_type === 'business';
  if (asked.business_name !== undefined && !businessOnly) {
    throw new BadRequestError('To search by business_name, add "search_type": "business".');
  }
  return lookupRequest({ ...asked, board }, businessOnly ? 'business' : 'person');
}

function requiredBoard(name: string | undefined): Board {
  if (name === undefined) {
    throw new BadRequestError(
      'board is required: the exact name of one of the boards at GET /lookup/boards.',
    );
  }
  return boardNamed(name);
}

/** The board of exactly this name. @throws {BadRequestError} naming the nearest */
export function boardNamed(name: string): Board {
  const board = boardByName(name);
  if (board === undefined) throw unknownBoard(name);
  return board;
}

/** The error for a board that is not exactly one of the 24. */
export function unknownBoard(name: string): BadRequestError {
  return new BadRequestError(
    `No board has exactly the name given; the nearest is "${nearestBoards(name)[0].name}". GET /lookup/boards lists all.`,
  );
}

function describe(error: z.ZodError): string {
  const [issue] = error.issues;
  const field = issue?.path.join('.') ?? '';
  if (field === '') return 'The body must be a JSON object.';
  return issue?.code === 'invalid_type'
    ? `${field} must be a string.`
    : `${field} ${issue?.message ?? 'is wrong'}.`;
}
