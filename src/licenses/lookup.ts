import { z } from 'zod';
import DESCRIPTIONS from '../../data/field-descriptions.json' with { type: 'json' };
import { type Board, boardByName } from './boards.ts';
import { type Filters, licenseTypeKeys, mapFilters } from './filters.ts';
import { fold, MAX_FOLDED_CHARACTERS, visibleText } from './fold.ts';
import type { LicenseRecord } from './license.ts';
import type { PersonParts, TypedParts } from './names.ts';

/** The request is invalid. The message says what to send instead. */
export class BadRequestError extends Error {}

/**
 * Parses a value from a request with its schema.
 *
 * @throws {BadRequestError} with the first message of the schema
 */
export function checked<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (!result.success) throw new BadRequestError(result.error.issues[0]?.message);
  return result.data;
}

/** The most matches that a search returns (SEARCH-05, MCP-05). */
export const MAX_MATCHES = 100;

/** The most matches of a name that one of many lookups may list. */
export const MAX_LISTED_MATCHES = 20;

export const MAX_CHARACTERS = 200;

/** A name as typed: the parts of a person's name, a business name, or one text that may be either. */
export type TypedName = TypedParts | { readonly businessName: string } | { readonly wholeName: string };

/** A lookup by number, at one board or statewide. */
export interface NumberRequest {
  readonly by: 'number';
  readonly number: string;
  readonly board?: Board | undefined;
  readonly businessOnly: boolean;
  /** A name sent with the number. The response says whether it is the name of the license's holder. */
  readonly name?: TypedName | undefined;
}

export interface PersonRequest extends PersonParts {
  readonly by: 'person';
  readonly board?: Board | undefined;
  readonly filters: Filters;
}

export interface BusinessRequest {
  readonly by: 'business';
  readonly board?: Board | undefined;
  readonly name: string;
  readonly filters: Filters;
}

export type NameRequest = PersonRequest | BusinessRequest;

export type LookupRequest = NumberRequest | NameRequest;

/**
 * Why a lookup found no license. Only lookups by number have a reason other than `unknown`. `removed`: the feed says
 * that the license left the dataset. `unreadable`: the last row of the license could not be read.
 */
export const NOT_FOUND_REASONS = [
  'unknown',
  'ambiguous',
  'other_board',
  'not_a_business',
  'removed',
  'unreadable',
] as const;

export type NotFoundReason = (typeof NOT_FOUND_REASONS)[number];

/** A lookup that found no license. That is an outcome, not an error. */
export interface Miss {
  readonly outcome: 'none';
  readonly reason: NotFoundReason;
  readonly request: LookupRequest;
  /**
   * Existing numbers or names that the caller may have meant, best first: numbers (never with their holders), business
   * names, surnames, or `SURNAME, GIVEN NAME`.
   */
  readonly didYouMean: readonly string[];
  /** The numbers in `didYouMean` whose holder has the name that was sent; absent if no name was sent. */
  readonly ofTheName?: readonly string[] | undefined;
  /** The licenses with the numbers in `didYouMean`. Only the website's pages show their holders. */
  readonly offered?: readonly LicenseRecord[];
  /** For `other_board` and `ambiguous`: the boards that have the number. For `removed`: the board that had it. */
  readonly boards?: readonly string[];
  /**
   * For `removed`: the run date of the last dataset with the license, and its status there. Both are null if unknown,
   * or if several licenses had the number.
   */
  readonly left?: Readonly<Record<'last_in_dataset' | 'last_raw_status', string | null>>;
  /** For `unreadable`, if the dataset that answered may no longer have the row: the date of a dataset that had it. */
  readonly unreadableIn?: string;
  /** Set when the service could not read whether a license with the number left the dataset. */
  readonly isFeedUnread?: true;
  /** Set when licenses have the name, but the filters exclude them all. */
  readonly nameExists?: true;
  /** Set when licenses have the surname, but the given name or the filters exclude them all. */
  readonly surnameExists?: true;
}

/** The result of a lookup in one publication. */
export type LookupOutcome =
  | {
      readonly outcome: 'found';
      readonly record: LicenseRecord;
      /** Whether the name sent with the number is the holder's; absent if no name was sent. */
      readonly nameMatch?: boolean;
      /**
       * If `nameMatch` is false: whether another license of the board has that name; absent if that was not searched.
       */
      readonly isNameAtBoard?: boolean | undefined;
      /** True if it was found by a surname alone, or by a surname and an initial. */
      readonly isNamePartial?: boolean;
    }
  | { readonly outcome: 'several'; readonly records: readonly LicenseRecord[]; readonly truncated: boolean }
  | Miss;

/** One of many lookups, which cannot be run because it is invalid. */
export interface InvalidLookup {
  readonly outcome: 'invalid';
  /** What is wrong and what to send instead. */
  readonly detail: string;
}

const anyText = z.string().max(MAX_CHARACTERS);

/** Null, blank text and invisible characters count as absent. */
const text = anyText
  .nullish()
  .transform((value) => (value ? visibleText(value).trim() || undefined : undefined));

/** The fields of a lookup, with the names of every interface. Unknown fields are ignored. */
export const lookupFields = z.object({
  // A board's name must be exact, so blanks around it are not removed.
  board: anyText.nullish().transform((value) => {
    const visible = visibleText(value ?? '');
    return visible.trim() === '' ? undefined : visible;
  }),
  license_number: text.describe(DESCRIPTIONS.lookup.license_number),
  last_name: text.describe(DESCRIPTIONS.lookup.last_name),
  first_name: text.describe(DESCRIPTIONS.lookup.first_name),
  search_type: text.describe(DESCRIPTIONS.lookup.search_type),
  business_name: text.describe(DESCRIPTIONS.lookup.business_name),
  ...mapFilters(({ description }) => text.describe(`${description}; ignored in a lookup by number`)),
});

