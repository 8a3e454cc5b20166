/** @room publishing */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { atEndOfTestFile } from '../../scripts/clean-up.ts';
import { rollBack } from '../../src/publications/rollback.ts';
import type { ApiAnswer } from '../support/api.ts';
import type { DayRow } from '../support/day-files.ts';
import { daysAfter } from '../support/days.ts';
import { eventually } from '../support/eventually.ts';
import { inForm, inLongFormOnly } from '../support/fault-form.ts';
import { times } from '../support/fixtures.ts';
import { published } from '../support/publication-days.ts';
import { startService } from '../support/service.ts';

const HOLDERS = 50;
const FLIPS = 20;
const ROLLBACKS = 5;
const CLIENTS = 4;
/** The pause between a client's rounds: some 250 lookups a second leave processor time for the publications. */
const PAUSE_MS = 50;
const NURSING = 'Nursing Board';

const { environment, rest: client } = await startService({ files: async () => [] });

/** Publishes a day on which every holder's city is the date. The API answers from it. */
async function publishDay(date: string): Promise<void> {
  const row = (board: string, number: string, name: string): DayRow => ({ board, number, name, city: date });
  const individual = times(HOLDERS, (at) => row(NURSING, `RN.${800_000 + at}`, `GAP, HOLDER${at}`));
  const salon = row('Cosmetology and Barber Board', 'COSS.1', 'GAP SALON');
  await published(environment, date, { individual, business: [salon] });
}

const record = z.object({ city: z.string().optional(), last_scraped: z.string() });
const restAnswer = record.extend({ multiple: z.array(record).default([]) });
const license = z.object({ city: z.string().optional() });
const structuredContent = z.object({
  ...{ data_as_of: z.string(), in_common: license.default({}), licenses: z.array(license).min(1) },
});
const mcpAnswer = z.object({ result: z.object({ structuredContent }) });

/** The publication dates of the parts of a REST response: a list has no city, and a record has. */
function daysOfRest(body: unknown): string[] {
  const { multiple, ...answer } = restAnswer.parse(body);
  const records = multiple.length > 0 ? multiple : [answer];
  const cities = records.map(({ city }) => city ?? 'no city');
  return [...cities, ...[answer, ...records].map(({ last_scraped }) => last_scraped.slice(0, 10))];
}

/** The publication dates of the parts of a tool result. */
function daysOfMcp(body: unknown): string[] {
  const { data_as_of, in_common, licenses } = mcpAnswer.parse(body).result.structuredContent;
  return [data_as_of, ...licenses.map(({ city = in_common.city }) => city ?? 'no city')];
}

const BY_NAME = { board: NURSING, last_name: 'gap' };

type Ask = (license_number: string) => Promise<ApiAnswer>;

/** Kinds of requests, and how to find the publication dates in their responses. */
const READINGS: readonly (readonly [kind: string, daysOf: (body: unknown) => string[], ask: Ask])[] = [
  ['number by REST', daysOfRest, (license_number) => client.verify({ board: NURSING, license_number })],
  ['name by REST', daysOfRest, () => client.verify({ ...BY_NAME, first_name: 'holder' })],
  ['number by MCP', daysOfMcp, (license_number) => client.callTool('verify_license', { license_number })],
  ['name by MCP', daysOfMcp, () => client.callTool('search_licenses_by_name', BY_NAME)],
];

/** Starts clients that send one request after the other until they are stopped. */
function startReading() {
  let isDone = false;
  atEndOfTestFile(async () => {
    isDone = true;
  });
  const failures: unknown[] = [];
  /** How often each day and each kind of request was answered. */
  const counts = new Map<string, number>();
  const readers = times(CLIENTS, async () => {
    for (let at = 0; !isDone; at += 1) {
      for (const [kind, daysOf, ask] of READINGS) {
        const answer = await ask(`RN.${800_001 + (at % HOLDERS)}`).catch(String);
        const isAnswered = typeof answer !== 'string' && answer.status === 200;
        const [day = '', ...others] = new Set(isAnswered ? daysOf(answer.body) : []);
        if (day === '' || others.length > 0) failures.push([kind, answer]);
        for (const key of [day, kind]) counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      await sleep(PAUSE_MS);
    }
  });
  return {
    counts,
    /** Ends the reading. Expects that no request has failed, and that each was answered from one of these days. */
    end: async (days: readonly string[]) => {
      isDone = true;
      await Promise.all(readers);
      expect(failures).toEqual([]);
      const seen = [...counts.keys()].filter((key) => /^\d/.test(key));
      expect(seen.filter((day) => !days.includes(day))).toEqual([]);
      return seen.length;
    },
  };
}

inLongFormOnly(() => {
  test('while publications go live and are rolled back, no request fails and none mixes two publications', async () => {
    const days = times(FLIPS + 1, (at) => daysAfter('2026-09-30', at));
    const last = days.at(-1) ?? '';
    await publishDay(days[0] ?? '');
    const reading = startReading();
    for (const [at, day] of days.slice(1).entries()) {
      await publishDay(day);
      if (at % (FLIPS / ROLLBACKS) !== 1) continue;
      const { from, to } = await rollBack(environment.store);
      expect(to.metadata.date < (from?.metadata.date ?? '')).toBe(true);
    }
    await eventually(`a reader sees ${last}`, () => reading.counts.has(last));
    expect(await reading.end(days)).toBeGreaterThan(FLIPS / 4);
    for (const [kind] of READINGS) expect(reading.counts.get(kind)).toBeGreaterThan(FLIPS + ROLLBACKS);
  });
});

test('a lookup whose index is being deleted is answered from the index that is now live', async () => {
  const days = ['2026-11-01', '2026-11-02'] as const;
  await publishDay(days[0]);
  for (const _ of times(inForm({ short: 2, long: 5 }), Number)) {
    await publishDay(days[1]);
    const reading = startReading();
    const { from } = await rollBack(environment.store);
    await environment.client.indices.delete({ index: from?.index ?? '' });
    await eventually('a reader sees the day before', () => reading.counts.has(days[0]));
    await reading.end(days);
  }
});
