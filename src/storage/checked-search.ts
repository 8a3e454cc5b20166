import type { API, Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { SearchUnavailableError } from './errors.ts';

const shards = z.object({ total: z.int(), successful: z.int(), failed: z.int() });

/** What every search response says about its own completeness. */
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

/**
 * Searches OpenSearch and parses the response.
 *
 * @throws {SearchUnavailableError} when the response is partial: a timeout, or a failed or unassigned shard
 */
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

/**
 * Counts the documents of an index that match a query; without a query, all of them.
 *
 * @throws {SearchUnavailableError} when a shard failed or is unassigned
 */
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

const PAGE_SIZE = 1000;
const PAGE_KEPT = '1m';

const pageResponse = z.object({
  hits: z.object({
    total: z.object({ value: z.int() }),
    hits: z.array(
      z.object({
        _id: z.string(),
        _seq_no: z.int(),
        _primary_term: z.int(),
        _source: z.looseObject({}),
        sort: z.array(z.int()),
      }),
    ),
  }),
});

/** A document as it lies in an index. */
export type StoredDocument = z.output<typeof pageResponse>['hits']['hits'][number];

/**
 * Every document of an index as of now, in the order in which they were written.
 *
 * @throws {Error} when fewer or more were read than there are
 */
export async function* pagesOf(client: Client, index: string): AsyncGenerator<readonly StoredDocument[]> {
  await client.indices.refresh({ index });
  const { body: pointInTime } = await client.createPit({
    index: [index],
    keep_alive: PAGE_KEPT,
    allow_partial_pit_creation: false,
  });
  try {
    let read = 0;
    let after: StoredDocument['sort'] | undefined;
    for (;;) {
      const response = await search(client, pageResponse, {
        body: {
          pit: { id: pointInTime.pit_id, keep_alive: PAGE_KEPT },
          size: PAGE_SIZE,
          seq_no_primary_term: true,
          track_total_hits: true,
          sort: [{ _seq_no: 'asc' }, { _shard_doc: 'asc' }],
          ...(after === undefined ? {} : { search_after: after }),
        },
      });
      const { total, hits } = response.hits;
      const last = hits.at(-1);
      if (last === undefined) {
        if (read !== total.value)
          throw new Error(`${index} has ${total.value} documents; ${read} were read.`);
        return;
      }
      read += hits.length;
      after = last.sort;
      yield hits;
    }
  } finally {
    // A point in time that is not deleted expires by itself, so an error here does not matter.
    await client.deletePit({ body: { pit_id: [pointInTime.pit_id] } }).catch(() => undefined);
  }
}
