import type { Client } from '@opensearch-project/opensearch';
import { LRUCache } from 'lru-cache';
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
  matchesOfPersons,
  type NameQuery,
  type NearNumberQuery,
  type NearSurnamesBody,
  type NumberQuery,
  nameBody,
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
  return 'body' in query ? query.body : nameBody(query, maxMatches);
}

const searchResponse = z.object({
  hits: z.object({
    total: z.object({ value: z.int() }).optional(),
    hits: z.array(z.object({ _source: storedLicense })),
  }),
  aggregations: countedFacets.optional(),
});

/** Where queries run: in a physical index. A query for a name returns at most `maxMatches` and one more. */
interface Place {
  readonly client: Client;
  readonly index: string;
  readonly maxMatches: number;
}

/** @throws {SearchUnavailableError} when the response is partial */
async function searchAlone({ client, index }: Place, body: SearchBody): Promise<SearchResult> {
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

/** Sends a batch of queries. The results are in their order; each succeeds or fails by itself. */
type BatchRequest<Query> = (
  place: Place,
  queries: readonly Query[],
) => Promise<readonly (SearchResult | Promise<SearchResult>)[]>;

/** A search that failed, or that found a bad document, is `undefined`. */
const multiSearchResponse = z.object({
  responses: z.array(searchResponse.extend(completeness.shape).optional().catch(undefined)),
});

/** Sends several queries in one `_msearch`, each as a separate search. */
const searchSeparately: BatchRequest<LicenseQuery> = async (place, queries) => {
  const bodies = queries.map((query) => bodyOf(query, place.maxMatches));
  const [only, another] = bodies;
  if (only !== undefined && another === undefined) return [searchAlone(place, only)];
  const { body } = await place.client.msearch({
    index: place.index,
    body: bodies.flatMap((each) => [{ allow_partial_search_results: false }, each]),
  });
  const { responses } = multiSearchResponse.parse(body);
  return bodies.map(async (each, at) => {
    const response = responses[at];
    // Sent alone, the query fails with an error that says why.
    if (response === undefined) return searchAlone(place, each);
    requireComplete(response);
    return resultOf(response, each);
  });
};

const fetched = z.union([
  z.object({ found: z.literal(true), _source: storedLicense }),
  z.object({ found: z.literal(false) }),
]);

/** A license that could not be read is `undefined`. */
const byIdResponse = z.object({ docs: z.array(fetched.optional().catch(undefined)) });

/** Gets licenses by id in one `_mget`, which is cheaper than a search. */
const licensesById: BatchRequest<IdQuery> = async (place, queries) => {
  const ids = queries.map(({ id }) => id);
  const { body } = await place.client.mget({ index: place.index, realtime: false, body: { ids } });
  const { docs } = byIdResponse.parse(body);
  return queries.map((query, at) => {
    const doc = docs[at];
    // Sent alone, the query fails with an error that says why.
    if (doc === undefined) return searchAlone(place, bodyOf(query));
    return { licenses: doc.found ? [doc._source] : [], isComplete: true };
  });
};

/**
 * Sends several queries of a kind as one search whose result is split by query. When the search returns its maximum of
 * licenses, some query's licenses may be missing, so the queries are run again as separate searches.
 *
 * @param split returns what a query's own search would find, or more
 */
function searchTogether<Query extends LicenseQuery>(
  bodyOfAll: (queries: readonly Query[]) => SearchBody,
  split: (found: readonly StoredLicense[]) => (query: Query) => readonly StoredLicense[],
): BatchRequest<Query> {
  return async (place, queries) => {
    if (queries.length === 1) return searchSeparately(place, queries);
    const { licenses: found, isComplete } = await searchAlone(place, bodyOfAll(queries));
    if (!isComplete) return searchSeparately(place, queries);
    const foundBy = split(found);
    return queries.map((query) => ({ licenses: foundBy(query), isComplete: true }));
  };
}

const searchNumbers = searchTogether<NumberQuery>(
  (queries) => numbersBody(distinctKeys(queries.map((query) => query.numberKey))),
  (found) => {
    const byKey = Map.groupBy(found, (license) => numberKey(license.license_number));
    return (query) => byKey.get(query.numberKey) ?? [];
  },
);

/** The most similar numbers for several queries together. Most queries have none or a few. */
const MAX_NEAR_SEVERAL_NUMBERS = 1000;

const searchNearNumbers = searchTogether<NearNumberQuery>(
  (queries) => {
    const should = queries.map(({ body }) => body.query);
    return searchBody(MAX_NEAR_SEVERAL_NUMBERS, [{ bool: { should } }], ['_doc']);
  },
  (found) =>
    ({ isNear }) =>
      found.filter(isNear),
);

/** @param maxFound the most licenses that it finds for all persons together */
function searchPersons(maxFound: number): BatchRequest<NameQuery> {
  return searchTogether(
    (queries) => personsBody(distinctKeys(queries.flatMap((query) => query.names)), maxFound),
    matchesOfPersons,
  );
}

const nearTermsResponse = z.object({
  suggest: z.record(
    z.string(),
    z.tuple([z.object({ options: z.array(z.object({ text: z.string(), score: z.number() })) })]),
  ),
});

/** Finds surnames with a similar spelling, best first. @throws as `searchAlone` */
async function nearSurnames({ client, index }: Place, body: NearSurnamesBody): Promise<string[]> {
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
  others: { maxBatchSize: 16, concurrency: 2 },
  maxOfSeveralPersons: 5000,
  maxMatches: MAX_LISTED_MATCHES,
};

/** Returns the same search for all lookups in an index, so that they share batches. */
export function searchByIndex(client: Client, limits: SearchLimits): (index: string) => PublicationSearch {
  const memoMethod = (index: string) => publicationSearch(client, index, limits);
  const latest = new LRUCache({ max: 1, memoMethod });
  return (index) => latest.memo(index);
}

/**
 * Runs queries in one physical index, and batches concurrent queries of the same kind into one request. Queries by id
 * become one `_mget`. Queries by number, by surname and given name, and for similar numbers become one search whose
 * result is split. The others become separate searches in one `_msearch`.
 */
function publicationSearch(client: Client, index: string, limits: SearchLimits) {
  const { maxMatches, maxOfSeveralPersons } = limits;
  const place = { client, index, maxMatches };

  /** Measures each batch's size and the duration of its request, under the metrics' label `asks`. */
  function batched<Query>(asks: string, options: BatcherOptions, request: BatchRequest<Query>) {
    return batcher(async (queries: readonly Query[]) => {
      batchSize.observe({ asks }, queries.length);
      const stopTimer = openSearchSeconds.startTimer({ asks });
      const response = request(place, queries);
      response.then(
        () => stopTimer({ answered: 'yes' }),
        () => stopTimer({ answered: 'no' }),
      );
      return response;
    }, options);
  }

  const byId = batched('ids', limits.numbers, licensesById);
  const byNumber = batched('numbers', limits.numbers, searchNumbers);
  const byPerson = batched('persons', limits.persons, searchPersons(maxOfSeveralPersons));
  // Larger batches find too many licenses for one search.
  const near = batched('near_numbers', { maxBatchSize: 32, concurrency: 2 }, searchNearNumbers);
  const others = batched('others', limits.others, searchSeparately);
  const lists = batched('lists', LIST_BATCHES, searchSeparately);
  return {
    /** Runs a query. Finds nothing if there is no query. */
    search: async (query: LicenseQuery | undefined): Promise<SearchResult> => {
      if (query === undefined) return NOTHING;
      if (query.by === 'id') return byId(query);
      if (query.by === 'number') return byNumber(query);
      if (query.by === 'person' && canShareSearch(query)) return byPerson(query);
      if (query.by === 'near_number') return near(query);
      return query.by === 'list' ? lists(query) : others(query);
    },
    /** Finds surnames with a similar spelling, best first, each once. */
    nearSurnames: async (body: NearSurnamesBody | undefined): Promise<readonly string[]> =>
      body === undefined ? [] : nearSurnames(place, body),
  };
}

/**
 * A query for a surname alone, or at all boards, is sent separately, because it may have too many matches to share a
 * search.
 */
function canShareSearch({ names, isWhole, select, filters }: NameQuery): boolean {
  return names.length < BOARDS.length && isWhole && select === 'all' && !hasFilters(filters);
}
