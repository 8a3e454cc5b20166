/** @room publishing @long */
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { childrenOf } from '../../bench/usage.ts';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { licenses, startWorker } from '../../scripts/licenses-processes.ts';
import type { RunningProcess } from '../../scripts/processes.ts';
import { publicationHistory } from '../../src/publications/history.ts';
import { publishQueue } from '../../src/publications/job.ts';
import { readEvents } from '../../src/publications/ledger.ts';
import { licensesIndices } from '../../src/publications/metadata.ts';
import { killChildrenOf } from '../support/children.ts';
import { expectOneCompletePublication, livePublished } from '../support/complete-publication.ts';
import { inForm } from '../support/fault-form.ts';
import { newEnvironment } from '../support/publication-days.ts';
import { eventsOf, expectInterrupted } from '../support/publication-run.ts';
import { publisher } from '../support/publisher.ts';
import { publishByCommand } from '../support/publishing.ts';
import { untilLoaded } from '../support/random-moments.ts';

const HOUR_MS = 3_600_000;
/** The tolerance for timestamps: far less than the error of the clocks, far more than a step takes. */
const NEAR_MS = HOUR_MS / 6;
const ROWS = 1000;
const KILLED_ROWS = 60_000;
const TAKEN_WITHIN_MS = 60_000;

/** A command, and by how many hours the clock of its process is ahead. */
type Step = readonly ['publish' | 'roll back', number];

const STEPS: readonly Step[] = [
  ['publish', 1],
  ['publish', -1],
  ['roll back', -1],
  ['publish', -1],
  ['roll back', 1],
  ['publish', 1],
  ['publish', -1],
  ['roll back', 1],
  ['publish', -1],
  ['publish', 1],
  ['publish', -1],
  ['roll back', -1],
  ['roll back', 1],
  ['publish', -1],
];
const DONE = inForm({ short: STEPS.slice(0, 5), long: STEPS });

let environment: TestEnvironment;

beforeAll(async () => {
  environment = await testEnvironment();
});

function clock(hours: number): Record<string, string> {
  return {
    NODE_OPTIONS: `--import=${resolve(import.meta.dirname, '../support/shifted-clock.ts')}`,
    CLOCK_SHIFT_MS: String(hours * HOUR_MS),
  };
}

function withClock(hours: number): Record<string, string> {
  return { ...environment.variables, ...clock(hours) };
}

const publishResult = z.object({ state: z.literal('live'), publication: z.string() });
const rollbackResult = z.object({
  from: z.object({ publication: z.string() }),
  to: z.object({ publication: z.string() }),
});

/** Publishes new files by a worker with this clock. */
async function publishWithClock(step: number, hours: number): Promise<string> {
  const directory = join(environment.folder, String(step));
  const files = await writeSampleData({ directory, rows: ROWS, seed: step, date: '2026-11-20' });
  const worker = await startWorker(withClock(hours));
  try {
    const { code, stdout } = await publishByCommand(withClock(hours), files, '--json');
    expect({ step, code }).toEqual({ step, code: 0 });
    return publishResult.parse(JSON.parse(stdout)).publication;
  } finally {
    await worker.stop();
  }
}

/** Expects that times written between two moments come from a clock that is wrong by this many hours. */
function expectClock(times: readonly number[], hours: number, [from, to]: readonly [number, number]): void {
  expect(times).not.toEqual([]);
  for (const time of times) {
    const written = new Date(time - hours * HOUR_MS);
    const isShifted = written.getTime() > from - NEAR_MS && written.getTime() < to + NEAR_MS;
    if (!isShifted) throw new Error(`${new Date(time).toISOString()} is not of a clock ${hours} h ahead.`);
  }
}

/** The time of each ledger event, by the clock of the process that wrote it. */
function timesOf(events: readonly { readonly at: string }[]): number[] {
  return events.map(({ at }) => Date.parse(at));
}

async function rollBackWithClock(step: number, hours: number): Promise<z.output<typeof rollbackResult>> {
  const { code, stdout } = await licenses(withClock(hours), 'rollback', '--json');
  expect({ step, code }).toEqual({ step, code: 0 });
  return rollbackResult.parse(JSON.parse(stdout));
}

/** The expected ledger: every publication in the order of going live, and its state. */
interface Expected {
  readonly published: string[];
  readonly rolledBack: Set<string>;
  kept: string[];
  live: string;
}

function afterPublishing(expected: Expected, publication: string): void {
  expected.published.push(publication);
  expected.live = publication;
  const good = expected.kept.filter((each) => !expected.rolledBack.has(each));
  expected.kept = [...good.slice(1 - environment.config.KEEP_PUBLICATIONS), publication];
}

/** The latest publication before the live one that was not rolled back. */
function targetOf({ kept, live, rolledBack }: Expected): string | undefined {
  return kept.slice(0, kept.indexOf(live)).findLast((publication) => !rolledBack.has(publication));
}

async function expectLedger({ published, live, kept }: Expected): Promise<void> {
  const { store } = environment;
  const history = await publicationHistory(store);
  expect(history.live?.publication).toBe(live);
  expect(history.publications.map(({ publication }) => publication).toReversed()).toEqual(published);
  const indices = await licensesIndices(store);
  expect(indices.map(({ metadata }) => metadata.publication)).toEqual(kept);
  const epochs = (await readEvents(store)).flatMap(({ epoch }) => epoch ?? []);
  expect(epochs).toEqual(epochs.toSorted((one, other) => one - other));
}

