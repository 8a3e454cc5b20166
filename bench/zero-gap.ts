import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { writeSampleData } from '../sample-data/write-sample-data.ts';
import { startApi, startWorker } from '../scripts/licenses-processes.ts';
import { print } from '../scripts/terminal.ts';
import type { Config } from '../src/config.ts';
import { type Asked, drawLicenses } from './lookups/asked.ts';
import { GIVEN_LETTERS } from './lookups/bare-queries.ts';
import { published } from './published.ts';
import { type Readings, type ZeroGapReport, zeroGapText } from './reports/zero-gap.ts';
import { writeResult } from './results/result.ts';
import { benchKey, withEnvironment } from './service.ts';

const SEED = 6;
const DATES = ['2026-11-20', '2026-11-21'] as const;
const CHANGED = 0.02;
const PERSONS = 5000;
const WARM_UP_SECONDS = 5;
const AFTER_FLIP_SECONDS = 3;
const TICK_MS = 2;

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    rows: { type: 'string', default: '300000' },
    rate: { type: 'string', default: '60' },
    seconds: { type: 'string', default: '30' },
  },
});
const rows = Number(values.rows);
const rate = Number(values.rate);
const idleSeconds = Number(values.seconds);

/** Persons with given names from all over the live publication, asked for by the beginning of these. */
async function personsOf(client: Client, index: string): Promise<Asked[]> {
  const drawn = await drawLicenses(client, index, { kind: 'person', count: PERSONS });
  return drawn
    .filter(({ firstName }) => firstName !== '')
    .map((asked) => ({ ...asked, firstName: asked.firstName.slice(0, GIVEN_LETTERS) }));
}

/** The API's address, and a key for REST. */
interface Api {
  readonly origin: string;
  readonly key: string;
}

interface Reading {
  readonly kind: string;
  readonly path: string;
  readonly body: (asked: Asked) => object;
  /** The days that a good answer's parts come from; throws for any other answer. */
  readonly daysOf: (answer: unknown) => string[];
}

const record = z.object({ last_scraped: z.string() });
/** Of several that a tool returns. */
const compactRecord = z.object({ license_number: z.string() });
const restAnswer = z.object({
  found: z.literal(true),
  last_scraped: z.string(),
  multiple: z.array(record).default([]),
});
const mcpAnswer = z.object({
  result: z.object({
    structuredContent: z.object({
      data_as_of: z.string(),
      licenses: z.union([z.tuple([record]), z.array(compactRecord).min(2)]),
    }),
  }),
});

function daysOfRest(answer: unknown): string[] {
  const { last_scraped, multiple } = restAnswer.parse(answer);
  return [last_scraped, ...multiple.map((each) => each.last_scraped)].map((at) => at.slice(0, 10));
}

function daysOfMcp(answer: unknown): string[] {
  const { data_as_of, licenses } = mcpAnswer.parse(answer).result.structuredContent;
  const days = licenses.flatMap((each) => ('last_scraped' in each ? [each.last_scraped.slice(0, 10)] : []));
  return [data_as_of, ...days];
}

function call(name: string, parameters: object): object {
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: parameters } };
}

const REST = { path: '/api/v1/lookup/verify', daysOf: daysOfRest };
const MCP = { path: '/mcp', daysOf: daysOfMcp };

const READINGS: readonly Reading[] = [
  {
    ...REST,
    kind: 'number by REST',
    body: ({ board, number }) => ({ board, license_number: number }),
  },
  {
    ...REST,
    kind: 'name by REST',
    body: ({ board, lastName, firstName }) => ({ board, last_name: lastName, first_name: firstName }),
  },
  { ...MCP, kind: 'number by MCP', body: ({ number }) => call('verify_license', { license_number: number }) },
  {
    ...MCP,
    kind: 'name by MCP',
    body: ({ board, lastName, firstName }) =>
      call('search_licenses_by_name', { board, last_name: lastName, first_name: firstName }),
  },
];

/**
 * Asks at a steady rate, whatever the answers take, until the work is done. A request's time counts from when it
 * was due, so one that had to wait for its turn is not made to look quick.
 */
async function whileReading(
  { origin, key }: Api,
  persons: readonly Asked[],
  work: () => Promise<unknown>,
): Promise<Record<string, Readings>> {
  const measured: Record<string, Readings> = Object.fromEntries(
    READINGS.map(({ kind }) => [kind, { milliseconds: [], failed: 0, mixed: 0 }]),
  );
  const inFlight = new Set<Promise<void>>();

  async function read({ kind, path, body, daysOf }: Reading, asked: Asked, dueAt: number): Promise<void> {
    const into = measured[kind];
    if (into === undefined) return;
    try {
      const response = await fetch(origin + path, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'x-api-key': key,
        },
        body: JSON.stringify(body(asked)),
      });
      const answer: unknown = await response.json();
      into.milliseconds.push(performance.now() - dueAt);
      if (new Set(daysOf(answer)).size > 1) into.mixed += 1;
    } catch {
      into.failed += 1;
    }
  }

  let isDone = false;
  const working = work().finally(() => {
    isDone = true;
  });
  working.catch(() => undefined);
  const startedAt = performance.now();
  for (let sent = 0; !isDone; ) {
    const dueAt = startedAt + (sent * 1000) / rate;
    const reading = READINGS[sent % READINGS.length];
    const asked = persons[sent % persons.length];
    if (reading === undefined || asked === undefined) throw new Error('There is nobody to ask for.');
    if (dueAt > performance.now()) {
      await sleep(TICK_MS);
      continue;
    }
    const request = read(reading, asked, dueAt).finally(() => inFlight.delete(request));
    inFlight.add(request);
    sent += 1;
  }
  await Promise.all(inFlight);
  await working;
  return measured;
}

async function measure(client: Client, config: Config, key: string, directory: string): Promise<void> {
  const [today, tomorrow] = [
    await writeSampleData({ directory: join(directory, 'one'), rows, seed: SEED, date: DATES[0] }),
    await writeSampleData({
      directory: join(directory, 'two'),
      rows,
      seed: SEED,
      date: DATES[1],
      changed: CHANGED,
    }),
  ];
  const { index } = await published(config, today);
  const api = { origin: `http://127.0.0.1:${config.PORT}`, key };
  const persons = await personsOf(client, index);
  await whileReading(api, persons, () => sleep(WARM_UP_SECONDS * 1000));
  const idle = await whileReading(api, persons, () => sleep(idleSeconds * 1000));
  let publicationSeconds = 0;
  const publishing = await whileReading(api, persons, async () => {
    publicationSeconds = (await published(config, tomorrow)).seconds;
    await sleep(AFTER_FLIP_SECONDS * 1000);
  });
  const report: ZeroGapReport = { rows, rate, idle, publishing, publicationSeconds };
  await writeResult('zero-gap', report, client);
  print(zeroGapText(report));
}

await withEnvironment(async ({ store, client, config, variables, folder }) => {
  const key = await benchKey(store, config);
  const processes = [await startWorker(variables), await startApi(variables)];
  try {
    await measure(client, config, key, folder);
  } finally {
    for (const each of processes) await each.stop();
  }
});
