import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { type StoredLicense, storedLicense } from '../licenses/document.ts';
import type { NearTermsBody, SearchBody } from '../licenses/queries.ts';
import { SearchUnavailableError } from './client.ts';

const searchResponse = z.object({
  timed_out: z.boolean(),
  _shards: z.object({ failed: z.int() }),
  hits: z.object({ hits: z.array(z.object({ _source: storedLicense })) }).default({ hits: [] }),
});

const FILTER_PATH = ['timed_out', '_shards.failed', 'hits.hits._source'];

/**
 * Asks one physical index for licences.
 *
 * @throws {SearchUnavailableError} when the answer is not whole: timed out, or a shard failed
 */
export async function searchLicenses(
  client: Client,
  index: string,
  body: SearchBody,
): Promise<StoredLicense[]> {
  const response = await client.search({ index, body, filter_path: FILTER_PATH });
  const { timed_out: timedOut, _shards: shards, hits } = searchResponse.parse(response.body);
  if (timedOut || shards.failed > 0) throw new SearchUnavailableError('OpenSearch answered only in part');
  return hits.hits.map((hit) => hit._source);
}

const nearTermsResponse = z.object({
  timed_out: z.boolean(),
  _shards: z.object({ failed: z.int() }),
  suggest: z.object({ near: z.tuple([z.object({ options: z.array(z.object({ text: z.string() })) })]) }),
});

/**
 * Asks one physical index for terms spelt nearly like the body's, best first.
 *
 * @throws {SearchUnavailableError} when the answer is not whole
 */
export async function nearTerms(client: Client, index: string, body: NearTermsBody): Promise<string[]> {
  const response = await client.search({ index, body });
  const { timed_out: timedOut, _shards: shards, suggest } = nearTermsResponse.parse(response.body);
  if (timedOut || shards.failed > 0) throw new SearchUnavailableError('OpenSearch answered only in part');
  return suggest.near[0].options.map((option) => option.text);
}
