import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { BOARDS } from '../licenses/boards.ts';
import { hasFilters } from '../licenses/filters.ts';
import { distinctKeys, fold, numberKey } from '../licenses/fold.ts';
import { type StoredLicense, storedLicense } from '../licenses/license.ts';
import { MAX_LISTED_MATCHES, MAX_MATCHES } from '../licenses/lookup.ts';
import { type BatcherOptions, batcher } from '../storage/batcher.ts';
import { completeness, requireComplete, search } from '../storage/checked-search.ts';
import { batchSize, openSearchSeconds } from '../telemetry/metrics.ts';
import { type Counts, countedFacets, countsOf, FACETS } from './facets.ts';
import {
  BY_NAME,
  type IdQuery,
  isNearNumber,
  matchesOfPersons,
  type NameQuery,
  type NearNumberQuery,
  type NearSurnamesBody,
  type NumberQuery,
  nameBody,
  nearNumberBody,
  nearNumbersBody,
  numbersBody,
  type OtherQuery,
  personsBody,
  type SearchBody,
  searchBody,
} from './queries.ts';

/** A query to one publication. Each kind has its OpenSearch body beside it. */
export type LicenseQuery = IdQuery | NumberQuery | NearNumberQuery | NameQuery | OtherQuery;

/** How many licenses a page lists. */
export const PAGE_SIZE = 25;

/**
 * One page of the licenses that any of the queries finds, with the counts of all of them. Exact names come first, then
 * active licenses.
 *
 * @param page from 1
 * @returns `undefined` without queries
 */
export function listQuery(
  wanted: readonly (NumberQuery | NameQuery | undefined)[],
  page: number,
): OtherQuery | undefined {
  const queries = wanted.filter((query) => query !== undefined);
  if (queries.length === 0) return undefined;
  const clause = (query: LicenseQuery) => bodyOf(query).query;
  const exact = queries.map((query) => clause('select' in query ? { ...query, select: 'exact' } : query));
  const preferred = [
    { constant_score: { filter: { term: { 'keys.status': fold('Active') } } } },
    // Weighs more than the clause before it.
    { constant_score: { filter: { bool: { should: exact } }, boost: 2 } },
  ];
  const body = {
    ...searchBody(PAGE_SIZE, [{ bool: { should: queries.map(clause) } }], LIST_ORDER, preferred),
    from: (page - 1) * PAGE_SIZE,
    track_total_hits: true,
    aggs: FACETS,
  };
  return { by: 'list', body };
}

const LIST_ORDER: SearchBody['sort'] = [{ _score: 'desc' }, ...BY_NAME];

/** The licenses that a query found. */
export interface SearchResult {
  readonly licenses: readonly StoredLicense[];
  /** Whether `licenses` has every match. If not, there is at least one match more than a lookup returns. */
  readonly isComplete: boolean;
  /** For a list: the number of licenses on all pages. */
  readonly total?: number;
  readonly counts?: Counts;
}

/**
 * The search for one query.
 *
 * @param maxMatches the most matches of a name; the search asks for one more, which shows that there are more
 */
export function bodyOf(query: LicenseQuery, maxMatches = MAX_MATCHES): SearchBody {
  if (query.by === 'id') return searchBody(1, [{ ids: { values: [query.id] } }], ['_doc']);
  if (query.by === 'number') return numbersBody([query.numberKey]);
  if (query.by === 'near_number') return nearNumberBody(query);
  return 'body' in query ? query.body : nameBody(query, maxMatches);
}

const searchResponse = z.object({
  hits: z.object({
    total: z.object({ value: z.int() }).optional(),
    hits: z.array(z.object({ _source: storedLicense })),
  }),
  aggregations: countedFacets.optional(),
});

/**
 * Runs one search in a physical index.
 *
 * @throws {SearchUnavailableError} when the response is partial
 */
async function searchAlone(client: Client, index: string, body: SearchBody): Promise<SearchResult> {
  return resultOf(await search(client, searchResponse, { index, body }), body);
}

/** The result if there is no query. */
export const NOTHING: SearchResult = { licenses: [], isComplete: true };

/**
 * Reads a search's response. Each search asks for one license more than it may return, so a full response is
 * incomplete.
 */
function resultOf(
  { hits, aggregations }: z.output<typeof searchResponse>,
  { size }: SearchBody,
): SearchResult {
  const licenses = hits.hits.map((hit) => hit._source);
  const found = { licenses, isComplete: licenses.length < size };
  if (aggregations === undefined) return found;
  return { ...found, total: hits.total?.value ?? 0, counts: countsOf(aggregations) };
}

/** The results of several queries, in their order. Each succeeds or fails by itself. */
type Results = readonly (SearchResult | Promise<SearchResult>)[];

