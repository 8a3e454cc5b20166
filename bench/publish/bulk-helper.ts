import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { print } from '../../scripts/terminal.ts';
import { deleteIndex } from '../../src/publications/fence.ts';
import { type Bench, createIndex } from './bench.ts';

/** The helper only gets slower as its index grows, so a part of the files flatters it. */
export const HELPER_DOCUMENTS = 600_000;

/** The client's own bulk helper into a default mapping, with the first 600,000 documents. Documents a second. */
export async function bulkHelper(bench: Bench): Promise<number> {
  const { bodies, environment } = bench;
  const { client } = environment;
  const index = await createIndex(bench, 'default mapping');
  async function* documents() {
    let isDocument = false;
    let left = HELPER_DOCUMENTS;
    for await (const line of createInterface({ input: createReadStream(bodies.path) })) {
      if (left === 0) return;
      if (isDocument) left -= 1;
      if (isDocument) yield JSON.parse(line);
      isDocument = !isDocument;
    }
  }
  const startedAt = performance.now();
  const { successful, failed } = await client.helpers.bulk({
    datasource: documents(),
    onDocument: () => ({ index: { _index: index } }),
    refreshOnCompletion: index,
  });
  const seconds = (performance.now() - startedAt) / 1000;
  if (failed > 0) print(`helpers.bulk lost ${failed} documents`);
  await deleteIndex({ client }, index);
  return successful / seconds;
}
