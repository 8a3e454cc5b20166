import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { brotliCompressSync } from 'node:zlib';
import { writeSampleData } from '../sample-data/write-sample-data.ts';
import { startApi, startWorker } from '../scripts/licenses-processes.ts';
import { print } from '../scripts/terminal.ts';
import { cpuSeconds } from './cpu.ts';
import { drawLicenses } from './lookups/asked.ts';
import { published } from './published.ts';
import { type WebsiteReport, websiteText } from './reports/website.ts';
import { writeResult } from './results/result.ts';
import { turnsOf } from './results/turns.ts';
import { benchKey, withEnvironment } from './service.ts';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    rows: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '5' },
  },
});

const SEED = 8;
const DATE = '2026-11-20';
const REQUESTS_A_ROUND = 2000;
const WARM_UP_REQUESTS = 3000;
const CONNECTIONS = 16;

type Send = (number: string) => Promise<Response>;

/** Sends a request for each number, some at a time. @throws {Error} for an answer that is no success */
async function sendAll(numbers: readonly string[], send: Send): Promise<void> {
  for (let first = 0; first < numbers.length; first += CONNECTIONS) {
    await Promise.all(
      numbers.slice(first, first + CONNECTIONS).map(async (number) => {
        const response = await send(number);
        await response.arrayBuffer();
        if (response.status >= 400) throw new Error(`${response.status} to ${number}`);
      }),
    );
  }
}

/** Compares the API's CPU for a page with that of a REST lookup, in turns, and weighs a page of 100 results. */
await withEnvironment(async ({ config, variables, store, folder, client }) => {
  const files = await writeSampleData({
    directory: join(folder, 'day'),
    rows: Number(values.rows),
    seed: SEED,
    date: DATE,
  });
  const worker = await startWorker(variables);
  const { index } = await published(config, files).finally(() => worker.stop());
  const nurses = (await drawLicenses(client, index, { kind: 'person', count: 20_000 })).filter(
    ({ board }) => board === 'Nursing Board',
  );
  const numbers = nurses.map(({ number }) => number);
  const key = await benchKey(store, config);
  const api = await startApi(variables);
  const origin = `http://127.0.0.1:${config.PORT}`;
  const page = (path: string) =>
    fetch(origin + path, { headers: { accept: 'text/html', 'accept-encoding': 'gzip' }, redirect: 'manual' });
  const contenders: Readonly<Record<string, Send>> = {
    'REST, /lookup/verify': (number) =>
      fetch(`${origin}/api/v1/lookup/verify`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify({ board: 'Nursing Board', license_number: number }),
      }),
    'page, search by number (redirect)': (number) => page(`/?by=number&number=${encodeURIComponent(number)}`),
    'page, license with history': (number) => page(`/licenses/NUR/${encodeURIComponent(number)}`),
  };
  try {
    const drawn = (round: number, count: number) =>
      Array.from({ length: count }, (_, at) => numbers[(round * count + at) % numbers.length] ?? '');
    for (const send of Object.values(contenders)) await sendAll(drawn(0, WARM_UP_REQUESTS), send);
    const measured = new Map<string, number[]>();
    for (let round = 0; round < Number(values.rounds); round += 1) {
      const inTurn = Object.entries(contenders);
      for (const [name, send] of turnsOf(inTurn, round)) {
        const before = await cpuSeconds(api.child.pid ?? 0);
        await sendAll(drawn(round, REQUESTS_A_ROUND), send);
        const used = (await cpuSeconds(api.child.pid ?? 0)) - before;
        measured.set(name, [...(measured.get(name) ?? []), (used * 1e6) / REQUESTS_A_ROUND]);
      }
    }
    const results = Buffer.from(
      await (
        await fetch(`${origin}/?by=person&last_name=Smith`, { headers: { accept: 'text/html' } })
      ).arrayBuffer(),
    );
    const report: WebsiteReport = {
      rows: Number(values.rows),
      micros: Object.fromEntries(measured),
      page: { html: results.length, brotli: brotliCompressSync(results).length },
    };
    await writeResult('website', report, client);
    print(websiteText(report));
  } finally {
    await api.stop();
  }
});
