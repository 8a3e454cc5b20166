import { fork } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import type { Client } from '@opensearch-project/opensearch';
import { writeSampleData } from '../sample-data/write-sample-data.ts';
import { processesWith } from '../scripts/children.ts';
import { startApi, startWorker } from '../scripts/licenses-processes.ts';
import { freePort } from '../scripts/ports.ts';
import { startServices } from '../scripts/services.ts';
import { readConfig } from '../src/config.ts';
import { boardKey } from '../src/licenses/license-document.ts';
import { numberKey } from '../src/licenses/number.ts';
import { foldPersonName, givenNamesKey } from '../src/licenses/person-name.ts';
import { newRunId } from '../src/publications/run-id.ts';
import { openStore } from '../src/storage/store.ts';
import { prepareIndices } from '../src/storage/templates.ts';
import { type Asked, drawLicenses } from './lookups/asked.ts';
import { GIVEN_LETTERS } from './lookups/bare-queries.ts';
import { generated } from './lookups/generated.ts';
import type { Load, LoadResult } from './lookups/load.ts';
import { median } from './median.ts';
import { published, removeIndices } from './published.ts';
import { loadSqlite, NAME_PATH, NUMBER_PATH, startDatasette } from './rivals/datasette.ts';
import { loadPostgres, startPostgres } from './rivals/postgres.ts';
import { type RowFiles, writeRows } from './rivals/rows.ts';
import { benchKey, serviceVariables } from './service.ts';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: { rows: { type: 'string', default: '2600000' }, rounds: { type: 'string', default: '3' } },
});
const rows = Number(values.rows);
const rounds = Number(values.rounds);

const DATE = '2026-11-20';
const SEED = 7;
const CONNECTIONS = 64;
const COUNTS = { number: 20_000, name: 5000 } as const;
const SLOW_COUNTS = { number: 3000, name: 1000 } as const;
/** Until Java has compiled what runs hot. */
const WARM_UP_SECONDS = 30;
/** Found in the environment of all processes of one rival. */
const MARK = 'BENCH_RIVAL';

type Kind = keyof typeof COUNTS;

