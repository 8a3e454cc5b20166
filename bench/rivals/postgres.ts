import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { type RunningProcess, startProcess, waitUntilReady } from '../../scripts/processes.ts';
import { isRoot } from '../../scripts/program-path.ts';
import { run } from '../../scripts/programs.ts';
import { unprivilegedUser } from '../../scripts/unprivileged-user.ts';
import type { RowFiles } from './rows.ts';

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

export interface Postgres {
  readonly url: string;
  readonly process: RunningProcess;
  stop(): Promise<void>;
}

/** A PostgreSQL of its own in a new folder, which only this machine can reach. */
export async function startPostgres(
  directory: string,
  { port, env }: { port: number; env: NodeJS.ProcessEnv },
): Promise<Postgres> {
  const data = join(directory, 'postgres');
  await mkdir(data, { mode: 0o700 });
  const user = await unprivilegedUser();
  await user?.own(directory);
  const privileges = (await user?.privilegesToReach([data])) ?? [];
  const options = isRoot() ? { privileges, cwd: directory } : { cwd: directory };
  await run(`${BIN}/initdb`, ['-D', data, '-U', 'bench', '-A', 'trust', '-E', 'UTF8', '--locale=C'], options);
  const settings = Object.entries({ ...SETTINGS, port }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const logFile = join(directory, 'postgres.log');
  const process = startProcess('PostgreSQL', `${BIN}/postgres`, ['-D', data, ...settings], {
    ...options,
    env,
    logFile,
  });
  const url = `postgres://bench@127.0.0.1:${port}/postgres`;
  await waitUntilReady(process, () => answers(url), {
    deadlineMs: READY_MS,
    signal: new AbortController().signal,
  });
  return { url, process, stop: () => process.stop(STOP_MS) };
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
export async function loadPostgres(url: string, { licenses, holders }: RowFiles): Promise<number> {
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
