import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Client } from '@opensearch-project/opensearch';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { processesWith, processTree } from '../../scripts/children.ts';
import type { TestEnvironment } from '../../scripts/environment.ts';
import { startApi, startWorker } from '../../scripts/licenses-processes.ts';
import { freePort } from '../../scripts/ports.ts';
import { numberKey } from '../../src/licenses/number.ts';
import { openSearchPids } from '../cpu.ts';
import { type DayFiles, published } from '../published.ts';
import { THIS_SERVICE } from '../reports/rivals.ts';
import { benchKey } from '../service.ts';
import { loadSqlite, NAME_PATH, NUMBER_PATH, startDatasette } from './datasette.ts';
import { loadDefaultMapping } from './default-mapping.ts';
import { filesIn } from './memory.ts';
import { loadPostgres, startPostgres } from './postgres.ts';
import { CONNECTIONS, holderPrefix, MARK, postContenders, postLoad, type Rival } from './rival.ts';
import type { RowFiles } from './rows.ts';
import { startThinApi } from './thin-api-process.ts';

const SLOW_COUNTS = { number: 3000, name: 1000 } as const;

/** What stops the processes that were started, in the order in which they were. */
export type Stops = (() => Promise<void>)[];

async function timed<Result>(work: () => Promise<Result>): Promise<[Result, number]> {
  const startedAt = performance.now();
  const result = await work();
  return [result, (performance.now() - startedAt) / 1000];
}

async function redisProcess(url: string): Promise<number> {
  const redis = new Redis(url);
  try {
    return Number(/process_id:(\d+)/.exec(await redis.info('server'))?.[1]);
  } finally {
    redis.disconnect();
  }
}

async function storeSize(client: Client, index: string): Promise<number> {
  const { body } = await client.indices.stats({ index, metric: ['store'] });
  return body._all.primaries?.store?.size_in_bytes ?? 0;
}

const dataPaths = z.object({
  nodes: z.record(z.string(), z.object({ fs: z.object({ data: z.array(z.object({ path: z.string() })) }) })),
});
const indexSettings = z.record(
  z.string(),
  z.object({ settings: z.object({ index: z.object({ uuid: z.string() }) }) }),
);

/** The files of an index on this machine. */
async function indexFiles(client: Client, index: string): Promise<string[]> {
  const stats = dataPaths.parse((await client.nodes.stats({ metric: ['fs'] })).body);
  const settings = indexSettings.parse((await client.indices.getSettings({ index })).body);
  const folders = Object.values(stats.nodes).flatMap(({ fs }) =>
    fs.data.flatMap(({ path }) =>
      Object.values(settings).map((each) => join(path, 'indices', each.settings.index.uuid)),
    ),
  );
  return (await Promise.all(folders.map(filesIn))).flat();
}

/** This service, with its live index. */
export async function thisService(
  { store, client, config, variables }: TestEnvironment,
  files: DayFiles,
  stops: Stops,
): Promise<{ readonly rival: Rival; readonly index: string }> {
  const marked = { ...variables, [MARK]: 'service' };
  const worker = await startWorker(marked);
  const [live, loadSeconds] = await timed(() => published(config, files));
  await worker.stop();
  const key = await benchKey(store, config);
  const api = await startApi(marked);
  stops.push(api.stop);
  const servers = async () => ({
    OpenSearch: await openSearchPids(client),
    API: await processesWith(MARK, 'service'),
    Redis: [await redisProcess(config.REDIS_URL)],
  });
  const rival = {
    name: THIS_SERVICE,
    loadSeconds,
    bytes: await storeSize(client, live.index),
    contenders: postContenders(postLoad(config.PORT, key), '/api/v1/lookup/verify', servers),
    dataFiles: () => indexFiles(client, live.index),
  };
  return { rival, index: live.index };
}

