import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@opensearch-project/opensearch';
import { Redis } from 'ioredis';
import { type Config, readConfig } from '../src/config.ts';
import { openStore, type Store } from '../src/storage/store.ts';
import { atEndOfTestFile, once } from './clean-up.ts';
import { freePort } from './ports.ts';

/** The isolated resources of one test file or benchmark: its own indices, queue, counters, ports and folder. */
export interface TestEnvironment {
  readonly config: Config;
  /** The settings as environment variables for a child process. */
  readonly variables: Record<string, string>;
  readonly store: Store;
  /** The store's client, for tests that act on OpenSearch directly. */
  readonly client: Client;
  readonly folder: string;
  /** Removes everything that was created with this environment's prefix. */
  cleanUp(): Promise<void>;
}

/**
 * A new environment on the OpenSearch and Redis that `npm test` or a benchmark started.
 *
 * @param settings additional settings
 */
export async function testEnvironment(
  settings: Record<string, string> = {},
  { requestMs = 60_000 }: { readonly requestMs?: number } = {},
): Promise<TestEnvironment> {
  const shared = readConfig();
  const prefix = `test-${randomBytes(5).toString('hex')}-`;
  const variables: Record<string, string> = {
    OPENSEARCH_URL: shared.OPENSEARCH_URL,
    REDIS_URL: shared.REDIS_URL,
    INDEX_PREFIX: prefix,
    PORT: String(await freePort()),
    ADMIN_PORT: String(await freePort()),
    WORKER_ADMIN_PORT: '0',
    LOG_LEVEL: 'info',
    DRAIN_SECONDS: '0',
    ...settings,
  };
  const environment = await environmentAt(variables, { requestMs });

  const cleanUp = once(async () => {
    // A test's own server or proxy may already have stopped.
    const isOwn = settings.OPENSEARCH_URL !== undefined;
    await deleteIndices(environment.client, prefix).catch((error) => {
      if (!isOwn) throw error;
    });
    await environment.cleanUp();
    await deleteRedisKeys(shared.REDIS_URL, prefix);
  });
  atEndOfTestFile(cleanUp);
  return { ...environment, cleanUp };
}

/**
 * Opens the environment that another process made with these settings. Its clean-up keeps everything that the other
 * process made.
 */
export async function environmentAt(
  variables: Record<string, string>,
  { requestMs = 60_000 }: { readonly requestMs?: number } = {},
): Promise<TestEnvironment> {
  const config = readConfig(variables);
  const store = openStore(config, requestMs);
  const { client } = store;
  const folder = await mkdtemp(join(tmpdir(), config.INDEX_PREFIX));

  const cleanUp = once(async () => {
    await client.close();
    await rm(folder, { recursive: true, force: true });
  });
  atEndOfTestFile(cleanUp);
  return { config, variables, store, client, folder, cleanUp };
}

async function deleteIndices(client: Client, prefix: string): Promise<void> {
  const { body } = await client.cat.indices({ index: `${prefix}*`, format: 'json', h: ['index'] });
  const indices = body.flatMap(({ index }) => index ?? []);
  if (indices.length > 0) await client.indices.delete({ index: indices });
  await client.indices.deleteIndexTemplate({ name: `${prefix}*` }).catch(() => undefined);
}

async function deleteRedisKeys(url: string, prefix: string): Promise<void> {
  const redis = new Redis(url);
  for (const pattern of [`${prefix}*`, `limit:${prefix}*`]) {
    const keys = await redis.keys(pattern);
    if (keys.length > 0) await redis.del(...keys);
  }
  redis.disconnect();
}
