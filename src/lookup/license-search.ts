import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { SEARCH_ONLY_KEYS, type StoredLicense, storedLicense } from '../licenses/license-document.ts';
import { COMPLETENESS_PATHS, completeness, requireComplete, search } from '../storage/checked-search.ts';
import type { LicenseQuery, NearSurnamesQuery } from './license-query.ts';
import { MAX_OFFERED_NAMES } from './look-up.ts';
import { nearSurnamesBody, type SearchBody, searchBody } from './opensearch.ts';

const searchResponse = z.object({
  hits: z.object({ hits: z.array(z.object({ _source: storedLicense })) }).default({ hits: [] }),
});

/** What is returned of a response at this place: the fields that `storedLicense` reads, as `filter_path` has it. */
function filterPath(place: string): string[] {
  return [
    ...[...COMPLETENESS_PATHS, 'hits.hits._source'].map((path) => place + path),
    ...SEARCH_ONLY_KEYS.map((key) => `-${place}hits.hits._source.keys.${key}`),
  ];
}

const FILTER_PATH = filterPath('');

const togetherResponse = z.object({
  responses: z.array(
    z.union([
      searchResponse.extend({ ...completeness.shape, status: z.literal(200) }),
      z.object({ status: z.int() }),
    ]),
  ),
});

const TOGETHER_FILTER_PATH = ['responses.status', ...filterPath('responses.')];

/**
 * Asks one physical index for licenses.
 *
 * @throws {SearchUnavailableError} when the response is partial
 */
export async function searchLicenses(
  client: Client,
  index: string,
  body: SearchBody,
): Promise<StoredLicense[]> {
  return licensesIn(await search(client, searchResponse, { index, body, filter_path: FILTER_PATH }));
}

/**
 * Asks one physical index several queries in one request, each by a search of its own. Each succeeds or fails by
 * itself, as `searchLicenses` does.
 */
export async function searchSeparately(
  client: Client,
  index: string,
  queries: readonly LicenseQuery[],
): Promise<readonly (StoredLicense[] | Promise<StoredLicense[]>)[]> {
  const bodies = queries.map(searchBody);
  const [only, another] = bodies;
  if (only === undefined) return [];
  if (another === undefined) return [searchLicenses(client, index, only)];
  const { body } = await client.msearch({
    index,
    body: bodies.flatMap((each) => [{ allow_partial_search_results: false }, each]),
    filter_path: TOGETHER_FILTER_PATH,
  });
  const { responses } = togetherResponse.parse(body);
  return bodies.map(async (each, at) => {
    const response = responses[at];
    // Asked alone, it fails with the error that says why.
    if (response === undefined || !('hits' in response)) return searchLicenses(client, index, each);
    requireComplete(response);
    return licensesIn(response);
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
 * Asks one physical index for licenses by id, in one `_mget`: nothing is searched for, and what is stored is sent as
 * it is. Each query succeeds or fails by itself, as `searchLicenses` does.
 */
export async function licensesById(
  client: Client,
  index: string,
  queries: readonly Extract<LicenseQuery, { by: 'id' }>[],
): Promise<readonly (StoredLicense[] | Promise<StoredLicense[]>)[]> {
  const ids = queries.map(({ id }) => id);
  const { body } = await client.mget({ index, realtime: false, body: { ids } });
  const { docs } = byIdResponse.parse(body);
  return queries.map((query, at) => {
    const doc = docs[at];
    // Searched for alone, it fails with the error that says why.
    if (doc === undefined || 'error' in doc) return searchLicenses(client, index, searchBody(query));
    return doc.found ? [doc._source] : [];
  });
}

function licensesIn({ hits }: z.output<typeof searchResponse>): StoredLicense[] {
  return hits.hits.map((hit) => hit._source);
}

const nearTermsResponse = z.object({
  suggest: z.object({ near: z.tuple([z.object({ options: z.array(z.object({ text: z.string() })) })]) }),
});

/**
 * Asks one physical index for surnames spelled nearly like one, best first: `BOARD/SURNAME`.
 *
 * @throws {SearchUnavailableError} when the response is partial
 */
export async function nearSurnames(
  client: Client,
  index: string,
  query: NearSurnamesQuery,
): Promise<string[]> {
  const body = nearSurnamesBody(query, MAX_OFFERED_NAMES);
  const { suggest } = await search(client, nearTermsResponse, { index, body });
  return suggest.near[0].options.map((option) => option.text);
}
