import type { Board } from './boards.ts';
import { fold } from './fold.ts';
import { tradeNameKey, typedSurname } from './name.ts';
import { numberKey } from './number.ts';

/** The most matches that a search returns (specification 8.3; the design says the same for REST). */
export const MAX_MATCHES = 100;

/** Optional conditions of a name or business search, each compared whole and folded. */
export interface Narrowing {
  readonly license_type?: string | undefined;
  readonly status?: string | undefined;
  readonly city?: string | undefined;
  readonly county?: string | undefined;
}

export const NARROWING_FIELDS = ['license_type', 'status', 'city', 'county'] as const;

type Clause = { term: Record<string, string> } | { prefix: Record<string, string> };

/** The body of one OpenSearch `_search`. */
export interface SearchBody {
  size: number;
  track_total_hits: false;
  query: {
    bool: {
      filter: Clause[];
      should?: { constant_score: { filter: Clause } }[];
    };
  };
  sort?: Record<string, 'asc' | 'desc'>[];
}

/** More than one licence of a key is rare; ten are enough to say which written forms exist. */
const SAME_KEY = 10;

/** Every licence whose number has the key of the written form; `undefined` for separators alone. */
export function numberQuery(written: string): SearchBody | undefined {
  const key = numberKey(written);
  if (key === '') return undefined;
  return {
    size: SAME_KEY,
    track_total_hits: false,
    query: { bool: { filter: [{ term: { 'keys.number': key } }] } },
  };
}

/**
 * Holders at a board by whole surname and the beginning of the given names, exact names first, then by name
 * and number. `undefined` when one of the names has neither letter nor digit: nobody has such a name.
 */
export function personQuery(
  board: Board,
  lastName: string,
  firstName: string | undefined,
  narrowing: Narrowing,
): SearchBody | undefined {
  const surname = typedSurname(lastName);
  if (surname === '') return undefined;
  const given = fold(firstName ?? '');
  if (firstName !== undefined && given === '') return undefined;
  const name = `${board.code}/${surname}/${given}`;
  return namesQuery(
    { prefix: { 'keys.holder': name } },
    given === '' ? { prefix: { 'keys.name': name } } : { term: { 'keys.name': name } },
    narrowing,
  );
}

/**
 * Businesses, at one board or at all, by the beginning of either trade name, exact names first, then by name
 * and number. `undefined` when the name has neither letter nor digit.
 */
export function businessQuery(
  board: Board | undefined,
  businessName: string,
  narrowing: Narrowing,
): SearchBody | undefined {
  const tradeName = tradeNameKey(businessName);
  if (tradeName === '') return undefined;
  const name = `${board?.code ?? ''}/${tradeName}`;
  return namesQuery({ prefix: { 'keys.business': name } }, { term: { 'keys.business': name } }, narrowing);
}

function namesQuery(matches: Clause, exact: Clause, narrowing: Narrowing): SearchBody {
  return {
    size: MAX_MATCHES + 1,
    track_total_hits: false,
    query: {
      bool: {
        filter: [matches, ...narrowingClauses(narrowing)],
        should: [{ constant_score: { filter: exact } }],
      },
    },
    sort: [{ _score: 'desc' }, { 'keys.name': 'asc' }, { 'keys.number': 'asc' }],
  };
}

function narrowingClauses(narrowing: Narrowing): Clause[] {
  return NARROWING_FIELDS.flatMap((field) => {
    const value = narrowing[field];
    return value === undefined ? [] : [{ term: { [`keys.${field}`]: fold(value) } }];
  });
}
