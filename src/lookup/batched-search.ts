import type { Client } from '@opensearch-project/opensearch';
import type { StoredLicense } from '../licenses/license-document.ts';
import { numberDigits, numberKey } from '../licenses/number.ts';
import { type BatcherOptions, batcher } from '../storage/batcher.ts';
import { batchSize, openSearchSeconds } from '../telemetry/metrics.ts';
import type { LicenseQuery, NearNumberQuery, PersonQuery, Search, SearchResult } from './license-query.ts';
import { licensesById, searchAlone, searchLicenses, searchSeparately } from './opensearch-requests.ts';
import {
  MAX_NEAR_NUMBERS,
  nearNumbersBody,
  numbersBody,
  personsBody,
  type SearchBody,
  searchBody,
} from './search-bodies.ts';

type IdQuery = Extract<LicenseQuery, { by: 'id' }>;
type NumberQuery = Extract<LicenseQuery, { by: 'number' }>;
type Found = readonly StoredLicense[];

/** How queries of each kind are batched, and how many matches a name may have. */
export interface SearchLimits {
  readonly ids: BatcherOptions;
  readonly numbers: BatcherOptions;
  readonly persons: BatcherOptions;
  readonly nearNumbers: BatcherOptions;
  readonly others: BatcherOptions;
  /** The most licenses that one search for several persons finds for all of them together. */
  readonly maxOfSeveralPersons: number;
  /** The most licenses that a query for a name returns. */
  readonly maxMatches: number;
}

/**
 * Runs queries in one physical index, and batches concurrent queries of the same kind into one request. Queries by id
 * become one `_mget`. Queries by number, by surname and given name, and for similar numbers become one search whose
 * result is split. The others become separate searches in one `_msearch`.
 */
export function batchedSearch(client: Client, index: string, limits: SearchLimits): Search {
  const { maxMatches } = limits;

  /** The queries of one kind as one request: separate searches of it, or one search whose result is split. */
  function batched<Query extends LicenseQuery>(
    asks: string,
    options: BatcherOptions,
    shared?: SharedSearch<Query>,
  ): (query: Query) => Promise<SearchResult> {
    const request = (queries: readonly Query[]) =>
      shared === undefined || queries.length === 1
        ? searchSeparately(client, index, queries, maxMatches)
        : searchShared(client, index, queries, shared, maxMatches);
    return batcher(withMetrics(asks, request), options);
  }

  const byId = batcher(
    withMetrics('ids', (queries: readonly IdQuery[]) => licensesById(client, index, queries)),
    limits.ids,
  );
  const byNumber = batched('numbers', limits.numbers, NUMBERS_SEARCH);
  const byPerson = batched('persons', limits.persons, personsSearch(limits.maxOfSeveralPersons));
  const near = batched('near_numbers', limits.nearNumbers, NEAR_SEARCH);
  const others = batched('others', limits.others);
  return (query) => {
    switch (query.by) {
      case 'id':
        return byId(query);
      case 'number':
        return byNumber(query);
      case 'person':
        return canShareSearch(query) ? byPerson(query) : others(query);
      case 'near_number':
        return query.businessOnly ? others(query) : near(query);
      default:
        return others(query);
    }
  };
}

/** A query for a surname alone, or at all boards, is sent separately: it may have too many matches to share a search. */
function canShareSearch({ names, hasGivenName, select, filters }: PersonQuery): boolean {
  return (
    names.length === 1 &&
    hasGivenName &&
    select === 'all' &&
    Object.values(filters).every((value) => value === undefined)
  );
}

/** Measures each batch's size and the duration of its request, under the metrics' label `asks`. */
function withMetrics<Query, Response>(
  asks: string,
  request: (queries: readonly Query[]) => Promise<Response>,
) {
  return async (queries: readonly Query[]): Promise<Response> => {
    batchSize.observe({ asks }, queries.length);
    const stopTimer = openSearchSeconds.startTimer({ asks });
    try {
      const response = await request(queries);
      stopTimer({ answered: 'yes' });
      return response;
    } catch (error) {
      stopTimer({ answered: 'no' });
      throw error;
    }
  };
}

/** How several queries of a kind become one search whose result is split by query. */
interface SharedSearch<Query> {
  readonly body: (queries: readonly Query[]) => SearchBody;
  /** Returns what a query's own search would find; `undefined` when the shared search may have found less. */
  readonly split: (found: Found) => (query: Query) => Found | undefined;
}

/**
 * Runs several queries as one search. When the search returns its maximum of licenses, some query's licenses may be
 * missing, so the queries are run again as separate searches.
 */
async function searchShared<Query extends LicenseQuery>(
  client: Client,
  index: string,
  queries: readonly Query[],
  { body, split }: SharedSearch<Query>,
  maxMatches: number,
): Promise<readonly (SearchResult | Promise<SearchResult>)[]> {
  const shared = body(queries);
  const found = await searchLicenses(client, index, shared);
  if (found.length === shared.size) return searchSeparately(client, index, queries, maxMatches);
  const foundBy = split(found);
  return queries.map((query) => {
    const licenses = foundBy(query);
    return licenses === undefined
      ? searchAlone(client, index, searchBody(query, maxMatches))
      : { licenses, isComplete: true };
  });
}

function distinct(keys: readonly string[]): string[] {
  return [...new Set(keys)];
}

const NUMBERS_SEARCH: SharedSearch<NumberQuery> = {
  body: (queries) => numbersBody(distinct(queries.map((query) => query.numberKey))),
  split: (found) => {
    const byKey = Map.groupBy(found, (license) => numberKey(license.license_number));
    return (query) => byKey.get(query.numberKey) ?? [];
  },
};

/** The part of a person's key before the given names: `BOARD/SURNAME/`. */
function boardAndSurname(name: string): string {
  return name.slice(0, name.lastIndexOf('/') + 1);
}

function personsSearch(maxFound: number): SharedSearch<PersonQuery> {
  return {
    body: (queries) => personsBody(distinct(queries.flatMap((query) => query.names)), maxFound),
    split: (found) => {
      const holders = found.flatMap((license) => license.keys.holder.map((name) => ({ name, license })));
      const bySurname = Map.groupBy(holders, ({ name }) => boardAndSurname(name));
      return ({ names }) =>
        names.flatMap((searched) =>
          (bySurname.get(boardAndSurname(searched)) ?? [])
            .filter(({ name }) => name.startsWith(searched))
            .map(({ license }) => license),
        );
    },
  };
}

const NEAR_SEARCH: SharedSearch<NearNumberQuery> = {
  body: nearNumbersBody,
  split:
    (found) =>
    ({ digits, beginning, misread }) => {
      const near = found.filter(({ license_number: number }) => {
        const key = numberKey(number);
        const beginsWithIt = beginning !== undefined && key.startsWith(beginning);
        return beginsWithIt || misread.includes(key) || numberDigits(number) === digits;
      });
      return near.length > MAX_NEAR_NUMBERS ? undefined : near;
    },
};
