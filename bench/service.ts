import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@opensearch-project/opensearch';
import { Redis } from 'ioredis';
import { writeSampleData } from '../sample-data/write-sample-data.ts';
import { type TestEnvironment, testEnvironment } from '../scripts/environment.ts';
import { startApi, startWorker } from '../scripts/licenses-processes.ts';
import { freePorts } from '../scripts/ports.ts';
import { type Services, startServices } from '../scripts/services.ts';
import { createKey } from '../src/access/api-keys.ts';
import { type Config, readConfig } from '../src/config.ts';
import { liveIndex } from '../src/publications/metadata.ts';
import { openStore, type Store } from '../src/storage/store.ts';
import { prepareIndices } from '../src/storage/templates.ts';
import { published } from './published.ts';
import { openSearchPids, type Servers } from './usage.ts';

const NO_LIMIT = '1000000000';
const NO_LIMITS = {
  REST_REQUESTS_PER_MINUTE: NO_LIMIT,
  MCP_REQUESTS_PER_MINUTE: '100000000',
  // An address range with a higher limit may have more requests in progress.
  MCP_RATE_LIMIT_RANGES: `127.0.0.0/8=${NO_LIMIT}`,
  WEB_REQUESTS_PER_MINUTE: NO_LIMIT,
  EXPORTS_PER_DAY: NO_LIMIT,
};

/** The time limit of requests that process millions of rows. */
export const REQUEST_MS = 600_000;

/** The run date of the rows. Like the seed, it is fixed, because their indices are kept for later measurements. */
export const DATE = '2026-11-20';
const SEED = 7;

/** Runs the work with OpenSearch and Redis. Starts them unless they are running. */
async function withServers<Result>(work: (services: Services) => Promise<Result>): Promise<Result> {
  const services = await startServices({});
  try {
    return await work(services);
  } finally {
    await services.stop();
  }
}

/** Runs a measurement in a new environment, and removes the environment afterwards. */
export function withEnvironment(work: (environment: TestEnvironment) => Promise<void>): Promise<void> {
  return withServers(async (services) => {
    process.env.OPENSEARCH_URL = services.opensearch;
    process.env.REDIS_URL = services.redis;
    const environment = await testEnvironment(NO_LIMITS, { requestMs: REQUEST_MS });
    try {
      await prepareIndices(environment.store);
      await work(environment);
    } finally {
      await environment.cleanUp();
    }
  });
}

/** An installation of the service: its settings and its stored data. */
export interface Installation {
  readonly variables: Record<string, string>;
  readonly config: Config;
  readonly store: Store;
  readonly client: Client;
}

/** An API process over one live index, for one measurement. */
export interface Service extends Installation {
  /** The name of the live physical index. */
  readonly index: string;
  readonly openSearch: string;
  /** `http://host:port`. */
  readonly api: string;
  /** The address of its admin port. */
  readonly admin: string;
  readonly key: string;
  readonly apiPid: number;
  readonly servers: () => Promise<Servers>;
  readonly openSearchAlone: () => Promise<Servers>;
}

/** Starts the API over the live index, and stops it after the work. */
export async function withApi<Result>(
  installation: Installation,
  index: string,
  work: (service: Service) => Promise<Result>,
  start = startApi,
): Promise<Result> {
  const { variables, config, store, client } = installation;
  const owner = { account: 'Bench', verifiedBy: 'the measurement' };
  const { key } = await createKey(store, config.API_KEY_PREFIX, owner);
  const api = await start(variables);
  const apiPid = api.child.pid ?? 0;
  const [OpenSearch, Redis] = [await openSearchPids(client), await redisPids(config.REDIS_URL)];
  try {
    return await work({
      ...installation,
      ...{ index, key, apiPid, openSearch: config.OPENSEARCH_URL },
      api: `http://127.0.0.1:${config.PORT}`,
      admin: `http://127.0.0.1:${config.ADMIN_PORT}`,
      servers: async () => ({ OpenSearch, API: [apiPid], Redis }),
      openSearchAlone: async () => ({ OpenSearch }),
    });
  } finally {
    await api.stop();
  }
}

/** The process id of the Redis at this URL. */
async function redisPids(url: string): Promise<number[]> {
  const redis = new Redis(url);
  try {
    return [Number(/process_id:(\d+)/.exec(await redis.info('server'))?.[1])];
  } finally {
    redis.disconnect();
  }
}

/** Starts the API with this many published rows. The rows are kept for later measurements. */
export function withService<Result>(
  rows: number,
  work: (service: Service) => Promise<Result>,
): Promise<Result> {
  return withServers(async (services) => {
    const variables = await ownPorts({
      ...NO_LIMITS,
      OPENSEARCH_URL: services.opensearch,
      REDIS_URL: services.redis,
      INDEX_PREFIX: `bench-lookups-${rows}-`,
      DRAIN_SECONDS: '0',
    });
    const config = readConfig(variables);
    const store = openStore(config, REQUEST_MS);
    const { client } = store;
    const installation = { variables, config, store, client };
    try {
      return await withApi(installation, await publishedIndex(installation, rows), work);
    } finally {
      await client.close();
    }
  });
}

/** The settings with free ports. */
export async function ownPorts(variables: Record<string, string>): Promise<Record<string, string>> {
  const [port, adminPort, workerPort] = await freePorts(3);
  return {
    ...variables,
    ...{ PORT: String(port), ADMIN_PORT: String(adminPort), WORKER_ADMIN_PORT: String(workerPort) },
  };
}

async function publishedIndex({ store, config, variables }: Installation, rows: number): Promise<string> {
  await prepareIndices(store);
  const live = await liveIndex(store);
  if (live !== undefined) return live;
  const directory = await mkdtemp(join(tmpdir(), config.INDEX_PREFIX));
  const worker = await startWorker(variables);
  try {
    const files = await writeSampleData({ directory, rows, seed: SEED, date: DATE });
    return (await published(config, files)).index;
  } finally {
    await worker.stop();
    await rm(directory, { recursive: true, force: true });
  }
}
