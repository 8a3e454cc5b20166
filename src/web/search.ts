import { z } from 'zod';
import { BadRequestError } from '../licenses/bad-request.ts';
import { type Filters, mapFilters } from '../licenses/filters.ts';
import type { LookupRequest } from '../licenses/lookup-request.ts';
import { boardByCode } from './addresses.ts';

/** The three ways to search. */
export const MODES = ['number', 'person', 'business'] as const;
export type Mode = (typeof MODES)[number];

const MAX_CHARACTERS = 200;
const BLANKS = /\s+/g;

/** A field of the form: blank means that it was left out. */
const text = z
  .string('Fill in each field once.')
  .max(MAX_CHARACTERS, `A field takes at most ${MAX_CHARACTERS} characters.`)
  .optional()
  .transform((value) => value?.replace(BLANKS, ' ').trim() || undefined);

const searchQuery = z.object({
  by: z.enum(MODES, 'Choose number, person or business.').optional(),
  board: text,
  number: text,
  last_name: text,
  first_name: text,
  business_name: text,
  ...mapFilters(() => text),
});

/** Nothing filled in. */
export const NO_FIELDS: SearchFields = searchQuery.parse({});

/** What a visitor typed. */
export type SearchFields = Readonly<z.output<typeof searchQuery>>;

/**
 * Reads the form from the address.
 *
 * @throws {BadRequestError} in words for a person
 */
export function searchFields(query: unknown): SearchFields {
  const result = searchQuery.safeParse(query);
  if (!result.success) throw new BadRequestError(result.error.issues[0]?.message);
  return result.data;
}

/** The mode chosen; without one, that of the fields that are filled in. */
export function modeOf(fields: SearchFields): Mode {
  if (fields.by !== undefined) return fields.by;
  if (fields.business_name !== undefined) return 'business';
  return fields.last_name !== undefined || fields.first_name !== undefined ? 'person' : 'number';
}

/** Whether the address holds a search; otherwise it is the empty form. */
export function isSearch(fields: SearchFields): boolean {
  return [fields.number, fields.last_name, fields.first_name, fields.business_name].some(
    (field) => field !== undefined,
  );
}

/**
 * The lookup that the fields ask for.
 *
 * @throws {BadRequestError} in words for a person
 */
export function searchRequest(fields: SearchFields): LookupRequest {
  const board = fields.board === undefined ? undefined : boardByCode(fields.board);
  if (fields.board !== undefined && board === undefined) {
    throw new BadRequestError('Choose a board from the list, or all boards.');
  }
  const filters: Filters = mapFilters((_, name) => fields[name]);
  switch (modeOf(fields)) {
    case 'number':
      return {
        by: 'number',
        number: required(fields.number, 'a license number'),
        board,
        businessOnly: false,
      };
    case 'person':
      return {
        by: 'person',
        board,
        lastName: required(fields.last_name, 'a last name'),
        firstName: fields.first_name,
        filters,
      };
    case 'business':
      return { by: 'business', board, name: required(fields.business_name, 'a business name'), filters };
  }
}

function required(value: string | undefined, what: string): string {
  if (value === undefined) throw new BadRequestError(`Type ${what}.`);
  return value;
}
