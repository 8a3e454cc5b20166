import type { API, Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { SearchUnavailableError } from './errors.ts';

export const completeness = z.object({
  timed_out: z.boolean(),
  _shards: z.object({ total: z.int(), successful: z.int(), failed: z.int() }),
});

/**
 * Checks that a search response covers every shard. OpenSearch does not count an unassigned shard as failed, so
 * `successful` must equal `total`, too.
 *
 * @throws {SearchUnavailableError} when the response is partial
 */
export function requireComplete({ timed_out: timedOut, _shards }: z.output<typeof completeness>): void {
  if (timedOut) throw new SearchUnavailableError('OpenSearch ran out of time and answered only in part.');
  const { total, successful, failed } = _shards;
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

const counted = z.object({ hits: z.object({ total: z.object({ value: z.int() }) }) });

/** @throws {SearchUnavailableError} when the response is partial */
export async function countDocuments(
  client: Client,
  index: string,
  query: NonNullable<API.Search_RequestBody['query']> = { match_all: {} },
): Promise<number> {
  const body = { query, size: 0, track_total_hits: true };
  return (await search(client, counted, { index, body })).hits.total.value;
}

/** OpenSearch keeps a scroll for this long between two pages. A client that reads an export more slowly is cut off. */
const SCROLL_KEPT = '1m';

/** No retries: requesting a page a second time would skip it. */
const ONCE = { maxRetries: 0 };

const page = completeness.extend({
  _scroll_id: z.string(),
  hits: z.object({ total: z.object({ value: z.int() }), hits: z.array(z.unknown()) }),
});

/** Documents as OpenSearch stores them. */
export const storedDocuments = z.array(z.object({ _id: z.string(), _source: z.looseObject({}) }));

/**
 * All documents of an index as of the first page. Each page is read when the caller asks for it.
 *
 * @param schema the schema of the documents of a page
 * @throws {SearchUnavailableError} when a page is partial, or when fewer or more documents were read than the index has
 */
export async function* pagesOf<Schema extends z.ZodType>(
  client: Client,
  index: string,
  schema: Schema,
  body: NonNullable<API.Search_RequestBody>,
): AsyncGenerator<z.output<Schema>, undefined, undefined> {
  const scroll = SCROLL_KEPT;
  const all = { ...body, track_total_hits: true };
  let id: string | undefined;
  let read = 0;
  try {
    for (;;) {
      const answer =
        id === undefined
          ? await client.search({ index, scroll, allow_partial_search_results: false, body: all }, ONCE)
          : await client.scroll({ body: { scroll, scroll_id: id } }, ONCE);
      const { _scroll_id, hits, ...complete } = page.parse(answer.body);
      id = _scroll_id;
      requireComplete(complete);
      read += hits.hits.length;
      if (hits.hits.length === 0) {
        if (read === hits.total.value) return undefined;
        throw new SearchUnavailableError(`${index} has ${hits.total.value} documents; ${read} were read.`);
      }
      yield schema.parse(hits.hits);
    }
  } finally {
    // If OpenSearch is down, the scroll expires by itself.
    if (id !== undefined) await client.clearScroll({ body: { scroll_id: [id] } }).catch(() => undefined);
  }
}

const bulkOutcome = z.object({
  status: z.int(),
  error: z.object({ type: z.string(), reason: z.string().nullish() }).optional(),
});

/** The result of one operation in a bulk request. */
export const bulkItem = z
  .partialRecord(z.enum(['index', 'create', 'update']), bulkOutcome)
  .transform(({ index, create, update }) => index ?? create ?? update);

const bulkResponse = z.object({ items: z.array(bulkItem) });

/**
 * Writes documents in one request.
 *
 * @param accepted item statuses of 300 and more that do not count as failures
 * @returns the status of each item, in order
 * @throws {SearchUnavailableError} when an item was rejected, with the first reason
 */
export async function bulk(
  client: Client,
  request: API.Bulk_Request,
  accepted: readonly number[] = [],
): Promise<readonly number[]> {
  const { items } = bulkResponse.parse((await client.bulk(request)).body);
  return items.map((item) => {
    if (item !== undefined && (item.status < 300 || accepted.includes(item.status))) return item.status;
    throw new SearchUnavailableError(`OpenSearch did not take every document: ${item?.error?.reason ?? ''}`);
  });
}

const several = z.object({
  docs: z.array(
    z.object({ _id: z.string(), found: z.boolean().optional(), _source: z.unknown().optional() }),
  ),
});

/**
 * The documents with these ids, in order; `undefined` for an id that does not exist.
 *
 * @throws {SearchUnavailableError} when some could not be read
 */
export async function documentsById(client: Client, request: API.Mget_Request) {
  const { docs } = several.parse((await client.mget(request)).body);
  // A document that could not be read has an `error` instead of `found`.
  if (docs.some(({ found }) => found === undefined))
    throw new SearchUnavailableError('OpenSearch did not read every document that was asked for.');
  return docs.map((doc) => (doc.found === true ? doc : undefined));
}
