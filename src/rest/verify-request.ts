import { z } from 'zod';
import { BadRequestError } from '../licenses/bad-request.ts';
import type { Board } from '../licenses/boards.ts';
import { mapFilters } from '../licenses/filters.ts';
import { type LookupRequest, lookupRequest } from '../licenses/lookup-request.ts';
import { boardName, boardNamed } from './board-name.ts';

const MAX_CHARACTERS = 200;

const anyText = z.string().max(MAX_CHARACTERS, `must have at most ${MAX_CHARACTERS} characters`);

/** A field of the body: text of up to 200 characters. Null and blank text count as absent. */
const text = anyText.nullish().transform((value) => value?.trim() || undefined);

/** A board's name must be exact, so blanks around it are not removed. */
const boardText = anyText.nullish().transform((value) => (value?.trim() ? value : undefined));

/** The body of POST /lookup/verify (LOOKUP-01 to LOOKUP-09). Unknown fields are ignored. */
export const verifyBody = z.object({
  board: boardText.describe('Exactly the name of a board, as GET /lookup/boards lists it; always required'),
  license_number: text.describe('Looks up by number, whatever its case, blanks and separators'),
  last_name: text.describe(
    'The whole surname; either half of a hyphenated one. With a number: compared with the holder',
  ),
  first_name: text.describe('The beginning of the given names; only narrows last_name'),
  search_type: text.describe('"business" for an establishment; left out for a person'),
  business_name: text.describe('The beginning of either trade name, or words of it; needs search_type'),
  ...mapFilters(({ description }) => text.describe(`${description}; ignored in a lookup by number`)),
});

/** A required text. A text of blanks counts as absent. */
const NOT_BLANK = { type: 'string', pattern: '\\S' } as const;
const BLANK = { pattern: '^\\s*$' };
const BUSINESS = { type: 'string', pattern: '^\\s*business\\s*$' } as const;
/** A searched name and a filter need a letter or a digit. */
const WORDS = { type: 'string', pattern: '[\\p{L}\\p{N}]' } as const;
const BLANK_OR_WORDS = { pattern: '^\\s*$|[\\p{L}\\p{N}]' };
const FILTERS = mapFilters(() => BLANK_OR_WORDS);

/** The combinations of fields that `verifyRequest` accepts. */
const FIELD_COMBINATIONS = [
  {
    title: 'By number, of a person or a business',
    required: ['license_number'],
    properties: { license_number: NOT_BLANK, business_name: BLANK, search_type: BLANK },
  },
  {
    title: 'By number, of a business',
    required: ['license_number', 'search_type'],
    properties: { license_number: NOT_BLANK, search_type: BUSINESS },
  },
  {
    title: 'By person',
    required: ['last_name'],
    properties: {
      last_name: WORDS,
      first_name: BLANK_OR_WORDS,
      business_name: BLANK,
      search_type: BLANK,
      ...FILTERS,
    },
  },
  {
    title: 'By business',
    required: ['search_type', 'business_name'],
    properties: { search_type: BUSINESS, business_name: WORDS, ...FILTERS },
  },
];

/** The body in the OpenAPI document: with the names of the boards and the combinations of fields. */
export const documentedVerifyBody = verifyBody.extend({ board: boardName }).meta({
  id: 'VerifyRequest',
  description:
    'By number: board and license_number. By person: board and last_name. By business: board, search_type and ' +
    'business_name or license_number. Null and blank texts count as absent, unknown fields are ignored.',
  override: ({ jsonSchema }) => {
    jsonSchema.anyOf = FIELD_COMBINATIONS;
  },
});

/**
 * Reads the body of a request.
 *
 * @param defaultBoard the board of a body that names none
 * @throws {BadRequestError} saying what is wrong and what to send instead
 */
export function verifyRequest(body: unknown, defaultBoard?: Board): LookupRequest {
  const result = verifyBody.safeParse(body);
  if (!result.success) throw new BadRequestError(describe(result.error));
  const fields = result.data;
  const board = fields.board === undefined && defaultBoard ? defaultBoard : requiredBoard(fields.board);
  if (fields.search_type !== undefined && fields.search_type !== 'business') {
    throw new BadRequestError('search_type may only be "business"; leave it out to look for a person.');
  }
  const businessOnly = fields.search_type === 'business';
  if (fields.business_name !== undefined && !businessOnly) {
    throw new BadRequestError('To search by business_name, add "search_type": "business".');
  }
  return lookupRequest({ ...fields, board }, businessOnly ? 'business' : 'person');
}

function requiredBoard(name: string | undefined): Board {
  if (name === undefined) {
    throw new BadRequestError(
      'board is required: the exact name of one of the boards at GET /lookup/boards.',
    );
  }
  return boardNamed(name);
}

function describe(error: z.ZodError): string {
  const [issue] = error.issues;
  const field = issue?.path.join('.') ?? '';
  if (field === '') return 'The body must be a JSON object.';
  return issue?.code === 'invalid_type'
    ? `${field} must be a string.`
    : `${field} ${issue?.message ?? 'is wrong'}.`;
}