/** A way of answering lookups over HTTP, with a key. */
interface Rival {
  readonly name: string;
  readonly loadSeconds: number;
  readonly bytes: number;
  readonly counts: Readonly<Record<Kind, number>>;
  readonly load: Omit<Load, 'asks' | 'path'>;
  readonly path: Readonly<Record<Kind, string>>;
  readonly ask: Readonly<Record<Kind, (asked: Asked) => string>>;
  /** The processes that answer. */
  processes(): Promise<number[]>;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function timed<Result>(work: () => Promise<Result>): Promise<[Result, number]> {
  const startedAt = performance.now();
  const result = await work();
  return [result, (performance.now() - startedAt) / 1000];
}

function holderPrefix({ board, fullName, firstName }: Asked): string {
  return `${boardKey(board)}/${foldPersonName(fullName).surname}/${givenNamesKey(firstName.slice(0, GIVEN_LETTERS))}`;
}

const REST_ASKS: Rival['ask'] = {
  number: ({ board, number }) => JSON.stringify({ board, license_number: number }),
  name: ({ board, lastName, firstName }) =>
    JSON.stringify({ board, last_name: lastName, first_name: firstName.slice(0, GIVEN_LETTERS) }),
};

function postLoad(port: number, key: string): Rival['load'] {
  return {
    method: 'POST',
    origin: `http://127.0.0.1:${port}`,
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    status: 200,
    expected: 'license_number',
    connections: CONNECTIONS,
  };
}

/** What was made for the measurement, to be undone in the opposite order. */
const undo: (() => Promise<unknown>)[] = [];

interface ThinApi {
  readonly name: string;
  readonly engine: string;
  readonly engineUrl: string;
  readonly engineIndex?: string;
  readonly redis: string;
}

async function startThinApi({ name, engine, engineUrl, engineIndex = '', redis }: ThinApi) {
  const port = await freePort();
  const key = randomBytes(24).toString('hex');
  const child = fork(join(import.meta.dirname, 'rivals/thin-api.ts'), {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: {
      PATH: process.env.PATH,
      [MARK]: name,
      ENGINE: engine,
      ENGINE_URL: engineUrl,
      ENGINE_INDEX: engineIndex,
      REDIS_URL: redis,
      PORT: String(port),
      KEY_SHA256: createHash('sha256').update(key).digest('hex'),
    },
  });
  undo.push(async () => {
    const ended = once(child, 'exit');
    child.kill();
    await ended;
  });
  if (child.stdout !== null) await once(child.stdout, 'data');
  return { load: postLoad(port, key), path: { number: '/', name: '/' }, ask: REST_ASKS };
}

/** Loads the default mapping by the client's helper, as one begins. */
async function loadDefaultMapping(client: Client, index: string, { licenses, holders }: RowFiles) {
  async function* documents() {
    const keys = createInterface({ input: createReadStream(holders) })[Symbol.asyncIterator]();
    let next = await keys.next();
    for await (const line of createInterface({ input: createReadStream(licenses) })) {
      const [id, number_key, record = ''] = line.replaceAll('\\\\', '\\').split('\t');
      const holder_keys: string[] = [];
      while (!next.done && next.value.endsWith(`\t${id}`)) {
        holder_keys.push(next.value.slice(0, next.value.indexOf('\t')));
        next = await keys.next();
      }
      yield { number_key, holder_keys, ...JSON.parse(record) };
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

async function measure(rival: Rival, kind: Kind, asked: readonly Asked[], more: Partial<Load> = {}) {
  const asks = asked.map(rival.ask[kind]);
  return generated({ ...rival.load, path: rival.path[kind], asks, ...more });
}

async function mebibytesOf(rival: Rival): Promise<number> {
  const shares = await Promise.all(
    (await rival.processes()).map(async (pid) => {
      const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
      return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0);
    }),
  );
  return shares.reduce((sum, each) => sum + each, 0) / 1024;
}

function rowOf(
  rival: Rival,
  results: Readonly<Record<Kind, readonly LoadResult[]>>,
  mebibytes: number,
): string {
  const of = (kind: Kind, value: (result: LoadResult) => number, digits = 0) =>
    median(results[kind].map(value)).toFixed(digits);
  const wrong = [...results.number, ...results.name].reduce((sum, each) => sum + each.wrong, 0);
  const cells = [
    rival.name,
    rival.loadSeconds.toFixed(0),
    (rival.bytes / 1e6).toFixed(0),
    ...(['number', 'name'] as const).flatMap((kind) => [
      of(kind, ({ answers, seconds }) => answers / seconds),
      `${of(kind, ({ p50 }) => p50, 1)} / ${of(kind, ({ p99 }) => p99, 1)}`,
    ]),
    mebibytes.toFixed(0),
    wrong,
  ];
  return `| ${cells.join(' | ')} |`;
}

async function compare(rivals: readonly Rival[], persons: readonly Asked[]): Promise<void> {
  const results = new Map(
    rivals.map((rival) => [rival, { number: [] as LoadResult[], name: [] as LoadResult[] }] as const),
  );
  for (const rival of rivals) {
    for (const kind of ['number', 'name'] as const) {
      await measure(rival, kind, persons.slice(-5000), { seconds: WARM_UP_SECONDS });
    }
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const [rival, measured] of results) {
      for (const kind of ['number', 'name'] as const) {
        const count = rival.counts[kind];
        const result = await measure(rival, kind, persons.slice(round * count, (round + 1) * count));
        print(
          `round ${round + 1}: ${rival.name}, ${kind}: ${(result.answers / result.seconds).toFixed(0)}/s`,
        );
        measured[kind].push(result);
      }
    }
  }
  print(
    '\n| | load s | MB on disk | numbers a second | p50 / p99 ms | names a second | p50 / p99 ms | MiB | wrong |\n' +
      '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
  );
  for (const [rival, measured] of results) print(rowOf(rival, measured, await mebibytesOf(rival)));
}

async function main(): Promise<void> {
  const services = await startServices({}, (text) => process.stderr.write(`${text}\n`));
  undo.push(services.stop);
  const prefix = `bench-${newRunId()}-`;
  const variables = { ...(await serviceVariables(services, prefix)), [MARK]: 'service' };
  const config = readConfig(variables);
  const store = openStore(config, 600_000);
  const { client } = store;
  undo.push(() => client.close());
  const directory = await mkdtemp(join(tmpdir(), prefix));
  await chmod(directory, 0o755);
  undo.push(() => rm(directory, { recursive: true, force: true }));
  undo.push(() => removeIndices(store));

  const files = await writeSampleData({ directory, rows, seed: SEED, date: DATE });
  const tables = await writeRows(files, DATE, directory);
  const openSearchProcess = async () => {
    const { body } = await client.nodes.info({ metric: ['process'] });
    return Object.values(body.nodes).flatMap((node) => node.process?.id ?? []);
  };
  const storeSize = async (index: string) => {
    const { body } = await client.indices.stats({ index, metric: ['store'] });
    return body._all.primaries?.store?.size_in_bytes ?? 0;
  };

  await prepareIndices(store);
  const worker = await startWorker(variables);
  const [live, liveSeconds] = await timed(() => published(config, files));
  await worker.stop();
  const key = await benchKey(store, config);
  const api = await startApi(variables);
  undo.push(api.stop);
  const service: Rival = {
    name: 'this service',
    loadSeconds: liveSeconds,
    bytes: await storeSize(live.index),
    counts: COUNTS,
    load: postLoad(config.PORT, key),
    path: { number: '/api/v1/lookup/verify', name: '/api/v1/lookup/verify' },
    ask: REST_ASKS,
    processes: async () => [...(await processesWith(MARK, 'service')), ...(await openSearchProcess())],
  };

  const postgres = await startPostgres(directory, {
    port: await freePort(),
    env: { ...process.env, [MARK]: 'postgres' },
  });
  undo.push(postgres.stop);
  const [postgresBytes, postgresSeconds] = await timed(() => loadPostgres(postgres.url, tables));
  const overPostgres = async (name: string, engine: string): Promise<Rival> => ({
    name,
    loadSeconds: postgresSeconds,
    bytes: postgresBytes,
    counts: COUNTS,
    ...(await startThinApi({ name, engine, engineUrl: postgres.url, redis: services.redis })),
    processes: async () => [...(await processesWith(MARK, name)), ...(await processesWith(MARK, 'postgres'))],
  });

  const sqlite = join(directory, 'licenses.db');
  const [sqliteBytes, sqliteSeconds] = await timed(() => loadSqlite(sqlite, tables));
  const token = randomBytes(24).toString('hex');
  const datasette = await startDatasette(sqlite, {
    port: await freePort(),
    token,
    env: { ...process.env, [MARK]: 'datasette' },
  });
  undo.push(datasette.stop);

  const index = `${prefix}default`;
  const [, defaultSeconds] = await timed(() => loadDefaultMapping(client, index, tables));

  const rivals: Rival[] = [
    service,
    await overPostgres('PostgreSQL, thin API', 'postgres'),
    await overPostgres('PostgreSQL, thin API, batched', 'postgres-batched'),
    {
      name: 'Datasette over SQLite',
      loadSeconds: sqliteSeconds,
      bytes: sqliteBytes,
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
    },
    {
      name: 'OpenSearch, default mapping, thin API',
      loadSeconds: defaultSeconds,
      bytes: await storeSize(index),
      counts: COUNTS,
      ...(await startThinApi({
        name: 'default',
        engine: 'default-opensearch',
        engineUrl: services.opensearch,
        engineIndex: index,
        redis: services.redis,
      })),
      processes: async () => [...(await processesWith(MARK, 'default')), ...(await openSearchProcess())],
    },
  ];
  await compare(rivals, await drawLicenses(client, live.index, { kind: 'person', count: 100_000 }));
}

try {
  await main();
} finally {
  for (const step of undo.toReversed()) await step();
}
