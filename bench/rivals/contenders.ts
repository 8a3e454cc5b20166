import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Client } from '@opensearch-project/opensearch';
import { processesWith } from '../../scripts/children.ts';
import type { TestEnvironment } from '../../scripts/environment.ts';
import { startApi, startWorker } from '../../scripts/licenses-processes.ts';
import { freePort } from '../../scripts/ports.ts';
import { numberKey } from '../../src/licenses/number.ts';
import { type DayFiles, published } from '../published.ts';
import { benchKey } from '../service.ts';
import { loadSqlite, NAME_PATH, NUMBER_PATH, startDatasette } from './datasette.ts';
import { loadDefaultMapping } from './default-mapping.ts';
import { loadPostgres, startPostgres } from './postgres.ts';
import { CONNECTIONS, COUNTS, holderPrefix, MARK, postLoad, REST_ASKS, type Rival } from './rival.ts';
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

async function openSearchProcesses(client: Client): Promise<number[]> {
  const { body } = await client.nodes.info({ metric: ['process'] });
  return Object.values(body.nodes).flatMap((node) => node.process?.id ?? []);
}

async function storeSize(client: Client, index: string): Promise<number> {
  const { body } = await client.indices.stats({ index, metric: ['store'] });
  return body._all.primaries?.store?.size_in_bytes ?? 0;
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
  const rival = {
    name: 'this service',
    loadSeconds,
    bytes: await storeSize(client, live.index),
    counts: COUNTS,
    load: postLoad(config.PORT, key),
    path: { number: '/api/v1/lookup/verify', name: '/api/v1/lookup/verify' },
    ask: REST_ASKS,
    processes: async () => [
      ...(await processesWith(MARK, 'service')),
      ...(await openSearchProcesses(client)),
    ],
  };
  return { rival, index: live.index };
}

/** A thin API over PostgreSQL, with a statement for each lookup, and one that batches them. */
export async function overPostgres(
  { config, folder }: TestEnvironment,
  tables: RowFiles,
  stops: Stops,
): Promise<Rival[]> {
  const env = { ...process.env, [MARK]: 'postgres' };
  const postgres = await startPostgres(folder, { port: await freePort(), env });
  stops.push(postgres.stop);
  const [bytes, loadSeconds] = await timed(() => loadPostgres(postgres.url, tables));
  const rivals: Rival[] = [];
  for (const [name, engine] of [
    ['PostgreSQL, thin API', 'postgres'],
    ['PostgreSQL, thin API, batched', 'postgres-batched'],
  ] as const) {
    const api = await startThinApi({ name, engine, engineUrl: postgres.url, redis: config.REDIS_URL });
    stops.push(api.process.stop);
    const processes = async () => [
      ...(await processesWith(MARK, name)),
      ...(await processesWith(MARK, 'postgres')),
    ];
    rivals.push({ name, loadSeconds, bytes, counts: COUNTS, ...api.asked, processes });
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
  return {
    name: 'Datasette over SQLite',
    loadSeconds,
    bytes,
    counts: SLOW_COUNTS,
    load: {
      method: 'GET',
      origin: datasette.origin,
      headers: { authorization: `Bearer ${token}` },
      status: 200,
      expected: 'license_number',
      connections: CONNECTIONS,
    },
    path: { number: NUMBER_PATH, name: NAME_PATH },
    ask: {
      number: ({ number }) => encodeURIComponent(numberKey(number)),
      name: (asked) => encodeURIComponent(holderPrefix(asked)),
    },
    processes: () => processesWith(MARK, 'datasette'),
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
  return {
    name: 'OpenSearch, default mapping, thin API',
    loadSeconds,
    bytes: await storeSize(client, index),
    counts: COUNTS,
    ...api.asked,
    processes: async () => [
      ...(await processesWith(MARK, 'default')),
      ...(await openSearchProcesses(client)),
    ],
  };
}