/** An interface's messages for invalid fields of a lookup. */
export interface LookupWords {
  readonly notAnObject: string;
  readonly tooLong: (field: string) => string;
  readonly unknownBoard: (name: string) => string;
  /** `undefined` if this kind of lookup needs no board. */
  readonly noBoard: (by: LookupRequest['by']) => string | undefined;
  readonly noName: string;
  readonly onlyFirstName: string;
  readonly noBusinessName: string;
}

/**
 * Reads the fields of a lookup.
 *
 * @param defaultBoard the board to use if the lookup names none
 * @param findBoard finds the board that the lookup names
 * @throws {BadRequestError} saying in the interface's words what is wrong and what to send instead
 */
export function readLookup(
  given: unknown,
  words: LookupWords,
  defaultBoard?: Board,
  findBoard = boardByName,
): LookupRequest {
  const { data, error } = lookupFields.safeParse(given);
  if (data !== undefined) return lookupRequest(data, words, defaultBoard, findBoard);
  const [issue] = error.issues;
  const [field] = issue?.path.map(String) ?? [];
  if (field === undefined) throw new BadRequestError(words.notAnObject);
  throw new BadRequestError(issue?.code === 'too_big' ? words.tooLong(field) : `${field} must be a string.`);
}

/** The parsed fields of a lookup. */
export type LookupFields = Partial<z.output<typeof lookupFields>>;

/** Makes a lookup from parsed fields: by number if there is one, else by name. @throws as `readLookup` */
export function lookupRequest(
  fields: LookupFields,
  words: LookupWords,
  defaultBoard?: Board,
  findBoard = boardByName,
): LookupRequest {
  const { license_number: number, last_name: lastName, first_name: firstName } = fields;
  const { business_name: businessName, search_type: searchType } = fields;
  const businessOnly = searchType === 'business';
  const by = number !== undefined ? 'number' : businessOnly ? 'business' : 'person';
  const board = fields.board === undefined ? defaultBoard : findBoard(fields.board);
  if (board === undefined) {
    const problem = fields.board === undefined ? words.noBoard(by) : words.unknownBoard(fields.board);
    if (problem !== undefined) throw new BadRequestError(problem);
  }
  if (searchType !== undefined && !businessOnly) {
    throw new BadRequestError('search_type may only be "business"; leave it out to look for a person.');
  }
  if (businessName !== undefined && !businessOnly) {
    throw new BadRequestError('To search by business_name, add "search_type": "business".');
  }
  if (number !== undefined) {
    const hasPerson = lastName !== undefined || firstName !== undefined;
    const ofPerson = hasPerson ? { lastName, firstName } : undefined;
    const name = businessName === undefined ? ofPerson : { businessName };
    return { by: 'number', number, board, businessOnly, name };
  }
  const filters = mapFilters((_, name) => fields[name]);
  if (businessOnly) {
    if (businessName === undefined) throw new BadRequestError(words.noBusinessName);
    return { by: 'business', board, name: businessName, filters };
  }
  if (lastName === undefined) {
    throw new BadRequestError(firstName === undefined ? words.noName : words.onlyFirstName);
  }
  return { by: 'person', board, lastName, firstName, filters };
}

/** The OpenAPI document gives this pattern for names and filters. */
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/**
 * Why a lookup cannot be run in a publication: a name or filter has no letter and no digit, or the board lacks the
 * license type. Without a board, any board's license type is accepted.
 *
 * @param licenseTypes the names of each board's license types, by the board's name
 * @returns what to send instead; `undefined` if the lookup can be run
 */
export function problemOf(
  request: LookupRequest,
  licenseTypes: ReadonlyMap<string, readonly string[]>,
): string | undefined {
  if (request.by === 'number') return undefined;
  for (const [field, text] of Object.entries(typedTexts(request))) {
    if (text !== undefined && (!LETTER_OR_DIGIT.test(text) || fold(text) === ''))
      return `${field} must have a letter or a digit.`;
  }
  const { board, filters } = request;
  if (filters.license_type === undefined) return undefined;
  const key = fold(filters.license_type);
  const types =
    board === undefined ? [...licenseTypes.values()].flat() : (licenseTypes.get(board.name) ?? []);
  if (types.some((type) => licenseTypeKeys(type).includes(key))) return undefined;
  return board === undefined
    ? 'No board has this license type. Check its spelling, or leave it out.'
    : `The ${board.name} has no such license type. It has: ${types.join('; ')}.`;
}

/** Every text that the caller typed, filters included, by the name of its field. */
function typedTexts(request: LookupRequest): Readonly<Record<string, string | undefined>> {
  if (request.by === 'number') return { license_number: request.number };
  return request.by === 'person'
    ? { last_name: request.lastName, first_name: request.firstName, ...request.filters }
    : { business_name: request.name, ...request.filters };
}

/** Whether any license can match the lookup: no folded text of a license is longer than the limit. */
export function isPossible(request: LookupRequest): boolean {
  return Object.values(typedTexts(request)).every(
    (text) => text === undefined || fold(text).length <= MAX_FOLDED_CHARACTERS,
  );
}
