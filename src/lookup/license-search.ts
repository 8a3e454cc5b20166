import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { type StoredLicense, storedLicense } from '../licenses/document.ts';
import { COMPLETENESS_PATHS, completeness, requireComplete, search } from '../storage/checked-search.ts';
import type { NearTermsBody, SearchBody } from './queries.ts';

const searchResponse = z.object({
  hits: z.object({ hits: z.array(z.object({ _source: storedLicense })) }).default({ hits: [] }),
});

/** Keys that licenses are found by and that nobody reads: more than a quarter of an answer. */
const UNREAD_KEYS = ['number', 'digits', 'surname', 'words', 'license_type', 'status', 'city', 'county'];

/** What is sent back of an answer that stands at this place, as OpenSearch's `filter_path` has it. */
function filterPath(place: string): string[] {
  return [
    ...[...COMPLETENESS_PATHS, 'hits.hits._source'].map((path) => place + path),
    ...UNREAD_KEYS.map((key) => `-${place}hits.hits._source.keys.${key}`),
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

/** One search of its own, and what it asks for. */
export interface Sought<Key = string> {
  readonly body: SearchBody;
  readonly key: Key;
}

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
 * Asks one physical index for licenses, several times in one request. Each answer succeeds or fails by itself, as
 * `searchLicenses` does.
 */
export async function searchTogether(
  client: Client,
  index: string,
  bodies: readonly SearchBody[],
): Promise<readonly (StoredLicense[] | Promise<StoredLicense[]>)[]> {
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
 * Asks one physical index for document ids, each by the body of a search for it, in one `_mget`: nothing is
 * searched for, and what is stored is sent as it is. Each answer succeeds or fails by itself, as `searchLicenses`
 * does.
 */
export async function licensesById(
  client: Client,
  index: string,
  sought: readonly Sought[],
): Promise<readonly (StoredLicense[] | Promise<StoredLicense[]>)[]> {
  const ids = sought.map(({ key }) => key);
  const { body } = await client.mget({ index, realtime: false, body: { ids } });
  const { docs } = byIdResponse.parse(body);
  return sought.map((each, at) => {
    const doc = docs[at];
    // Searched for alone, it fails with the error that says why.
    if (doc === undefined || 'error' in doc) return searchLicenses(client, index, each.body);
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
 * Asks one physical index for terms spelled nearly like the body's, best first.
 *
 * @throws {SearchUnavailableError} when the response is partial
 */
export async function nearTerms(client: Client, index: string, body: NearTermsBody): Promise<string[]> {
  const { suggest } = await search(client, nearTermsResponse, { index, body });
  return suggest.near[0].options.map((option) => option.text);
}
