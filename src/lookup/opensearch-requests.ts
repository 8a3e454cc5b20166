import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { type StoredLicense, storedLicense } from '../licenses/license-document.ts';
import { completeness, requireComplete, search } from '../storage/checked-search.ts';
import type { LicenseQuery, NearSurnamesQuery, SearchResult } from './license-query.ts';
import { nearSurnamesBody, type SearchBody, searchBody } from './search-bodies.ts';
import { MAX_SUGGESTED_NAMES } from './suggestions.ts';

const searchResponse = z.object({
  hits: z.object({ hits: z.array(z.object({ _source: storedLicense })) }),
});

const multiSearchResponse = z.object({
  responses: z.array(
    z.union([
      searchResponse.extend({ ...completeness.shape, status: z.literal(200) }),
      z.object({ status: z.int() }),
    ]),
  ),
});

/**
 * Runs one search in a physical index.
 *
 * @throws {SearchUnavailableError} when the response is partial
 */
export async function searchLicenses(
  client: Client,
  index: string,
  body: SearchBody,
): Promise<StoredLicense[]> {
  return licensesIn(await search(client, searchResponse, { index, body }));
}

/**
 * Runs one query's own search in a physical index.
 *
 * @throws {SearchUnavailableError} when the response is partial
 */
export async function searchAlone(client: Client, index: string, body: SearchBody): Promise<SearchResult> {
  return resultOf(await searchLicenses(client, index, body), body);
}

/** A search asks for one license more than it may return. */
function resultOf(licenses: readonly StoredLicense[], { size }: SearchBody): SearchResult {
  return { licenses, isComplete: licenses.length < size };
}

/**
 * Sends several queries in one `_msearch`, each as a separate search. Each succeeds or fails by itself, as in
 * `searchAlone`.
 *
 * @param maxMatches the most matches of a name
 */
export async function searchSeparately(
  client: Client,
  index: string,
  queries: readonly LicenseQuery[],
  maxMatches: number,
): Promise<readonly (SearchResult | Promise<SearchResult>)[]> {
  const bodies = queries.map((query) => searchBody(query, maxMatches));
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
    return resultOf(licensesIn(response), each);
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
export async function licensesById(
  client: Client,
  index: string,
  queries: readonly Extract<LicenseQuery, { by: 'id' }>[],
): Promise<readonly (SearchResult | Promise<SearchResult>)[]> {
  const ids = queries.map(({ id }) => id);
  const { body } = await client.mget({ index, realtime: false, body: { ids } });
  const { docs } = byIdResponse.parse(body);
  return queries.map((query, at) => {
    const doc = docs[at];
    // Sent alone, the query fails with an error that says why.
    if (doc === undefined || 'error' in doc) return searchAlone(client, index, searchBody(query));
    return { licenses: doc.found ? [doc._source] : [], isComplete: true };
  });
}

function licensesIn({ hits }: z.output<typeof searchResponse>): StoredLicense[] {
  return hits.hits.map((hit) => hit._source);
}

const nearTermsResponse = z.object({
  suggest: z.record(
    z.string(),
    z.tuple([z.object({ options: z.array(z.object({ text: z.string(), score: z.number() })) })]),
  ),
});

/**
 * Finds surnames with a similar spelling in a physical index, best first: `BOARD/SURNAME`.
 *
 * @throws {SearchUnavailableError} when the response is partial
 */
export async function nearSurnames(
  client: Client,
  index: string,
  query: NearSurnamesQuery,
): Promise<string[]> {
  const body = nearSurnamesBody(query, MAX_SUGGESTED_NAMES);
  const { suggest } = await search(client, nearTermsResponse, { index, body });
  return Object.values(suggest)
    .flatMap(([{ options }]) => options)
    .toSorted((one, other) => other.score - one.score)
    .map((option) => option.text);
}
