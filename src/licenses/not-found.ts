import { FILTER_NAMES, type Filters } from './filters.ts';
import type { BusinessRequest, Miss, PersonRequest } from './lookup.ts';

/** Why a number has no license, as the code that every interface sends. */
export const NUMBER_NOT_FOUND_REASONS = ['unknown', 'ambiguous', 'other_board', 'not_a_business'] as const;

export type NumberNotFoundReason = (typeof NUMBER_NOT_FOUND_REASONS)[number];

const REASONS: Readonly<Record<Miss['outcome'], NumberNotFoundReason>> = {
  none: 'unknown',
  ambiguous_number: 'ambiguous',
  other_board: 'other_board',
  not_a_business: 'not_a_business',
};

/** Why a lookup by number found no license. */
export function reasonOf({ outcome }: Miss): NumberNotFoundReason {
  return REASONS[outcome];
}

const AUTHORITY = 'The issuing board is the authority; ask it before you conclude anything.';

/** What an interface adds to a miss that names the authority in words of its own. */
export const NOBODY_IS_UNLICENSED = 'That does not mean that nobody is licensed.';
export const NOT_UNLICENSED =
  'not_found never means that somebody is unlicensed: check the spelling, the number and the board.';
export const MAY_STILL_EXIST =
  'A license that is missing here may still exist: the issuing board is the authority.';

/** How each interface looks a number up as a person's, after a lookup that was restricted to businesses. */
export const AS_PERSONS = {
  rest: 'Leave out search_type to look it up.',
  tool: 'verify_license looks it up.',
  toolItem: 'Leave out business_name to look it up.',
} as const;

/**
 * What was searched without finding a license, in which dataset, what to do, and who is the authority. It never says
 * "unlicensed".
 *
 * @param publicationDate the run date of the dataset that answered, `YYYY-MM-DD`
 */
export function notFoundDetail(miss: Miss, publicationDate: string): string {
  return `${notFoundMessage(miss, publicationDate, AS_PERSONS.rest)} ${AUTHORITY}`;
}

/**
 * The same without the authority, for an interface that names it in words of its own.
 *
 * @param asPersons one of `AS_PERSONS`; empty where a lookup is never restricted to businesses
 */
export function notFoundMessage(miss: Miss, publicationDate: string, asPersons = ''): string {
  const { request } = miss;
  const where = `in the State's dataset of ${publicationDate}`;
  return request.by === 'number'
    ? numberMessage(miss, request.number, where, asPersons)
    : nameMessage(miss, request, where);
}

function numberMessage(
  { outcome, request, boards = [], didYouMean }: Miss,
  typed: string,
  where: string,
  asPersons: string,
): string {
  const number = `number "${typed}"`;
  const nearest = didYouMean.length === 0 ? '' : ` Similar numbers that exist: ${didYouMean.join(', ')}.`;
  switch (outcome) {
    case 'none':
      return `No license with the ${number} is ${where}.${nearest}`;
    case 'ambiguous_number':
      if (didYouMean.length === 1) {
        return `More than one board has a license with the ${number} ${where}: the ${boards.join(' and the ')}. Name the board.`;
      }
      return `The ${number}, written like this, fits more than one license ${where}.${nearest} Send it as the board writes it.`;
    case 'other_board':
      return `The ${number} is not one of the ${request.board?.name ?? 'board asked'}, but one of the ${boards.join(' and the ')} ${where}. Ask again with that board.`;
    case 'not_a_business':
      return `The ${number} is a person's license ${where}, not a business's. ${asPersons}`;
  }
}

function nameMessage(
  { surnameExists, nameExists }: Miss,
  request: PersonRequest | BusinessRequest,
  where: string,
): string {
  const { board } = request;
  const holders = board === undefined ? 'One of the 24 boards' : `The ${board.name}`;
  if (nameExists === true) {
    return `${holders} has licenses of the name "${nameOf(request)}" ${where}, but none with ${filterWords(request.filters)}. Check the filters, or leave them out.`;
  }
  if (surnameExists === true && request.by === 'person') {
    return `${holders} has licenses of the surname "${request.lastName}" ${where}, but none of the ${nameWords(request)}. Check the given name, or leave it out.`;
  }
  const whose = board === undefined ? 'any of the 24 boards' : `the ${board.name}`;
  return `No license of ${whose} matches the ${nameWords(request)} ${where}. Check the spelling and the board.`;
}

/** What was searched: `name "Bowen, Su" with city "Toledo"`. */
export function nameWords(request: PersonRequest | BusinessRequest): string {
  const filters = filterWords(request.filters);
  return `name "${nameOf(request)}"${filters === '' ? '' : ` with ${filters}`}`;
}

/** A name as it was searched: `Bowen, Su` of a person. */
function nameOf(request: PersonRequest | BusinessRequest): string {
  if (request.by === 'business') return request.name;
  return request.firstName === undefined ? request.lastName : `${request.lastName}, ${request.firstName}`;
}

/** `city "Tolede" and status "ACTIVE"`; empty without filters. */
export function filterWords(filters: Filters): string {
  return FILTER_NAMES.flatMap((name) => {
    const value = filters[name];
    return value === undefined ? [] : [`${name} "${value}"`];
  }).join(' and ');
}
