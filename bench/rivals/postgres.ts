import { createHash, randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../../scripts/ports.ts';
import { run, startProcess, waitUntilReady } from '../../scripts/processes.ts';
import { privilegesOfNobody } from '../../scripts/unprivileged-user.ts';
import { type Contender, postLoad } from '../load/contenders.ts';
import { redisPids } from '../service.ts';
import { childrenOf } from '../usage.ts';
import type { Rows } from './rows.ts';

/** Debian's PostgreSQL 15. */
const BIN = '/usr/lib/postgresql/15/bin';
const READY_MS = 30_000;
const STOP_MS = 20_000;

/** As one sets it up on a machine of this size. */
const SETTINGS = {
  shared_buffers: '2GB',
  max_wal_size: '4GB',
  maintenance_work_mem: '512MB',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
};

/** A PostgreSQL with the rows, and a thin API over it. */
export interface Postgres {
  readonly loadSeconds: number;
  /** On disk. */
  readonly bytes: number;
  readonly dataFolder: string;
  /** How the thin API is asked. */
  readonly load: (path: '/' | '/batched' | '/batch') => Contender['load'];
  readonly servers: Contender['servers'];
  stop(): Promise<void>;
}

/** Starts a PostgreSQL of its own in the rows' folder, which only this machine can reach, and a thin API over it. */
export async function startPostgres(rows: Rows, redis: string): Promise<Postgres> {
  const { url, data, process: postgres } = await startServer(rows.folder);
  const pid = postgres.child.pid ?? 0;
  try {
    const startedAt = performance.now();
    const bytes = await loadRows(url, rows);
    const loadSeconds = (performance.now() - startedAt) / 1000;
    const { api, load } = await startThinApi(url, redis);
    const Redis = await redisPids(redis);
    return {
      ...{ loadSeconds, bytes, dataFolder: join(data, 'base'), load },
      servers: async () => ({
        // Each connection has a process.
        PostgreSQL: [pid, ...(await childrenOf(pid))],
        API: [api.child.pid ?? 0],
        Redis,
      }),
      stop: async () => {
        await api.stop();
        await postgres.stop(STOP_MS);
      },
    };
  } catch (error) {
    await postgres.stop(STOP_MS);
    throw error;
  }
}

async function startServer(directory: string) {
  const data = join(directory, 'postgres');
  await mkdir(data, { mode: 0o700 });
  const options = { privileges: await privilegesOfNobody([directory], [data]), cwd: directory };
  await run(`${BIN}/initdb`, ['-D', data, '-U', 'bench', '-A', 'trust', '-E', 'UTF8', '--locale=C'], options);
  const port = await freePort();
  const settings = Object.entries({ ...SETTINGS, port }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const server = startProcess('PostgreSQL', `${BIN}/postgres`, ['-D', data, ...settings], {
    ...options,
    env: process.env,
    logFile: join(directory, 'postgres.log'),
  });
  const url = `postgres://bench@127.0.0.1:${port}/postgres`;
  await waitUntilReady(server, () => answers(url), {
    deadlineMs: READY_MS,
    signal: new AbortController().signal,
  });
  return { url, data, process: server };
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client(url);
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}

/** Loads the rows and makes them as fast to find as PostgreSQL can. Returns bytes on disk. */
async function loadRows(url: string, { licenses, holders }: Rows): Promise<number> {
  const script = [
    'create table licenses (id int, board text, number_key text, record text)',
    'create table holders (key text, id int)',
    `\\copy licenses from '${licenses}'`,
    `\\copy holders from '${holders}'`,
    'alter table licenses add primary key (id)',
    'create index on licenses (number_key, board)',
    'create index on holders (key) include (id)',
    'create table api_keys (sha256 text primary key)',
    'vacuum analyze',
  ];
  const commands = script.flatMap((command) => ['-c', command]);
  await run('psql', [url, '-q', '-v', 'ON_ERROR_STOP=1', ...commands]);
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<{ bytes: string }>(
    'select pg_database_size(current_database()) as bytes',
  );
  await client.end();
  return Number(rows[0]?.bytes ?? 0);
}

/** The API once it listens, and how it is asked. */
async function startThinApi(url: string, redis: string) {
  const port = await freePort();
  const key = randomBytes(24).toString('hex');
  const api = startProcess('thin API', process.execPath, [join(import.meta.dirname, 'thin-api.ts')], {
    env: {
      PATH: process.env.PATH,
      POSTGRES_URL: url,
      REDIS_URL: redis,
      PORT: String(port),
      KEY_SHA256: createHash('sha256').update(key).digest('hex'),
    },
  });
  await api.printed('ready');
  const load = (path: string) => postLoad(`http://127.0.0.1:${port}`, path, { 'x-api-key': key });
  return { api, load };
}
