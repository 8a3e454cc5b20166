import type { Client } from '@opensearch-project/opensearch';
import type { StoredLicense } from '../licenses/license-document.ts';
import { MAX_MATCHES } from '../licenses/lookup-outcome.ts';
import { numberDigits, numberKey } from '../licenses/number.ts';
import { batcher } from '../storage/batcher.ts';
import { batchSize, openSearchSeconds } from '../telemetry/metrics.ts';
import type { LicenseQuery, NearNumberQuery, PersonQuery } from './license-query.ts';
import { licensesById, searchLicenses, searchSeparately } from './license-search.ts';
import type { Search } from './look-up.ts';
import {
  MAX_NEAR_NUMBERS,
  nearNumbersBody,
  numbersBody,
  personsBody,
  type SearchBody,
  searchBody,
} from './opensearch.ts';

type IdQuery = Extract<LicenseQuery, { by: 'id' }>;
type NumberQuery = Extract<LicenseQuery, { by: 'number' }>;
type Found = readonly StoredLicense[];

/**
 * Measured on two cores with 64 clients: larger batches make responses late, more concurrent ones make batches
 * small. While half of the clients' numbers are in a batch, the process writes the other half's responses.
 */
const NUMBERS = { maxBatchSize: 32, concurrency: 1 };
const PERSONS = { maxBatchSize: 32, concurrency: 2 };
const NEAR_NUMBERS = { maxBatchSize: 32, concurrency: 2 };
const OTHERS = { maxBatchSize: 16, concurrency: 4 };

/**
 * Searches of one physical index. Concurrent queries share requests: queries by id go together in one `_mget`;
 * those by number, by surname and given name, or near to a number become one search for all of them; the others go
 * side by side in one `_msearch`.
 */
export function batchedSearch(client: Client, index: string): Search {
  const byId = batcher(
    measured('ids', (queries: readonly IdQuery[]) => licensesById(client, index, queries)),
    NUMBERS,
  );
  const byNumber = batcher(measured('numbers', inOneSearch(client, index, NUMBERS_SEARCH)), NUMBERS);
  const byPerson = batcher(measured('persons', inOneSearch(client, index, PERSONS_SEARCH)), PERSONS);
  const near = batcher(measured('near_numbers', inOneSearch(client, index, NEAR_SEARCH)), NEAR_NUMBERS);
  const others = batcher(
    measured('others', (queries: readonly LicenseQuery[]) => searchSeparately(client, index, queries)),
    OTHERS,
  );
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

/** A surname alone may have too many matches to be searched for beside others. */
function canShareSearch({ hasGivenName, select, filters }: PersonQuery): boolean {
  return hasGivenName && select === 'all' && Object.values(filters).every((value) => value === undefined);
}

/** Measures how many queries share each request and how long it takes. */
function measured<Query, Response>(asks: string, request: (queries: readonly Query[]) => Promise<Response>) {
  return async (queries: readonly Query[]): Promise<Response> => {
    batchSize.observe({ asks }, queries.length);
    const ended = openSearchSeconds.startTimer({ asks });
    try {
      const response = await request(queries);
      ended({ answered: 'yes' });
      return response;
    } catch (error) {
      ended({ answered: 'no' });
      throw error;
    }
  };
}

/** How several queries of a kind become one search, and its result is split by query again. */
interface SharedSearch<Query> {
  readonly body: (queries: readonly Query[]) => SearchBody;
  /** What a query's own search would find; `undefined` where the shared one may have found less. */
  readonly split: (found: Found) => (query: Query) => Found | undefined;
}

/**
 * Answers several queries by one search for all. Where it finds as many as it may, one query's licenses may have
 * left no room for another's, and each is searched for by itself.
 */
function inOneSearch<Query extends LicenseQuery>(
  client: Client,
  index: string,
  { body, split }: SharedSearch<Query>,
) {
  return async (queries: readonly Query[]): Promise<readonly (Found | Promise<Found>)[]> => {
    if (queries.length === 1) return searchSeparately(client, index, queries);
    const shared = body(queries);
    const found = await searchLicenses(client, index, shared);
    if (found.length === shared.size) return searchSeparately(client, index, queries);
    const foundBy = split(found);
    return queries.map((query) => foundBy(query) ?? searchLicenses(client, index, searchBody(query)));
  };
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

const PERSONS_SEARCH: SharedSearch<PersonQuery> = {
  body: (queries) => personsBody(distinct(queries.map((query) => query.name))),
  split: (found) => (query) =>
    found
      .filter(({ keys }) => keys.holder.some((name) => name.startsWith(query.name)))
      .slice(0, MAX_MATCHES + 1),
};

const NEAR_SEARCH: SharedSearch<NearNumberQuery> = {
  body: nearNumbersBody,
  split:
    (found) =>
    ({ digits, beginning }) => {
      const near = found.filter(
        ({ license_number: number }) =>
          numberDigits(number) === digits ||
          (beginning !== undefined && numberKey(number).startsWith(beginning)),
      );
      return near.length > MAX_NEAR_NUMBERS ? undefined : near;
    },
};
