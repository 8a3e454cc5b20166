import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { writeSampleData } from '../sample-data/write-sample-data.ts';
import { todayInOhio } from '../src/licenses/dates.ts';
import { print, run } from './processes.ts';

const ROWS = 5000;

/** Every sample data has this license. */
const EXAMPLE = { board: 'Nursing Board', license_number: 'RN.987654321' };

/** A publication is seen within a second; a busy runner may take longer. */
const SEEN_WITHIN_MS = 30_000;

const created = z.object({ key: z.string() });
const record = z.object({ found: z.literal(true), full_name: z.string(), last_scraped: z.string() });
const toolAnswer = z.object({
  result: z.object({ structuredContent: z.object({ outcome: z.literal('found'), count: z.literal(1) }) }),
});

/**
 * Publishes sample data on a new installation and looks a license up, over REST and MCP and on the website.
 *
 * @param url where clients reach it
 * @param folder where its worker may keep files
 * @param atWorker the beginning of a command that runs where the worker does, such as `docker compose exec --no-TTY worker`
 * @throws {Error} for the first step that fails
 */
async function tryInstallation(
  url: string,
  folder: string,
  [program = 'env', ...first]: readonly string[],
): Promise<void> {
  const inWorker = (command: readonly string[], input = '') =>
    run(program, [...first, ...command], { name: command.slice(0, 2).join(' '), input });
  const [individual, business] = [join(folder, 'individual.csv'), join(folder, 'business.csv')];
  const directory = await mkdtemp(join(tmpdir(), 'trial-'));
  try {
    const written = await writeSampleData({ directory, rows: ROWS, seed: 1, date: todayInOhio() });
    await inWorker(['sh', '-c', 'cat > "$0"', individual], await readFile(written.individual, 'utf8'));
    await inWorker(['sh', '-c', 'cat > "$0"', business], await readFile(written.business, 'utf8'));
  } finally {
    await rm(directory, { recursive: true });
  }
  print(await inWorker(['licenses', 'publish', '--individual', individual, '--business', business]));
  const creating = ['licenses', 'keys', 'create', 'Trial', '--verified-by', 'try-installation', '--json'];
  const { key } = created.parse(JSON.parse(await inWorker(creating)));

  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const posted = async (path: string, body: object): Promise<unknown> => {
    const response = await fetch(new URL(path, url), {
      method: 'POST',
      headers: { ...headers, 'x-api-key': key },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const found = record.parse(await untilAnswered(() => posted('/api/v1/lookup/verify', EXAMPLE)));
  print(`REST found ${found.full_name}, as of ${found.last_scraped}.`);
  const params = { name: 'verify_license', arguments: { license_number: EXAMPLE.license_number } };
  toolAnswer.parse(await posted('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
  const page = await fetch(new URL(`/?q=${EXAMPLE.license_number}`, url));
  if (!page.ok) throw new Error(`The website answers ${page.status}.`);
  print('MCP and the website answer, too.');
}

/** The first answer that is none of an error. @throws {Error} the last error, when there is none in time */
async function untilAnswered(ask: () => Promise<unknown>): Promise<unknown> {
  for (const until = Date.now() + SEEN_WITHIN_MS; ; await sleep(500)) {
    try {
      return await ask();
    } catch (error) {
      if (Date.now() > until) throw error;
    }
  }
}

const [url = '', folder = '', ...atWorker] = process.argv.slice(2);
await tryInstallation(url, folder, atWorker);
