import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { isTransient, responseStatus } from '../../src/storage/client.ts';
import { STORED_INDICES } from '../../src/storage/collection.ts';
import type { Store } from '../../src/storage/store.ts';

const MAX_WAIT_MS = 300_000;
const BETWEEN_TRIES_MS = 1000;
const NOT_IN_TIME = 408;

/**
 * Waits, for at most five minutes, while OpenSearch is away, starting, or refusing writes because its disk is full.
 * Retries of a publication follow within seconds, so a restart of OpenSearch would otherwise use all of them up.
 *
 * @throws the signal's reason
 */
export async function untilAvailable(store: Store, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + MAX_WAIT_MS;
  const indices = STORED_INDICES.map((index) => store.names[index]);
  while (!(await takeWrites(store.client, indices)) && Date.now() < deadline) {
    await sleep(BETWEEN_TRIES_MS, undefined, { signal });
  }
}

/** OpenSearch sets it on every index of a node whose disk is nearly full, and takes it back by itself. */
const DISK_BLOCK = 'index.blocks.read_only_allow_delete';

const settingsResponse = z.record(
  z.string(),
  z.object({ settings: z.object({ [DISK_BLOCK]: z.string().optional() }) }),
);

/** After a restart, OpenSearch answers before it has found every index again. */
async function takeWrites(client: Client, index: string[]): Promise<boolean> {
  try {
    await client.cluster.health({ index, wait_for_status: 'yellow', timeout: '5s' });
    const { body } = await client.indices.getSettings({ index, name: DISK_BLOCK, flat_settings: true });
    return Object.values(settingsResponse.parse(body)).every(
      ({ settings }) => settings[DISK_BLOCK] !== 'true',
    );
  } catch (error) {
    return !isTransient(error) && responseStatus(error) !== NOT_IN_TIME;
  }
}
