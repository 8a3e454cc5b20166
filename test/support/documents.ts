import { z } from 'zod';
import type { Store } from '../../src/storage/store.ts';

const response = z.object({
  hits: z.object({
    total: z.object({ value: z.int() }),
    hits: z.array(z.object({ _id: z.string(), _source: z.record(z.string(), z.unknown()) })),
  }),
});

/**
 * The documents of an index, or of all that a pattern names, in the order in which they were written.
 *
 * @throws {Error} when there are more than 10,000
 */
export async function documentsIn({ client }: Pick<Store, 'client'>, index: string, query?: object) {
  await client.indices.refresh({ index });
  const { body } = await client.search({
    index,
    body: { size: 10_000, sort: [{ _seq_no: 'asc' }], ...(query && { query }) },
  });
  const { hits, total } = response.parse(body).hits;
  if (hits.length !== total.value) throw new Error(`${index} has more documents than were read.`);
  return hits.map(({ _id: id, _source: source }) => ({ id, source }));
}
