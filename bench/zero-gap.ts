import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { writeSampleData } from '../sample-data/write-sample-data.ts';
import { startWorker } from '../scripts/licenses-processes.ts';
import { print } from '../scripts/processes.ts';
import { type Asked, drawLicenses } from './load/asked.ts';
import { nameAsked, numberAsked, toolCall } from './load/contenders.ts';
import { number, optionsOf } from './options.ts';
import { type DayFiles, published } from './published.ts';
import { type Readings, type ZeroGapReport, zeroGapText } from './reports/zero-gap.ts';
import { writeResult } from './result.ts';
import { type Service, withApi, withEnvironment } from './service.ts';

const SEED = 6;
const DATES = ['2026-11-20', '2026-11-21'] as const;
const CHANGED = 0.02;
const PERSONS = 5000;
const WARM_UP_SECONDS = 1;
const AFTER_SWITCH_SECONDS = 3;
const TICK_MS = 2;

const { rows, rate, seconds } = optionsOf({ rows: number(300_000), rate: number(60), seconds: number(30) });

/** A kind of lookup. */
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

const REST = { path: '/api/v1/lookup/verify', daysOf: daysOfRest };
const MCP = { path: '/mcp', daysOf: daysOfMcp };

const READINGS: readonly Reading[] = [
  { ...REST, kind: 'number by REST', body: numberAsked },
  { ...REST, kind: 'name by REST', body: nameAsked },
  {
    ...{ ...MCP, kind: 'number by MCP' },
    body: ({ number: license_number }) => toolCall('verify_license', { license_number }),
  },
  {
    ...{ ...MCP, kind: 'name by MCP' },
    body: (asked) => toolCall('search_licenses_by_name', nameAsked(asked)),
  },
];

/**
 * Asks at a steady rate, whatever the answers take, until the work is done. A request's time counts from when it
 * was due, so one that had to wait for its turn is not made to look quick.
 */
async function whileReading(
  { api, key }: Service,
  persons: readonly Asked[],
  work: () => Promise<unknown>,
): Promise<Record<string, Readings>> {
  const measured: Record<string, Readings> = Object.fromEntries(
    READINGS.map(({ kind }) => [kind, { milliseconds: [], failed: 0, mixed: 0 }]),
  );
  const inFlight = new Set<Promise<void>>();
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'x-api-key': key,
  };

  async function read({ kind, path, body, daysOf }: Reading, asked: Asked, dueAt: number): Promise<void> {
    const into = measured[kind];
    if (into === undefined) return;
    try {
      const response = await fetch(api + path, {
        method: 'POST',
        headers,
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
    if (reading === undefined || asked === undefined)
      throw new Error('The live publication has no license to look up.');
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

/** Measures lookups on an idle machine, and while a second day is published and goes live. */
async function measure(service: Service, tomorrow: DayFiles): Promise<void> {
  const { client, config, index } = service;
  const drawn = await drawLicenses(client, index, { kind: 'person', count: PERSONS });
  const persons = drawn.filter(({ firstName }) => firstName !== '');
  await whileReading(service, persons, () => sleep(WARM_UP_SECONDS * 1000));
  const idle = await whileReading(service, persons, () => sleep(seconds * 1000));
  let publicationSeconds = 0;
  const publishing = await whileReading(service, persons, async () => {
    publicationSeconds = (await published(config, tomorrow)).seconds;
    await sleep(AFTER_SWITCH_SECONDS * 1000);
  });
  const report: ZeroGapReport = { rows, rate, idle, publishing, publicationSeconds };
  await writeResult('zero-gap', report, client);
  print(zeroGapText(report));
}

await withEnvironment(async (environment) => {
  const { config, variables, folder } = environment;
  const common = { rows, seed: SEED };
  const days = [
    await writeSampleData({ ...common, directory: join(folder, 'one'), date: DATES[0] }),
    await writeSampleData({ ...common, directory: join(folder, 'two'), date: DATES[1], changed: CHANGED }),
  ] as const;
  const worker = await startWorker(variables);
  try {
    const { index } = await published(config, days[0]);
    await withApi(environment, index, (service) => measure(service, days[1]));
  } finally {
    await worker.stop();
  }
});
