import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { childrenOf } from '../../bench/usage.ts';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { startApi, startWorker } from '../../scripts/licenses-processes.ts';
import type { CommandResult, RunningProcess } from '../../scripts/processes.ts';
import { PUBLISH_QUEUE, queuePrefix } from '../../src/publications/job.ts';
import {
  expectNoProcessBut,
  expectOneCompletePublication,
  livePublished,
  type Published,
} from './complete-publication.ts';
import { publishByCommand } from './publishing.ts';

const TAKEN_WITHIN_MS = 60_000;

/** What a worker logs when it takes a job. */
const TAKEN = /"publication":"(\w+)","attempt":\d+,"msg":"publishing"/;

/** The files of two days: those of the second are disturbed, those of the first are published in between. */
export type Day = 'first' | 'second';

const DATES = { first: '2026-11-20', second: '2026-11-21' } as const;
/** What sets the second day apart. All of it goes into the feed of changes each time. */
const DIFFERENCES = { changed: 0.1, added: 0.02, removed: 0.02, renamed: 0.02, renumbered: 0.02 };

/** A publication that a worker has taken up. */
export interface PublicationUnderWay {
  /** Its id. */
  readonly publication: string;
  /** How the command that asked for it ended. */
  readonly ended: Promise<CommandResult>;
}

/** One installation with its worker, that publishes days through the command line and expects what must hold. */
export type Publisher = Awaited<ReturnType<typeof publisher>>;

/** An installation on which both days have been published undisturbed, the first one last. */
export async function publisher({
  rows,
  settings = {},
  hasApi = false,
}: {
  /** How many rows the files of the first day have. */
  readonly rows: number;
  readonly settings?: Record<string, string>;
  /** Whether the REST API runs beside the worker. */
  readonly hasApi?: boolean;
}) {
  const environment = await testEnvironment(settings);
  const written = (day: Day, differences = {}) =>
    writeSampleData({
      directory: join(environment.folder, day),
      rows,
      seed: 1,
      date: DATES[day],
      ...differences,
    });
  const files = { first: await written('first'), second: await written('second', DIFFERENCES) };
  let worker = await startWorker(environment.variables);
  const api = hasApi ? await startApi(environment.variables) : undefined;

  /** Asks for a day's files and waits to the end. */
  const publish = (day: Day) => publishByCommand(environment.variables, files[day], '--json');

  /** Asks for a day's files and waits until the worker has taken the job. */
  async function begin(day: Day): Promise<PublicationUnderWay> {
    const printedBefore = worker.output().length;
    const ended = publish(day);
    const deadline = Date.now() + TAKEN_WITHIN_MS;
    for (;;) {
      const [, publication] = TAKEN.exec(worker.output().slice(printedBefore)) ?? [];
      if (publication !== undefined) return { publication, ended };
      if (Date.now() > deadline) throw new Error(`The worker took no job:\n${worker.output()}`);
      await sleep(10);
    }
  }

  async function published(day: Day): Promise<Published> {
    expectLiveResult(await publish(day));
    return livePublished(environment);
  }

  const expected: Record<Day, Published> = {
    second: await published('second'),
    first: await published('first'),
  };
  const secondRows = files.second.individualRows + files.second.businessRows;
  expect(expected.second).toMatchObject({
    date: DATES.second,
    counts: { rows: secondRows, licenses: secondRows, rejected: 0 },
  });

  function isRunning(): boolean {
    return worker.child.exitCode === null && worker.child.signalCode === null;
  }

  /** Expects that this day alone is live, whole, with nothing left behind. */
  async function expectLive(day: Day): Promise<void> {
    await expectOneCompletePublication(environment, expected[day]);
    const id = worker.child.pid ?? 0;
    const ofWorker = isRunning() ? [id, ...(await childrenOf(id))] : [];
    await expectNoProcessBut(environment, [...ofWorker, api?.child.pid ?? 0]);
  }
  return {
    environment,
    files,
    /** How many the files of the second day have, and how many documents they make. */
    rows: secondRows,
    documents: expected.second.counts.licenses + expected.second.counts.endorsements,
    /** The worker that was started last. */
    worker: () => worker,
    /** Starts a worker, with other settings if given, in place of the one before, which is stopped or killed. */
    startWorker: async (variables: Record<string, string> = {}): Promise<RunningProcess> => {
      await worker.stop();
      worker = await startWorker({ ...environment.variables, ...variables });
      return worker;
    },
    /** Makes what a failed test may have left good again: a worker that runs, the first day live. */
    makeReady: async (): Promise<void> => {
      if (!isRunning()) worker = await startWorker(environment.variables);
      if ((await livePublished(environment)).date === DATES.first) return;
      await lapseLocks(environment);
      await publish('first');
    },
    publish,
    begin,
    expectLive,
    /** Expects that this day alone is live, whole, with nothing left behind, and that a plain re-run goes live. */
    expectRecovered: async (day: Day): Promise<void> => {
      await expectLive(day);
      const other = day === 'second' ? 'first' : 'second';
      expectLiveResult(await publish(other));
      await expectLive(other);
    },
    /** Expects that the command said that the files are live. */
    expectPublished: async ({ ended }: PublicationUnderWay): Promise<void> => {
      expectLiveResult(await ended);
    },
    /** Stops the processes and removes what was made. */
    stop: async (): Promise<void> => {
      await worker.stop();
      await api?.stop();
      await environment.cleanUp();
    },
  };
}

const resultSaid = z.looseObject({
  state: z.string(),
  reasons: z.array(z.string()).default([]),
  seconds: z.number().default(0),
});

function expectLiveResult({ code, stdout, stderr }: CommandResult): void {
  if (stdout === '') throw new Error(`The command printed nothing but: ${stderr}`);
  const { state, reasons, seconds } = resultSaid.parse(JSON.parse(stdout));
  expect({ code, state, reasons }).toEqual({ code: 0, state: 'live', reasons: [] });
  // Also where it was killed between the switch and its last event.
  expect(seconds).toBeGreaterThan(0);
}

/**
 * Lets the lock of a killed worker's job lapse now, and has it noted as one to be looked at, instead of waiting
 * for it: a minute and a check later the queue would be in the same state. The next worker takes the job up.
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
