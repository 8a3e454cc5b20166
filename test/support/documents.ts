import { pagesOf, storedDocuments } from '../../src/storage/checked-search.ts';
import type { Store } from '../../src/storage/store.ts';

/** The documents of an index, or of all indices that match a pattern, in the order in which they were written. */
export async function documentsIn({ client }: Pick<Store, 'client'>, index: string, query?: object) {
  await client.indices.refresh({ index });
  const inOrder = { size: 1000, sort: [{ _seq_no: 'asc' as const }], ...(query && { query }) };
  const pages = await Array.fromAsync(pagesOf(client, index, storedDocuments, inOrder));
  return pages.flat().map(({ _id: id, _source: source }) => ({ id, source }));
}
