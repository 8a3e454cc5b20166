import type { Client } from '@opensearch-project/opensearch';
import type { StoredLicense } from '../licenses/license-document.ts';
import { MAX_MATCHES } from '../licenses/lookup-outcome.ts';
import { numberDigits, numberKey } from '../licenses/number.ts';
import { batcher } from '../storage/batcher.ts';
import { batchSize, openSearchSeconds } from '../telemetry/metrics.ts';
import type { LicenseQuery, NearNumberQuery, PersonQuery } from './license-query.ts';
import type { Search } from './lookup-steps.ts';
import { licensesById, searchLicenses, searchSeparately } from './opensearch-requests.ts';
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

/**
 * Measured on two cores with 64 clients: larger batches delay responses, and more concurrency makes batches smaller.
 * While one batch has half of the clients' numbers, the process writes the responses of the other half.
 */
const NUMBERS = { maxBatchSize: 32, concurrency: 1 };
const PERSONS = { maxBatchSize: 32, concurrency: 2 };
const NEAR_NUMBERS = { maxBatchSize: 32, concurrency: 2 };
const OTHERS = { maxBatchSize: 16, concurrency: 4 };

/**
 * Runs queries in one physical index, and batches concurrent queries of the same kind into one request. Queries by id
 * become one `_mget`. Queries by number, by surname and given name, and for similar numbers become one search whose
 * result is split. The others become separate searches in one `_msearch`.
 */
export function batchedSearch(client: Client, index: string): Search {
  const byId = batcher(
    withMetrics('ids', (queries: readonly IdQuery[]) => licensesById(client, index, queries)),
    NUMBERS,
  );
  const byNumber = batcher(withMetrics('numbers', asSharedSearch(client, index, NUMBERS_SEARCH)), NUMBERS);
  const byPerson = batcher(withMetrics('persons', asSharedSearch(client, index, PERSONS_SEARCH)), PERSONS);
  const near = batcher(withMetrics('near_numbers', asSharedSearch(client, index, NEAR_SEARCH)), NEAR_NUMBERS);
  const others = batcher(
    withMetrics('others', (queries: readonly LicenseQuery[]) => searchSeparately(client, index, queries)),
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

/** A query for a surname alone is sent separately: it may have too many matches to share a search. */
function canShareSearch({ hasGivenName, select, filters }: PersonQuery): boolean {
  return hasGivenName && select === 'all' && Object.values(filters).every((value) => value === undefined);
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
function asSharedSearch<Query extends LicenseQuery>(
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