test(`workers whose clocks are an hour behind and an hour ahead alternately, with rollbacks: ${DONE.length} steps`, async () => {
  const { store } = environment;
  const expected: Expected = { published: [], rolledBack: new Set(), kept: [], live: '' };
  let written = 0;
  for (const [step, [does, hours]] of DONE.entries()) {
    const begunAt = Date.now();
    if (does === 'publish') afterPublishing(expected, await publishWithClock(step, hours));
    else {
      const target = targetOf(expected);
      const { from, to } = await rollBackWithClock(step, hours);
      expect({ step, from: from.publication, to: to.publication }).toEqual({
        step,
        from: expected.live,
        to: target,
      });
      expected.rolledBack.add(from.publication);
      expected.live = to.publication;
    }
    await expectLedger(expected);
    const events = await readEvents(store);
    expectClock(timesOf(events.slice(written)), hours, [begunAt, Date.now()]);
    written = events.length;
  }
  await expectOneCompletePublication(environment, await livePublished(environment), expected.kept);
  const times = timesOf(await readEvents(store));
  const earlier = times.filter((time, at) => time < (times[at - 1] ?? time));
  expect(earlier).not.toEqual([]);
});

const SCHEDULED_AT = /"next":"([^"]+)","msg":"publication scheduled"/;

test.each([
  ['the night without this hour', '30 2 * * *', '2027-03-13T12:00:00Z', '2027-03-14T07:30:00.000Z'],
  ['the day after it', '30 2 * * *', '2027-03-14T07:31:00Z', '2027-03-15T06:30:00.000Z'],
  ['the night that has this hour twice', '30 1 * * *', '2027-11-06T12:00:00Z', '2027-11-07T05:30:00.000Z'],
  ['once in that night', '30 1 * * *', '2027-11-07T05:31:00Z', '2027-11-08T06:30:00.000Z'],
])('PUBLISH_SCHEDULE over a change of the clock: %s', async (_night, pattern, now, next) => {
  const { variables } = await newEnvironment();
  const worker = await startWorker({
    ...variables,
    ...clock((Date.parse(now) - Date.now()) / HOUR_MS),
    ...{ DATASET_INDIVIDUAL: 'individual.csv', DATASET_BUSINESS: 'business.csv', PUBLISH_SCHEDULE: pattern },
  });
  try {
    expect(SCHEDULED_AT.exec(worker.output())?.[1]).toBe(next);
  } finally {
    await worker.stop();
  }
});

/** Kills the publication's process, which one of the workers has. */
async function killProcessOf(workers: readonly RunningProcess[]): Promise<void> {
  for (const { child } of workers) {
    const id = child.pid ?? 0;
    if ((await childrenOf(id)).length > 0) {
      await killChildrenOf(id);
      return;
    }
  }
  throw new Error('No worker has a process of a publication: nothing could be killed.');
}

/** Expects that every line of a worker's log has the time of a clock that is wrong by this many hours. */
function expectLogClock({ output }: RunningProcess, hours: number, since: number): void {
  const times = [...output().matchAll(/"time":(\d+)/g)].map(([, time]) => Number(time));
  expectClock(times, hours, [since, Date.now()]);
}

/** The publication that a worker has started. */
async function publicationTaken({ config }: TestEnvironment): Promise<string> {
  const queue = publishQueue(config);
  const deadline = Date.now() + TAKEN_WITHIN_MS;
  try {
    for (;;) {
      const [job] = await queue.getActive();
      if (job?.id !== undefined) return job.id;
      if (Date.now() > deadline) throw new Error('No worker took the job.');
      await sleep(20);
    }
  } finally {
    await queue.close();
  }
}

/** Expects that the events of each attempt have the time of its worker's clock. */
async function expectAttemptClocks(
  environment: TestEnvironment,
  publication: string,
  workers: readonly (readonly [RunningProcess, number])[],
  since: number,
): Promise<void> {
  const events = await eventsOf(environment, publication);
  const starts = events.flatMap(({ event }, at) => (event === 'reading' ? [at] : []));
  expect(starts.length).toBeGreaterThan(1);
  for (const [at, start] of starts.entries()) {
    const taken = `"publication":"${publication}","attempt":${at + 1},"msg":"publishing"`;
    const [, hours] = workers.find(([{ output }]) => output().includes(taken)) ?? [];
    if (hours === undefined) throw new Error(`No worker logged attempt ${at + 1}.`);
    expectClock(timesOf(events.slice(start, starts[at + 1])), hours, [since, Date.now()]);
  }
}

for (const [one, other] of inForm<readonly (readonly [number, number])[]>({
  short: [],
  long: [
    [1, -1],
    [-1, 1],
  ],
})) {
  test(`two workers whose clocks are two hours apart, the publication's child process killed (SIGKILL): ${one} and ${other}`, async () => {
    const begunAt = Date.now();
    const publications = await publisher({ rows: KILLED_ROWS });
    const second = await startWorker({ ...publications.environment.variables, ...clock(other) });
    try {
      const first = await publications.startWorker(clock(one));
      const ended = publications.publish('second');
      const publication = await publicationTaken(publications.environment);
      await untilLoaded({ share: 0.5 }, { publication, ended }, publications);
      await killProcessOf([first, second]);
      expect((await ended).code).toBe(0);
      await expectInterrupted(publications.environment, publication);
      expectLogClock(first, one, begunAt);
      expectLogClock(second, other, begunAt);
      const workers = [[first, one] as const, [second, other] as const];
      await expectAttemptClocks(publications.environment, publication, workers, begunAt);
      await second.stop();
      await publications.expectRecovered('second');
    } finally {
      await second.stop();
      await publications.stop();
    }
  });
}
