import type { Client } from '@opensearch-project/opensearch';
import { indexTemplate } from '../../src/storage/templates.ts';

/** Settings that make loading cheap; `makeDurable` reverts all of them. */
export const LOADING_SETTINGS = {
  'index.refresh_interval': '-1',
  'index.auto_expand_replicas': 'false',
  'index.number_of_replicas': 0,
  'index.translog.durability': 'async',
  'index.translog.flush_threshold_size': '1gb',
} as const;

const GREEN_WITHIN = '600s';

/**
 * Makes a verified index, which is on disk, ready to answer: replicas in place, no more writes.
 *
 * @throws {Error} when its shards are not all there within ten minutes
 */
export async function makeDurable(client: Client, index: string): Promise<void> {
  const { template } = await indexTemplate('licenses');
  await client.indices.putSettings({
    index,
    body: {
      'index.refresh_interval': null,
      'index.auto_expand_replicas': template.settings['index.auto_expand_replicas'] ?? 'false',
      'index.translog.durability': 'request',
      'index.translog.flush_threshold_size': null,
      'index.blocks.write': true,
    },
  });
  await client.cluster.health(
    { index, wait_for_status: 'green', timeout: GREEN_WITHIN },
    { requestTimeout: 610_000 },
  );
}
