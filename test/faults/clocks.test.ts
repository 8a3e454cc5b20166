/** @room publishing @long */
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { childrenOf } from '../../bench/usage.ts';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import { licenses } from '../../scripts/licenses-processes.ts';
import { publicationHistory } from '../../src/publications/history.ts';
import { readEvents } from '../../src/publications/ledger.ts';
import { licensesIndices } from '../../src/publications/metadata.ts';
import { isBulk } from '../support/bulk-faults.ts';
import { killChildrenOf } from '../support/children.ts';
import { expectOneCompletePublication, livePublished } from '../support/complete-publication.ts';
import { eventually } from '../support/eventually.ts';
import { expectLiveResult, publisher } from '../support/publisher.ts';
import { publishByCommand } from '../support/publishing.ts';
import { installation } from '../support/worker-installation.ts';

const HOUR_MS = 3_600_000;
/** The tolerance for timestamps: far less than the error of the clocks, far more than a step takes. */
const NEAR_MS = HOUR_MS / 6;

/** Commands, and by how many hours the clock of the process is ahead. */
const STEPS = [
  ...['publish +1', 'publish -1', 'roll back -1', 'publish -1', 'roll back +1', 'publish +1', 'publish -1'],
  ...['roll back +1', 'publish -1', 'publish +1', 'publish -1', 'roll back -1', 'roll back +1', 'publish -1'],
];

const installed = await installation();

/** Settings of a process whose clock is wrong by so many milliseconds. */
function shiftedClock(ms: number): Record<string, string> {
  return {
    NODE_OPTIONS: `--import=${resolve(import.meta.dirname, '../support/shifted-clock.ts')}`,
    CLOCK_SHIFT_MS: String(ms),
  };
}

const clock = (hours: number) => shiftedClock(hours * HOUR_MS);

const publishResult = z.object({ state: z.literal('live'), publication: z.string() });
const rollbackResult = z.object({
  from: z.object({ publication: z.string() }),
  to: z.object({ publication: z.string() }),
});

/** Publishes new files by a worker with this clock. */
async function publishWithClock(step: number, hours: number): Promise<string> {
  const { variables, folder } = installed.environment;
  const sample = { directory: join(folder, String(step)), rows: 1000, seed: step, date: '2026-11-20' };
  const files = await writeSampleData(sample);
  await installed.startWorker(clock(hours));
  const { code, stdout } = await publishByCommand({ ...variables, ...clock(hours) }, files, '--json');
  expect({ step, code }).toEqual({ step, code: 0 });
  await installed.stopWorkers();
  return publishResult.parse(JSON.parse(stdout)).publication;
}

async function rollBackWithClock(step: number, hours: number): Promise<z.output<typeof rollbackResult>> {
  const variables = { ...installed.environment.variables, ...clock(hours) };
  const { code, stdout } = await licenses(variables, 'rollback', '--json');
  expect({ step, code }).toEqual({ step, code: 0 });
  return rollbackResult.parse(JSON.parse(stdout));
}

/** Expects that times written since a moment come from a clock that is wrong by this many hours. */
function expectClock(times: readonly number[], hours: number, since: number): void {
  expect(times).not.toEqual([]);
  for (const time of times) {
    const written = time - hours * HOUR_MS;
    const isShifted = written > since - NEAR_MS && written < Date.now() + NEAR_MS;
    if (!isShifted) throw new Error(`${new Date(time).toISOString()} is not of a clock ${hours} h ahead.`);
  }
}

/** The time of each ledger event, by the clock of the process that wrote it. */
const timesOf = (events: readonly { readonly at: string }[]) => events.map(({ at }) => Date.parse(at));