const multiSearchResponse = z.object({
  responses: z.array(
    z.union([
      searchResponse.extend({ ...completeness.shape, status: z.literal(200) }),
      z.object({ status: z.int() }),
    ]),
  ),
});

/**
 * Sends several queries in one `_msearch`, each as a separate search. Each succeeds or fails by itself, as in
 * `searchAlone`.
 *
 * @param maxMatches the most matches of a name
 */
async function searchSeparately(
  client: Client,
  index: string,
  queries: readonly LicenseQuery[],
  maxMatches: number,
): Promise<Results> {
  const bodies = queries.map((query) => bodyOf(query, maxMatches));
  const [only, another] = bodies;
  if (only === undefined) return [];
  if (another === undefined) return [searchAlone(client, index, only)];
  const { body } = await client.msearch({
    index,
    body: bodies.flatMap((each) => [{ allow_partial_search_results: false }, each]),
  });
  const { responses } = multiSearchResponse.parse(body);
  return bodies.map(async (each, at) => {
    const response = responses[at];
    // Sent alone, the query fails with an error that says why.
    if (response === undefined || !('hits' in response)) return searchAlone(client, index, each);
    requireComplete(response);
    return resultOf(response, each);
  });
}

const byIdResponse = z.object({
  docs: z.array(
    z.union([
      z.object({ found: z.literal(true), _source: storedLicense }),
      z.object({ found: z.literal(false) }),
      z.object({ error: z.unknown() }),
    ]),
  ),
});

/**
 * Gets licenses by id in one `_mget`, which is cheaper than a search. Each query succeeds or fails by itself, as in
 * `searchAlone`.
 */
async function licensesById(client: Client, index: string, queries: readonly IdQuery[]): Promise<Results> {
  const ids = queries.map(({ id }) => id);
  const { body } = await client.mget({ index, realtime: false, body: { ids } });
  const { docs } = byIdResponse.parse(body);
  return queries.map((query, at) => {
    const doc = docs[at];
    // Sent alone, the query fails with an error that says why.
    if (doc === undefined || 'error' in doc) return searchAlone(client, index, bodyOf(query));
    return { licenses: doc.found ? [doc._source] : [], isComplete: true };
  });
}

const nearTermsResponse = z.object({
  suggest: z.record(
    z.string(),
    z.tuple([z.object({ options: z.array(z.object({ text: z.string(), score: z.number() })) })]),
  ),
});

/**
 * Finds surnames with a similar spelling in a physical index, best first.
 *
 * @throws {SearchUnavailableError} when the response is partial
 */
async function nearSurnames(client: Client, index: string, body: NearSurnamesBody): Promise<string[]> {
  const { suggest } = await search(client, nearTermsResponse, { index, body });
  const terms = Object.values(suggest)
    .flatMap(([{ options }]) => options)
    .toSorted((one, other) => other.score - one.score);
  // `BOARD/SURNAME`
  return distinctKeys(terms.map(({ text }) => text.slice(text.indexOf('/') + 1)));
}

/** Searches one publication. */
export type PublicationSearch = ReturnType<typeof publicationSearch>;

/**
 * The limits for single lookups. Measured on two cores with 64 clients: larger batches delay responses, and more
 * concurrency makes batches smaller. While one batch has half of the clients' numbers, the process writes the responses
 * of the other half.
 */
export const SINGLE_LIMITS = {
  /** Queries by id, and by number in any form. */
  numbers: { maxBatchSize: 32, concurrency: 1 },
  persons: { maxBatchSize: 32, concurrency: 2 },
  nearNumbers: { maxBatchSize: 32, concurrency: 2 },
  others: { maxBatchSize: 16, concurrency: 4 },
  /**
   * The most licenses that one search for several persons returns for all of them together. Even for initials, there
   * are rarely more.
   */
  maxOfSeveralPersons: 1000,
  /** The most licenses that a query for a name returns. */
  maxMatches: MAX_MATCHES,
};

/** How queries of each kind are batched, and how many matches a name may have. */
type SearchLimits = Readonly<typeof SINGLE_LIMITS>;

/**
 * The batches of lists, which read every match to count it. They share no request with lookups, because lookups would
 * wait for them.
 */
const LIST_BATCHES = { maxBatchSize: 8, concurrency: 2 };

/**
 * The limits for many lookups at once (docs/decisions/014). They never share a batch with single lookups, because
 * single lookups would wait for them.
 */
export const MANY_LIMITS: SearchLimits = {
  numbers: { maxBatchSize: 250, concurrency: 2 },
  persons: { maxBatchSize: 250, concurrency: 2 },
  nearNumbers: { maxBatchSize: 25, concurrency: 2 },
  others: { maxBatchSize: 16, concurrency: 2 },
  maxOfSeveralPersons: 5000,
  maxMatches: MAX_LISTED_MATCHES,
};