/** A thin API over PostgreSQL, with a statement for each lookup, and one that batches them. */
export async function overPostgres(
  { config, folder }: TestEnvironment,
  tables: RowFiles,
  stops: Stops,
): Promise<Rival[]> {
  const postgres = await startPostgres(folder, { port: await freePort(), env: process.env });
  stops.push(postgres.stop);
  const [bytes, loadSeconds] = await timed(() => loadPostgres(postgres.url, tables));
  const rivals: Rival[] = [];
  for (const [name, engine] of [
    ['PostgreSQL, thin API', 'postgres'],
    ['PostgreSQL, thin API, batched', 'postgres-batched'],
  ] as const) {
    const api = await startThinApi({ name, engine, engineUrl: postgres.url, redis: config.REDIS_URL });
    stops.push(api.process.stop);
    const servers = async () => ({
      // PostgreSQL overwrites its environment, so its processes are found as children.
      PostgreSQL: await processTree(postgres.process.child.pid ?? 0),
      API: await processesWith(MARK, name),
      Redis: [await redisProcess(config.REDIS_URL)],
    });
    rivals.push({
      name,
      loadSeconds,
      bytes,
      contenders: postContenders(api.load, '/', servers),
      dataFiles: () => filesIn(join(folder, 'postgres', 'base')),
    });
  }
  return rivals;
}

/** Datasette over an SQLite file. */
export async function overSqlite(
  { folder }: TestEnvironment,
  tables: RowFiles,
  stops: Stops,
): Promise<Rival> {
  const path = join(folder, 'licenses.db');
  const [bytes, loadSeconds] = await timed(() => loadSqlite(path, tables));
  const token = randomBytes(24).toString('hex');
  const env = { ...process.env, [MARK]: 'datasette' };
  const datasette = await startDatasette(path, { port: await freePort(), token, env });
  stops.push(datasette.stop);
  const load = {
    method: 'GET' as const,
    origin: datasette.origin,
    headers: { authorization: `Bearer ${token}` },
    status: 200,
    expected: 'license_number',
    connections: CONNECTIONS,
  };
  const servers = async () => ({ Datasette: await processesWith(MARK, 'datasette') });
  return {
    name: 'Datasette over SQLite',
    loadSeconds,
    bytes,
    contenders: {
      number: {
        name: 'number',
        itemsPerRequest: 1,
        requestsPerRound: SLOW_COUNTS.number,
        load: { ...load, path: NUMBER_PATH },
        ask: ([asked]) => encodeURIComponent(numberKey(asked?.number ?? '')),
        servers,
      },
      name: {
        name: 'name',
        itemsPerRequest: 1,
        requestsPerRound: SLOW_COUNTS.name,
        load: { ...load, path: NAME_PATH },
        ask: ([asked]) => (asked === undefined ? '' : encodeURIComponent(holderPrefix(asked))),
        servers,
      },
    },
    dataFiles: async () => [path],
  };
}

/** A thin API over an index with the mapping that OpenSearch guesses. */
export async function overDefaultMapping(
  { client, config }: TestEnvironment,
  tables: RowFiles,
  stops: Stops,
): Promise<Rival> {
  const index = `${config.INDEX_PREFIX}default`;
  const [, loadSeconds] = await timed(() => loadDefaultMapping(client, index, tables));
  const api = await startThinApi({
    name: 'default',
    engine: 'default-opensearch',
    engineUrl: config.OPENSEARCH_URL,
    engineIndex: index,
    redis: config.REDIS_URL,
  });
  stops.push(api.process.stop);
  const servers = async () => ({
    OpenSearch: await openSearchPids(client),
    API: await processesWith(MARK, 'default'),
    Redis: [await redisProcess(config.REDIS_URL)],
  });
  return {
    name: 'OpenSearch, default mapping, thin API',
    loadSeconds,
    bytes: await storeSize(client, index),
    contenders: postContenders(api.load, '/', servers),
    dataFiles: () => indexFiles(client, index),
  };
}
