import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Client } from '@opensearch-project/opensearch';
import type { RowFiles } from './rows.ts';

/** Loads the default mapping by the client's helper, as one begins. */
export async function loadDefaultMapping(client: Client, index: string, { licenses, holders }: RowFiles) {
  async function* documents() {
    const keys = createInterface({ input: createReadStream(holders) })[Symbol.asyncIterator]();
    let next = await keys.next();
    for await (const line of createInterface({ input: createReadStream(licenses) })) {
      const [id, board_code, number_key, record = ''] = line.replaceAll('\\\\', '\\').split('\t');
      const holder_keys: string[] = [];
      while (!next.done && next.value.endsWith(`\t${id}`)) {
        holder_keys.push(next.value.slice(0, next.value.indexOf('\t')));
        next = await keys.next();
      }
      yield { board_code, number_key, holder_keys, ...JSON.parse(record) };
    }
  }
  await client.indices.create({
    index,
    body: { settings: { 'index.number_of_shards': 1, 'index.number_of_replicas': 0 } },
  });
  await client.helpers.bulk({
    datasource: documents(),
    onDocument: () => ({ index: { _index: index } }),
    refreshOnCompletion: index,
  });
}
