import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { search } from './checked-search.ts';

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
