import { z } from 'zod';
import type { TestEnvironment } from '../../scripts/environment.ts';

const response = z.object({
  hits: z.object({
    hits: z.array(z.object({ _source: z.object({ file: z.string(), line: z.int(), reason: z.string() }) })),
  }),
});

/** The rows that a publication rejected, in the order of the files. */
export async function rejectedOf(
  { store, client }: TestEnvironment,
  publication: string,
): Promise<{ file: string; line: number; reason: string }[]> {
  const index = store.names.rejectedRows;
  await client.indices.refresh({ index });
  const found = await client.search({
    index,
    body: { size: 1000, query: { term: { publication } }, sort: [{ file: 'desc' }, { line: 'asc' }] },
  });
  return response
    .parse(found.body)
    .hits.hits.map(({ _source: { file, line, reason } }) => ({ file, line, reason }));
}
