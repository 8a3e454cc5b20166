/** @room publishing */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { TestEnvironment } from '../../scripts/environment.ts';
import { rollBack } from '../../src/publications/rollback.ts';
import type { ApiAnswer, ApiClient } from '../support/api.ts';
import type { DayRow } from '../support/day-files.ts';
import { eventually } from '../support/eventually.ts';
import { inForm, inLongFormOnly } from '../support/fault-form.ts';
import { published } from '../support/publication-days.ts';
import { startService } from '../support/service.ts';

const HOLDERS = 50;
const FLIPS = 20;
const ROLLBACKS = 5;
const CLIENTS = 4;
/** The pause between a client's rounds: some 250 lookups a second leave processor time for the publications. */
const PAUSE_MS = 50;
const NURSING = 'Nursing Board';

let environment: TestEnvironment;
let client: ApiClient;

beforeAll(async () => {
  ({ environment, rest: client } = await startService({ files: async () => [] }));
});

/** Publishes a day on which every holder's city is the date. */
async function publishDay(date: string): Promise<void> {
  const row = (board: string, number: string, name: string): DayRow => ({ board, number, name, city: date });
  const individual = Array.from({ length: HOLDERS }, (_, at) =>
    row(NURSING, `RN.${800_000 + at}`, `GAP, HOLDER${at}`),
  );
  const salon = row('Cosmetology and Barber Board', 'COSS.1', 'GAP SALON');
  await published(environment, date, { individual, business: [salon] });
}

/** Publishes a day and waits until the API answers from it. */
async function publishDayAndSeeIt(date: string): Promise<void> {
  await publishDay(date);
  await eventually(`the API answers from ${date}`, async () => {
    const { status, body } = await client.verify({ board: NURSING, license_number: 'RN.800001' });
    return status === 200 && daysOfRest(body).every((day) => day === date);
  });
}

const record = z.object({ city: z.string(), last_scraped: z.string() });
const restAnswer = z.object({
  last_scraped: z.string(),
  city: z.string().optional(),
  multiple: z.array(record).optional(),
});
const mcpAnswer = z.object({
  result: z.object({
    structuredContent: z.object({
      data_as_of: z.string(),
      in_common: z.object({ city: z.string().optional() }).default({}),
      licenses: z.array(z.object({ city: z.string().optional() })).min(1),
    }),
  }),
});

/** The publication dates of the parts of a REST response. */
function daysOfRest(body: unknown): string[] {
  const { last_scraped, city, multiple = [] } = restAnswer.parse(body);
  const records = multiple.flatMap((each) => [each.city, each.last_scraped.slice(0, 10)]);
  return [last_scraped.slice(0, 10), ...(city === undefined ? [] : [city]), ...records];
}

/** The publication dates of the parts of a tool result. */
function daysOfMcp(body: unknown): string[] {
  const { data_as_of, in_common, licenses } = mcpAnswer.parse(body).result.structuredContent;
  return [data_as_of, ...licenses.map(({ city = in_common.city }) => city ?? 'no city')];
}

/** A kind of request, and how to find the publication dates in its response. */
interface Reading {
  readonly kind: string;
  readonly ask: (number: string) => Promise<ApiAnswer>;
  readonly daysOf: (body: unknown) => string[];
}

const READINGS: readonly Reading[] = [
  {
    kind: 'number by REST',
    ask: (number) => client.verify({ board: NURSING, license_number: number }),
    daysOf: daysOfRest,
  },
  {
    kind: 'name by REST',
    ask: () => client.verify({ board: NURSING, last_name: 'gap', first_name: 'holder' }),
    daysOf: daysOfRest,
  },
  {
    kind: 'number by MCP',
    ask: (number) => client.callTool('verify_license', { license_number: number }),
    daysOf: daysOfMcp,
  },
  {
    kind: 'name by MCP',
    ask: () => client.callTool('search_licenses_by_name', { board: NURSING, last_name: 'gap' }),
    daysOf: daysOfMcp,
  },
];

/** Starts clients that send one request after the other until they are stopped. */
function startReading() {
  let isDone = false;
  const failures: unknown[] = [];
  const seen = new Map<string, number>();
  const answered = new Map<string, number>();

  function count(counts: Map<string, number>, key: string): void {
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }

  async function read({ kind, ask, daysOf }: Reading, number: string): Promise<void> {
    let answer: ApiAnswer | undefined;
    try {
      answer = await ask(number);
      const days = new Set(answer.status === 200 ? daysOf(answer.body) : []);
      const [day] = days;
      if (day === undefined || days.size !== 1) throw new Error(`${days.size} days in one answer`);
      count(seen, day);
      count(answered, kind);
    } catch (error) {
      failures.push({ kind, answer: JSON.stringify(answer), error: String(error) });
    }
  }

  async function readOn(): Promise<void> {
    for (let at = 0; !isDone; at += 1) {
      for (const reading of READINGS) await read(reading, `RN.${800_000 + (at % HOLDERS)}`);
      await sleep(PAUSE_MS);
    }
  }

  const readers = Array.from({ length: CLIENTS }, readOn);
  return {
    seen,
    answered,
    failures,
    stop: async () => {
      isDone = true;
      await Promise.all(readers);
    },
  };
}

inLongFormOnly(() => {
  test('while publications go live and are rolled back, no request fails and none mixes two publications', async () => {
    const days = Array.from({ length: FLIPS + 1 }, (_, at) => `2026-10-${String(at + 1).padStart(2, '0')}`);
    const [first = '', ...rest] = days;
    const last = days.at(-1) ?? '';
    await publishDayAndSeeIt(first);
    const reading = startReading();
    let rollbacks = 0;
    try {
      for (const [at, day] of rest.entries()) {
        await publishDay(day);
        if (at % (FLIPS / ROLLBACKS) !== 1) continue;
        const { from, to } = await rollBack(environment.store);
        expect(to.metadata.date < (from?.metadata.date ?? '')).toBe(true);
        rollbacks += 1;
      }
      await eventually(`a reader sees ${last}`, () => reading.seen.has(last));
    } finally {
      await reading.stop();
    }
    expect(rollbacks).toBe(ROLLBACKS);
    expect(reading.failures).toEqual([]);
    expect([...reading.seen.keys()].filter((day) => !days.includes(day))).toEqual([]);
    expect(reading.seen.size).toBeGreaterThan(FLIPS / 4);
    for (const { kind } of READINGS) expect(reading.answered.get(kind)).toBeGreaterThan(FLIPS + ROLLBACKS);
  });
});

test('a lookup whose index is being deleted is answered from the index that is now live', async () => {
  const { store, client } = environment;
  const days = ['2026-11-01', '2026-11-02'];
  const DELETIONS = inForm({ short: 2, long: 5 });
  await publishDayAndSeeIt('2026-11-01');
  for (let deletion = 1; deletion <= DELETIONS; deletion += 1) {
    await publishDayAndSeeIt('2026-11-02');
    const reading = startReading();
    const { from } = await rollBack(store);
    await client.indices.delete({ index: from?.index ?? '' });
    await eventually('a reader sees the day before', () => reading.seen.has('2026-11-01')).finally(
      reading.stop,
    );
    expect(reading.failures).toEqual([]);
    expect([...reading.seen.keys()].filter((day) => !days.includes(day))).toEqual([]);
  }
});
