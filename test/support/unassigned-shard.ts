import { expect } from '@jest/globals';
import type { Client } from '@opensearch-project/opensearch';

/**
 * Makes one of an index's two shards unavailable. The index is copied, the copy takes its name, and the only node may
 * hold only one shard of the copy. OpenSearch then answers searches from that shard, and does not count the other as
 * failed.
 */
export async function unassignOneShard(client: Client, index: string): Promise<void> {
  const copy = `${index}-copy`;
  const { body } = await client.indices.getAlias({ index });
  const { aliases = {} } = body[index] ?? {};
  await clone(client, index, copy, {});
  const settings = { 'index.routing.allocation.total_shards_per_node': 1 };
  await clone(client, copy, index, { aliases, settings });
  await client.indices.delete({ index: copy });
  const shards = await client.cat.shards({ index, format: 'json', h: ['state', 'prirep'] });
  const states = shards.body.flatMap(({ prirep, state }) => (prirep === 'p' ? [state] : []));
  expect(states.toSorted()).toEqual(['STARTED', 'UNASSIGNED']);
}

async function clone(client: Client, index: string, target: string, body: object): Promise<void> {
  await client.indices.putSettings({ index, body: { 'index.blocks.write': true } });
  await client.indices.clone({ index, target, body, wait_for_active_shards: '0' });
  await client.cluster.health({ index: target, wait_for_no_initializing_shards: true });
  if (!target.endsWith('-copy')) return;
  await client.indices.delete({ index });
}