/** Returns the same search for all lookups in an index, so that they share batches. */
export function searchByIndex(client: Client, limits: SearchLimits): (index: string) => PublicationSearch {
  let latest: { readonly index: string; readonly search: PublicationSearch } | undefined;
  return (index) => {
    if (latest?.index !== index) latest = { index, search: publicationSearch(client, index, limits) };
    return latest.search;
  };
}

/**
 * Runs queries in one physical index, and batches concurrent queries of the same kind into one request. Queries by id
 * become one `_mget`. Queries by number, by surname and given name, and for similar numbers become one search whose
 * result is split. The others become separate searches in one `_msearch`.
 */
function publicationSearch(client: Client, index: string, limits: SearchLimits) {
  const { maxMatches } = limits;

  /** Sends the queries of one kind as one request: as separate searches, or as one search whose result is split. */
  function batched<Query extends LicenseQuery>(
    kind: string,
    options: BatcherOptions,
    shared?: SharedSearch<Query>,
  ): (query: Query) => Promise<SearchResult> {
    const request = (queries: readonly Query[]) =>
      shared === undefined || queries.length === 1
        ? searchSeparately(client, index, queries, maxMatches)
        : searchShared(client, index, queries, shared, maxMatches);
    return batcher(measured(kind, request), options);
  }

  const byId = batcher(
    measured('ids', (queries: readonly IdQuery[]) => licensesById(client, index, queries)),
    limits.numbers,
  );
  const byNumber = batched('numbers', limits.numbers, NUMBERS_SEARCH);
  const byPerson = batched('persons', limits.persons, personsSearch(limits.maxOfSeveralPersons));
  const near = batched('near_numbers', limits.nearNumbers, NEAR_SEARCH);
  const others = batched('others', limits.others);
  const lists = batched('lists', LIST_BATCHES);
  return {
    /** Runs a query. Finds nothing if there is no query. */
    search: async (query: LicenseQuery | undefined): Promise<SearchResult> => {
      if (query === undefined) return NOTHING;
      if (query.by === 'id') return byId(query);
      if (query.by === 'number') return byNumber(query);
      if (query.by === 'person' && canShareSearch(query)) return byPerson(query);
      if (query.by === 'near_number' && !query.businessOnly) return near(query);
      return query.by === 'list' ? lists(query) : others(query);
    },
    /** Finds surnames with a similar spelling, best first, each once. */
    nearSurnames: async (body: NearSurnamesBody | undefined): Promise<readonly string[]> =>
      body === undefined ? [] : nearSurnames(client, index, body),
  };
}

/**
 * A query for a surname alone, or at all boards, is sent separately, because it may have too many matches to share a
 * search.
 */
function canShareSearch({ names, isWhole, select, filters }: NameQuery): boolean {
  return names.length < BOARDS.length && isWhole && select === 'all' && !hasFilters(filters);
}

/** Measures each batch's size and the duration of its request, under the metrics' label `asks`. */
function measured<Query, Response>(kind: string, request: (queries: readonly Query[]) => Promise<Response>) {
  return async (queries: readonly Query[]): Promise<Response> => {
    batchSize.observe({ asks: kind }, queries.length);
    const stopTimer = openSearchSeconds.startTimer({ asks: kind });
    const response = request(queries);
    response.then(
      () => stopTimer({ answered: 'yes' }),
      () => stopTimer({ answered: 'no' }),
    );
    return response;
  };
}

/** How several queries of a kind become one search whose result is split by query. */
interface SharedSearch<Query> {
  readonly body: (queries: readonly Query[]) => SearchBody;
  /** Returns what a query's own search would find, or more. */
  readonly split: (found: readonly StoredLicense[]) => (query: Query) => readonly StoredLicense[];
}

const NUMBERS_SEARCH: SharedSearch<NumberQuery> = {
  body: (queries) => numbersBody(distinctKeys(queries.map((query) => query.numberKey))),
  split: (found) => {
    const byKey = Map.groupBy(found, (license) => numberKey(license.license_number));
    return (query) => byKey.get(query.numberKey) ?? [];
  },
};

function personsSearch(maxFound: number): SharedSearch<NameQuery> {
  return {
    body: (queries) => personsBody(distinctKeys(queries.flatMap((query) => query.names)), maxFound),
    split: matchesOfPersons,
  };
}

const NEAR_SEARCH: SharedSearch<NearNumberQuery> = {
  body: nearNumbersBody,
  split: (found) => (query) => found.filter((license) => isNearNumber(query, license.license_number)),
};

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
): Promise<Results> {
  const shared = body(queries);
  const { licenses: found, isComplete } = await searchAlone(client, index, shared);
  if (!isComplete) return searchSeparately(client, index, queries, maxMatches);
  const foundBy = split(found);
  return queries.map((query) => ({ licenses: foundBy(query), isComplete: true }));
}
