import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { type StoredLicense, storedLicense } from '../licenses/license-document.ts';
import { MAX_MATCHES } from '../licenses/lookup.ts';
import { completeness, requireComplete, search } from '../storage/checked-search.ts';
import { type NameQuery, type NearSurnamesQuery, nameBody, nearSurnamesBody } from './name-queries.ts';
import type { OtherQuery, SearchBody } from './number-queries.ts';
import {
  type IdQuery,
  idBody,
  type NearNumberQuery,
  type NumberQuery,
  nearNumberBody,
  numbersBody,
} from './number-queries.ts';

/** A query to one publication. Each kind has its OpenSearch body beside it. */
export type LicenseQuery = IdQuery | NumberQuery | NearNumberQuery | NameQuery | OtherQuery;

/** The licenses that a query found. */
export interface SearchResult {
  readonly licenses: readonly StoredLicense[];
  /** Whether these are all. If not, there is at least one more than a lookup returns. */
  readonly isComplete: boolean;
}

/**
 * The search for one query.
 *
 * @param maxMatches the most matches of a name; the search asks for one more, which shows that there are more
 */
export function bodyOf(query: LicenseQuery, maxMatches = MAX_MATCHES): SearchBody {
  switch (query.by) {
    case 'id':
      return idBody(query);
    case 'number':
      return numbersBody([query.numberKey]);
    case 'near_number':
      return nearNumberBody(query);
    case 'person':
    case 'business':
      return nameBody(query, maxMatches);
    case 'other':
      return { size: maxMatches + 1, ...query.body };
  }
}

const searchResponse = z.object({
  hits: z.object({ hits: z.array(z.object({ _source: storedLicense })) }),
});

/**
 * Runs one search in a physical index.
 *
 * @throws {SearchUnavailableError} when the response is partial
 */
export async function searchAlone(client: Client, index: string, body: SearchBody): Promise<SearchResult> {
  return resultOf(await search(client, searchResponse, { index, body }), body);
}

/** A search asks for one license more than it may return. */
function resultOf({ hits }: z.output<typeof searchResponse>, { size }: SearchBody): SearchResult {
  const licenses = hits.hits.map((hit) => hit._source);
  return { licenses, isComplete: licenses.length < size };
}

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
export async function searchSeparately(
  client: Client,
  index: string,
  queries: readonly LicenseQuery[],
  maxMatches: number,
): Promise<readonly (SearchResult | Promise<SearchResult>)[]> {
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
export async function licensesById(
  client: Client,
  index: string,
  queries: readonly IdQuery[],
): Promise<readonly (SearchResult | Promise<SearchResult>)[]> {
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
 * Finds surnames with a similar spelling in a physical index, best first: `BOARD/SURNAME`.
 *
 * @throws {SearchUnavailableError} when the response is partial
 */
export async function nearSurnames(
  client: Client,
  index: string,
  query: NearSurnamesQuery,
): Promise<string[]> {
  const { suggest } = await search(client, nearTermsResponse, { index, body: nearSurnamesBody(query) });
  return Object.values(suggest)
    .flatMap(([{ options }]) => options)
    .toSorted((one, other) => other.score - one.score)
    .map((option) => option.text);
}
