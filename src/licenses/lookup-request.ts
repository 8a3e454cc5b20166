import { BadRequestError } from './bad-request.ts';
import type { Board } from './boards.ts';
import { FILTER_NAMES, type Filters, licenseTypeKeys, mapFilters } from './filters.ts';
import { fold } from './fold.ts';

/** A person's name (either part) or a business's, as typed. */
export type TypedName =
  | { readonly lastName?: string | undefined; readonly firstName?: string | undefined }
  | { readonly businessName: string };

/** A lookup by number (at one board or statewide), by a person's name, or by a business's name. */
export type LookupRequest =
  | {
      readonly by: 'number';
      readonly number: string;
      readonly board?: Board | undefined;
      readonly businessOnly: boolean;
      /** A name sent with the number. The response says whether it is the holder's. */
      readonly name?: TypedName | undefined;
    }
  | {
      readonly by: 'person';
      readonly board?: Board | undefined;
      readonly lastName: string;
      readonly firstName?: string | undefined;
      readonly filters: Filters;
    }
  | {
      readonly by: 'business';
      readonly board?: Board | undefined;
      readonly name: string;
      readonly filters: Filters;
    };

/** The fields of a request, with the names of every interface. Blank fields are left out. */
export interface LookupFields extends Filters {
  readonly board?: Board | undefined;
  readonly license_number?: string | undefined;
  readonly last_name?: string | undefined;
  readonly first_name?: string | undefined;
  readonly business_name?: string | undefined;
}

/**
 * Makes the lookup of these fields: by number if there is one, else by name.
 *
 * @throws {BadRequestError} naming the field to send
 */
export function lookupRequest(fields: LookupFields, kind: 'person' | 'business'): LookupRequest {
  const { board, license_number: number } = fields;
  const isBusiness = kind === 'business';
  if (number !== undefined) {
    return { by: 'number', number, board, businessOnly: isBusiness, name: typedName(fields) };
  }
  const filters = mapFilters((_, name) => fields[name]);
  if (isBusiness) {
    const { business_name: name } = fields;
    if (name === undefined)
      throw new BadRequestError('A business search needs business_name or license_number.');
    return { by: 'business', board, name, filters };
  }
  const { last_name: lastName, first_name: firstName } = fields;
  if (lastName === undefined) {
    throw new BadRequestError(
      firstName === undefined
        ? 'Give license_number, or last_name, or search_type "business" with business_name.'
        : 'A search by name needs last_name; first_name only narrows it.',
    );
  }
  if (board === undefined) throw new BadRequestError('A search by name needs board.');
  return { by: 'person', board, lastName, firstName, filters };
}

function typedName(fields: LookupFields): TypedName | undefined {
  const { last_name: lastName, first_name: firstName, business_name: businessName } = fields;
  if (businessName !== undefined) return { businessName };
  return lastName === undefined && firstName === undefined ? undefined : { lastName, firstName };
}

/** The pattern of names and filters in the OpenAPI document. */
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/**
 * Rejects a search by a name, or with a filter, that has no letter and no digit.
 *
 * @throws {BadRequestError} naming the field
 */
export function requireLetterOrDigit(request: LookupRequest): void {
  if (request.by === 'number') return;
  const names =
    request.by === 'person'
      ? { last_name: request.lastName, first_name: request.firstName }
      : { business_name: request.name };
  for (const [field, typed] of Object.entries({ ...names, ...request.filters })) {
    if (typed !== undefined && !(LETTER_OR_DIGIT.test(typed) && fold(typed) !== '')) {
      throw new BadRequestError(`${field} must have a letter or a digit.`);
    }
  }
}

/**
 * Rejects a license_type filter that no license could match, because the board does not have the type. Without a
 * board, it must be a type of any board.
 *
 * @param licenseTypes the names of each board's license types, by the board's name
 * @throws {BadRequestError} naming the board's types
 */
export function requireLicenseType(
  request: LookupRequest,
  licenseTypes: ReadonlyMap<string, readonly string[]>,
): void {
  const typed = request.by === 'number' ? undefined : request.filters.license_type;
  if (typed === undefined) return;
  const key = fold(typed);
  const { board } = request;
  const types =
    board === undefined ? [...licenseTypes.values()].flat() : (licenseTypes.get(board.name) ?? []);
  if (types.some((type) => licenseTypeKeys(type).includes(key))) return;
  throw new BadRequestError(
    board === undefined
      ? 'No board has this license_type; the list of the boards has the types of each.'
      : `The ${board.name} has no such license_type. It has: ${types.join('; ')}.`,
  );
}

/** Every text that the caller typed, filters included. */
export function typedTexts(request: LookupRequest): readonly string[] {
  const typed =
    request.by === 'number'
      ? [request.number]
      : [
          ...(request.by === 'person' ? [request.lastName, request.firstName] : [request.name]),
          ...FILTER_NAMES.map((name) => request.filters[name]),
        ];
  return typed.filter((text) => text !== undefined);
}
