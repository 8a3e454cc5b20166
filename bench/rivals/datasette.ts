import { createReadStream } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { type RunningProcess, startProcess, waitUntilReady } from '../../scripts/processes.ts';
import type { RowFiles } from './rows.ts';

const READY_MS = 60_000;
const STOP_MS = 10_000;

/** Where `pip install datasette datasette-auth-tokens` put it. */
const DATASETTE = process.env.DATASETTE ?? 'datasette';

const pathOf = (sql: string) => `/licenses.json?_shape=arrays&sql=${encodeURIComponent(sql)}&key=`;

/** What is asked, but for the key behind it. */
export const NUMBER_PATH = pathOf('select record from licenses where number_key = :key');
export const NAME_PATH = pathOf(
  'select record from holders join licenses using (id) ' +
    'where key >= :key and key < :key || char(1114111) order by key limit 101',
);

/** Writes the rows into an SQLite file. Returns its size. */
export async function loadSqlite(path: string, { licenses, holders }: RowFiles): Promise<number> {
  const database = new DatabaseSync(path);
  database.exec('pragma journal_mode = off; pragma synchronous = off');
  database.exec('create table licenses (id integer primary key, board text, number_key text, record text)');
  database.exec('create table holders (key text, id integer)');
  await insertLines(database, 'insert into licenses values (?, ?, ?, ?)', licenses);
  await insertLines(database, 'insert into holders values (?, ?)', holders);
  database.exec('create index licenses_number on licenses (number_key)');
  database.exec('create index holders_key on holders (key, id)');
  database.exec('analyze');
  database.close();
  return (await stat(path)).size;
}

async function insertLines(database: DatabaseSync, sql: string, path: string): Promise<void> {
  const insert = database.prepare(sql);
  database.exec('begin');
  for await (const line of createInterface({ input: createReadStream(path) })) {
    insert.run(...line.replaceAll('\\\\', '\\').split('\t'));
  }
  database.exec('commit');
}

export interface Datasette {
  readonly process: RunningProcess;
  readonly origin: string;
  stop(): Promise<void>;
}

/** Serves the file to who has the token. */
export async function startDatasette(
  path: string,
  { port, token, env }: { port: number; token: string; env: NodeJS.ProcessEnv },
): Promise<Datasette> {
  const metadata = `${path}.metadata.json`;
  const tokens = [{ token, actor: { id: 'bench' } }];
  await writeFile(
    metadata,
    JSON.stringify({ allow: { id: 'bench' }, plugins: { 'datasette-auth-tokens': { tokens } } }),
  );
  const args = ['serve', '-i', path, '--host', '127.0.0.1', '--port', String(port), '-m', metadata];
  const started = startProcess('Datasette', DATASETTE, args, { env });
  const origin = `http://127.0.0.1:${port}`;
  const answers = () =>
    fetch(`${origin}/-/versions.json`, { headers: { authorization: `Bearer ${token}` } }).then(
      ({ ok }) => ok,
      () => false,
    );
  await waitUntilReady(started, answers, {
    deadlineMs: READY_MS,
    signal: new AbortController().signal,
  });
  return { process: started, origin, stop: () => started.stop(STOP_MS) };
}
