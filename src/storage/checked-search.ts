import type { API, Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { SearchUnavailableError } from './errors.ts';

const shards = z.object({ total: z.int(), successful: z.int(), failed: z.int() });

export const completeness = z.object({ timed_out: z.boolean(), _shards: shards });

/**
 * Checks that a search response covers every shard. OpenSearch does not count an unassigned shard as failed, so
 * `successful` must equal `total`, too.
 *
 * @throws {SearchUnavailableError} when the response is partial
 */
export function requireComplete({ timed_out: timedOut, _shards }: z.output<typeof completeness>): void {
  if (timedOut) throw new SearchUnavailableError('OpenSearch ran out of time and answered only in part.');
  requireAllShards(_shards);
}

function requireAllShards({ total, successful, failed }: z.output<typeof shards>): void {
  if (failed === 0 && successful === total) return;
  throw new SearchUnavailableError(
    `OpenSearch answered only in part: ${successful} of ${total} shards, ${failed} failed.`,
  );
}

/** @throws {SearchUnavailableError} when the response is partial: a timeout, or a failed or unassigned shard */
export async function search<Schema extends z.ZodType>(
  client: Client,
  schema: Schema,
  request: API.Search_Request,
): Promise<z.output<Schema>> {
  const { body } = await client.search({ ...request, allow_partial_search_results: false });
  requireComplete(completeness.parse(body));
  return schema.parse(body);
}

const countResponse = z.object({ count: z.int(), _shards: shards });

/** @throws {SearchUnavailableError} when a shard failed or is unassigned */
export async function countDocuments(
  client: Client,
  index: string,
  query?: NonNullable<API.Count_RequestBody>['query'],
): Promise<number> {
  const response = await client.count({ index, ...(query === undefined ? {} : { body: { query } }) });
  const { count, _shards } = countResponse.parse(response.body);
  requireAllShards(_shards);
  return count;
}

const KEPT_BETWEEN_PAGES = '1m';

const page = completeness.extend({
  hits: z.object({
    total: z.object({ value: z.int() }),
    hits: z.array(
      z.object({
        _id: z.string(),
        _seq_no: z.int(),
        _primary_term: z.int(),
        _source: z.looseObject({}),
      }),
    ),
  }),
});

export type StoredDocument = z.output<typeof page>['hits']['hits'][number];

/**
 * Every document of an index as of now, in the order in which they were written.
 *
 * @param size how many are read at once
 * @throws {Error} when fewer or more were read than there are
 */
export async function* pagesOf(client: Client, index: string, size: number) {
  await client.indices.refresh({ index });
  const responses = client.helpers.scrollSearch({
    index,
    scroll: KEPT_BETWEEN_PAGES,
    allow_partial_search_results: false,
    body: {
      size,
      seq_no_primary_term: true,
      track_total_hits: true,
      sort: [{ _seq_no: 'asc' }],
    },
  });
  let [read, all] = [0, 0];
  for await (const { body } of responses) {
    const { hits, ...complete } = page.parse(body);
    requireComplete(complete);
    [read, all] = [read + hits.hits.length, hits.total.value];
    yield hits.hits;
  }
  if (read !== all) throw new Error(`${index} has ${all} documents; ${read} were read.`);
}
