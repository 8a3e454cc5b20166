import { FILTER_NAMES, type Filters } from './filters.ts';
import type { LookupOutcome } from './lookup-outcome.ts';

/** A lookup's outcome without a license. */
export type NotFound = Extract<LookupOutcome, { outcome: 'no_match' | 'number_not_found' }>;

type NoMatch = Extract<NotFound, { outcome: 'no_match' }>;
type NumberNotFound = Extract<NotFound, { outcome: 'number_not_found' }>;

const AUTHORITY = 'The issuing board is the authority; ask it before you conclude anything.';

/**
 * What was searched without finding a license, in which dataset, what to do, and who is the authority. It never says
 * "unlicensed".
 *
 * @param publicationDate the run date of the dataset that answered, `YYYY-MM-DD`
 */
export function notFoundDetail(outcome: NotFound, publicationDate: string): string {
  return `${notFoundMessage(outcome, publicationDate, 'Leave out search_type to look it up.')} ${AUTHORITY}`;
}

/**
 * The same without the authority, for an interface that names it in words of its own.
 *
 * @param personHint how to look a number up as a person's, for a lookup that was restricted to businesses
 */
export function notFoundMessage(outcome: NotFound, publicationDate: string, personHint: string): string {
  const where = `in the State's dataset of ${publicationDate}`;
  return outcome.outcome === 'no_match'
    ? noMatchMessage(outcome, where)
    : numberMessage(outcome, where, personHint);
}

function numberMessage(
  { reason, request, boards = [], didYouMean }: NumberNotFound,
  where: string,
  personHint: string,
): string {
  const number = `number "${request.number}"`;
  const nearest = didYouMean.length === 0 ? '' : ` Similar numbers that exist: ${didYouMean.join(', ')}.`;
  switch (reason) {
    case 'unknown':
      return `No license with the ${number} is ${where}.${nearest}`;
    case 'ambiguous':
      if (didYouMean.length === 1) {
        return `More than one board has a license with the ${number} ${where}: the ${boards.join(' and the ')}. Name the board.`;
      }
      return `The ${number}, written like this, fits more than one license ${where}.${nearest} Send it as the board writes it.`;
    case 'other_board':
      return `The ${number} is not one of the ${request.board?.name ?? 'board asked'}, but one of the ${boards.join(' and the ')} ${where}. Ask again with that board.`;
    case 'not_a_business':
      return `The ${number} is a person's license ${where}, not a business's. ${personHint}`;
  }
}

function noMatchMessage({ request, surnameExists, nameExists }: NoMatch, where: string): string {
  const { board } = request;
  const holders = board === undefined ? 'One of the 24 boards' : `The ${board.name}`;
  const name = `name "${nameOf(request)}"`;
  const filters = filterWords(request.filters);
  if (nameExists === true) {
    return `${holders} has licenses of the ${name} ${where}, but none with ${filters}. Check the filters, or leave them out.`;
  }
  if (surnameExists === true && request.by === 'person') {
    return `${holders} has licenses of the surname "${request.lastName}" ${where}, but none of the ${name}${withFilters(filters)}. Check the given name, or leave it out.`;
  }
  const whose = board === undefined ? 'any of the 24 boards' : `the ${board.name}`;
  return `No license of ${whose} matches the ${name}${withFilters(filters)} ${where}. Check the spelling and the board.`;
}

/** A name as it was searched: `Bowen, Su` of a person. */
function nameOf(request: NoMatch['request']): string {
  if (request.by === 'business') return request.name;
  return request.firstName === undefined ? request.lastName : `${request.lastName}, ${request.firstName}`;
}

function withFilters(filters: string): string {
  return filters === '' ? '' : ` with ${filters}`;
}

/** `city "Tolede" and status "ACTIVE"`; empty without filters. */
function filterWords(filters: Filters): string {
  return FILTER_NAMES.flatMap((name) => {
    const value = filters[name];
    return value === undefined ? [] : [`${name} "${value}"`];
  }).join(' and ');
}
