import { join } from 'node:path';
import { expect } from '@jest/globals';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { childrenOf } from '../../bench/usage.ts';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import type { TestEnvironment } from '../../scripts/environment.ts';
import { startApi } from '../../scripts/licenses-processes.ts';
import type { CommandResult, RunningProcess } from '../../scripts/processes.ts';
import { PUBLISH_QUEUE, queuePrefix } from '../../src/publications/job.ts';
import {
  expectNoProcessBut,
  expectOneCompletePublication,
  livePublished,
  type Published,
} from './complete-publication.ts';
import { eventually } from './eventually.ts';
import { pass } from './proxy.ts';
import { publishByCommand } from './publishing.ts';
import { installation } from './worker-installation.ts';

/** The worker's log line when it takes a job. */
const TAKEN = /"publication":"(\w+)","attempt":\d+,"msg":"publishing"/;

/** The files of two days. Tests disturb the second day, and publish the first day in between. */
export type Day = 'first' | 'second';

const DATES = { first: '2026-11-20', second: '2026-11-21' } as const;
/** How the second day differs from the first. All differences go into the change feed each time. */
const DIFFERENCES = {
  first: {},
  second: { changed: 0.1, added: 0.02, removed: 0.02, renamed: 0.02, renumbered: 0.02 },
};

const UNDER_WAY: readonly unknown[] = ['active', 'delayed', 'waiting'];

/**
 * An installation on which both days have been published undisturbed, the first day last.
 *
 * @param rows the number of rows in the files of the first day
 * @param hasApi whether the REST API also runs
 */
export async function publisher(rows: number, settings: Record<string, string> = {}, hasApi = false) {
  const installed = await installation(settings);
  const { environment, queue, workers, disturb, startWorker, stopWorkers } = installed;
  const written = (day: Day) =>
    writeSampleData({
      ...{ directory: join(environment.folder, day), rows, seed: 1, date: DATES[day] },
      ...DIFFERENCES[day],
    });
  const files = { first: await written('first'), second: await written('second') };
  let worker = await startWorker();
  const api = hasApi ? await startApi(environment.variables) : undefined;

  async function restart(variables: Record<string, string> = {}): Promise<RunningProcess> {
    await stopWorkers();
    worker = await startWorker(variables);
    return worker;
  }

  /** Publishes a day's files and waits until the command ends. */
  const publish = (day: Day) => publishByCommand(environment.variables, files[day], '--json');

  async function published(day: Day): Promise<Published> {
    expectLiveResult(await publish(day));
    return livePublished(environment);
  }

  const expected = { second: await published('second'), first: await published('first') };
  const secondRows = files.second.individualRows + files.second.businessRows;
  expect(expected.second).toMatchObject({
    date: DATES.second,
    counts: { rows: secondRows, licenses: secondRows, rejected: 0 },
  });

  const isRunning = ({ child }: RunningProcess) => child.exitCode === null && child.signalCode === null;

  /** Expects that only this day is live, that it is complete, and that nothing is left behind. */
  async function expectLive(day: Day): Promise<void> {
    await expectOneCompletePublication(environment, expected[day]);
    const ids = workers.filter(isRunning).map(({ child }) => child.pid ?? 0);
    const children = await Promise.all(ids.map(childrenOf));
    await expectNoProcessBut(environment, [...ids, ...children.flat(), api?.child.pid ?? 0]);
  }
  return {
    ...{ environment, queue, disturb, startWorker, files, publish },
    /** The number of documents that result from the second day's files. */
    documents: expected.second.counts.licenses + expected.second.counts.endorsements,
    /** The worker that was started last. */
    worker: () => worker,
    /** Starts a worker, optionally with other settings. Earlier workers are stopped or killed. */
    restart,
    /** Repairs the state after a failed test: requests pass, a worker runs, and the first day is live. */
    makeReady: async (): Promise<void> => {
      disturb(pass);
      if (!isRunning(worker)) await restart();
      if ((await livePublished(environment)).date === DATES.first) return;
      await lapseLocks(environment);
      await publish('first');
    },
    /**
     * Requests a publication of a day's files and waits until the worker has taken the job.
     *
     * @returns the publication's id, and a promise of the command's result
     */
    begin: async (day: Day) => {
      const printedBefore = worker.output().length;
      const ended = publish(day);
      let publication: string | undefined;
      await eventually('the worker has taken the job', () => {
        [, publication] = TAKEN.exec(worker.output().slice(printedBefore)) ?? [];
        return publication !== undefined;
      });
      return { publication: publication ?? '', ended };
    },
    /**
     * Expects that only this day is live and complete, that nothing is left behind, and that publishing again succeeds.
     */
    expectRecovered: async (day: Day): Promise<void> => {
      await expectLive(day);
      const other = day === 'second' ? 'first' : 'second';
      expectLiveResult(await publish(other));
      await expectLive(other);
    },
    /**
     * Expects that the publication did not succeed on its first attempt. Otherwise the fault came too late to test
     * anything.
     */
    expectInterrupted: async (publication: string): Promise<void> => {
      expect((await queue.getJob(publication))?.attemptsStarted).toBeGreaterThan(1);
    },
    /** Expects that the queue still waits for the end of a publication, possibly for another attempt. */
    expectUnderWay: async (publication: string): Promise<void> => {
      expect(UNDER_WAY).toContain(await (await queue.getJob(publication))?.getState());
    },
  };
}

const resultSaid = z.looseObject({
  state: z.string(),
  reasons: z.array(z.string()).default([]),
  seconds: z.number().default(0),
});

/** Expects that the command reported that the files are live. */
export function expectLiveResult({ code, stdout, stderr }: CommandResult): void {
  if (stdout === '') throw new Error(`The command printed nothing but: ${stderr}`);
  const { state, reasons, seconds } = resultSaid.parse(JSON.parse(stdout));
  expect({ code, state, reasons }).toEqual({ code: 0, state: 'live', reasons: [] });
  // Also if it was killed between the switch and its last event.
  expect(seconds).toBeGreaterThan(0);
}

/**
 * Expires the lock of a killed worker's job now and marks the job for the check of stalled jobs. Otherwise the test
 * would have to wait a minute and one check until the queue reaches this state. The next worker takes the job.
 */
export async function lapseLocks({ config }: TestEnvironment, name = PUBLISH_QUEUE): Promise<void> {
  const queue = `${queuePrefix(config.INDEX_PREFIX)}:${name}`;
  const redis = new Redis(config.REDIS_URL);
  try {
    for (const job of await redis.lrange(`${queue}:active`, 0, -1)) {
      await redis.del(`${queue}:${job}:lock`);
      await redis.sadd(`${queue}:stalled`, job);
    }
    await redis.del(`${queue}:stalled-check`);
  } finally {
    redis.disconnect();
  }
}