test(`workers whose clocks are an hour behind and an hour ahead alternately, with rollbacks: ${STEPS.length} steps`, async () => {
  const { store, config } = installed.environment;
  /** Every publication in the order of going live, those that were rolled back, and those of which the index is kept. */
  const published: string[] = [];
  const rolledBack = new Set<string>();
  let kept: string[] = [];
  let live = '';
  let written = 0;
  for (const [step, command] of STEPS.entries()) {
    const begunAt = Date.now();
    const hours = Number(command.slice(-2));
    if (command.startsWith('publish')) {
      live = await publishWithClock(step, hours);
      published.push(live);
      const good = kept.filter((each) => !rolledBack.has(each));
      kept = [...good.slice(1 - config.KEEP_PUBLICATIONS), live];
    } else {
      // The latest publication before the live one that was not rolled back.
      const target = kept.slice(0, kept.indexOf(live)).findLast((each) => !rolledBack.has(each));
      const { from, to } = await rollBackWithClock(step, hours);
      expect([step, from.publication, to.publication]).toEqual([step, live, target]);
      rolledBack.add(live);
      live = to.publication;
    }
    const history = await publicationHistory(store);
    expect(history.live?.publication).toBe(live);
    expect(history.publications.map(({ publication }) => publication).toReversed()).toEqual(published);
    const indices = await licensesIndices(store);
    expect(indices.map(({ metadata }) => metadata.publication)).toEqual(kept);
    const events = await readEvents(store);
    const epochs = events.flatMap(({ epoch }) => epoch ?? []);
    expect(epochs).toEqual(epochs.toSorted((one, other) => one - other));
    expectClock(timesOf(events.slice(written)), hours, begunAt);
    written = events.length;
  }
  await expectOneCompletePublication(installed.environment, await livePublished(installed.environment), kept);
  const times = timesOf(await readEvents(store));
  expect(times.some((time, at) => time < (times[at - 1] ?? time))).toBe(true);
});

const SCHEDULED_AT = /"next":"([^"]+)","msg":"publication scheduled"/;

test.each([
  ['the night without this hour', '30 2 * * *', '2027-03-13T12:00:00Z', '2027-03-14T07:30:00.000Z'],
  ['the day after it', '30 2 * * *', '2027-03-14T07:31:00Z', '2027-03-15T06:30:00.000Z'],
  ['the night that has this hour twice', '30 1 * * *', '2027-11-06T12:00:00Z', '2027-11-07T05:30:00.000Z'],
  ['once in that night', '30 1 * * *', '2027-11-07T05:31:00Z', '2027-11-08T06:30:00.000Z'],
])('PUBLISH_SCHEDULE over a change of the clock: %s', async (_night, pattern, now, next) => {
  const { startWorker, stopWorkers } = await installation();
  const worker = await startWorker({
    ...shiftedClock(Date.parse(now) - Date.now()),
    ...{ DATASET_INDIVIDUAL: 'individual.csv', DATASET_BUSINESS: 'business.csv', PUBLISH_SCHEDULE: pattern },
  });
  await stopWorkers();
  expect(SCHEDULED_AT.exec(worker.output())?.[1]).toBe(next);
});

test.each([
  [1, -1],
  [-1, 1],
])(
  "two workers whose clocks are two hours apart, the publication's child process killed (SIGKILL): %d and %d",
  async (...clocks) => {
    const begunAt = Date.now();
    const publications = await publisher(2000);
    const { store } = publications.environment;
    const loading = Promise.withResolvers<void>();
    const killed = Promise.withResolvers<void>();
    publications.disturb(async (request) => {
      if (isBulk(request)) loading.resolve();
      if (isBulk(request)) await killed.promise;
      return request.forward();
    });
    const [first, other] = clocks;
    const workers = [
      { hours: first, worker: await publications.restart(clock(first)) },
      { hours: other, worker: await publications.startWorker(clock(other)) },
    ];
    const ended = publications.publish('second');
    await loading.promise;
    const [job] = await publications.queue.getActive();
    const publication = job?.id ?? '';
    for (const { worker } of workers) {
      const id = worker.child.pid ?? 0;
      // One of them has it.
      if ((await childrenOf(id)).length > 0) await killChildrenOf(id);
    }
    killed.resolve();
    expectLiveResult(await ended);
    await publications.expectInterrupted(publication);
    for (const { worker, hours } of workers) {
      const times = [...worker.output().matchAll(/"time":(\d+)/g)].map(([, time]) => Number(time));
      expectClock(times, hours, begunAt);
    }
    // The events of each attempt have the time of its worker's clock.
    const events = (await readEvents(store, publication)).filter(({ event }) => event !== 'queued');
    const starts = events.flatMap(({ event }, at) => (event === 'reading' ? [at] : []));
    expect(starts.length).toBeGreaterThan(1);
    for (const [at, start] of starts.entries()) {
      const taken = `"publication":"${publication}","attempt":${at + 1},"msg":"publishing"`;
      const taker = workers.find(({ worker }) => worker.output().includes(taken));
      if (taker === undefined) throw new Error(`No worker logged attempt ${at + 1}.`);
      expectClock(timesOf(events.slice(start, starts[at + 1])), taker.hours, begunAt);
    }
    await publications.restart();
    await eventually('nothing runs', async () => (await publications.queue.getActiveCount()) === 0);
    await publications.expectRecovered('second');
  },
);
