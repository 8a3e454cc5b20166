/** @room outages @long */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { publishQueue } from '../../src/publications/job.ts';
import { readEvents } from '../../src/publications/ledger.ts';
import { eventually } from '../support/eventually.ts';
import { inForm, inLongFormOnly } from '../support/fault-form.ts';
import { type OwnServer, ownRedis } from '../support/own-servers.ts';
import { attemptsAt, loadProgress } from '../support/publication-run.ts';
import { type PublicationUnderWay, type Publisher, publisher } from '../support/publisher.ts';
import { type RandomMoment, randomMoments, untilLoaded } from '../support/random-moments.ts';

const ROWS = inForm({ short: 30_000, long: 40_000 });
const OUTAGES = inForm({ short: 1, long: 2 });
const AWAY_MS = 2000;
const MID_LOAD = [0.1, 0.5] as const;
/** A worker stops within 20 seconds. */
const STOPS_WITHIN_SECONDS = 60;

/** The expected settings of the queue. The schedule is never due during a test. */
const SET_UP = { concurrency: 1, schedules: 1 };
const SCHEDULE = '0 6 29 2 *';

let redis: OwnServer;
let publications: Publisher;

beforeAll(async () => {
  redis = await ownRedis();
  publications = await publisher({ rows: ROWS, settings: { REDIS_URL: redis.url } });
});
beforeEach(async () => {
  await publications.makeReady();
  const { individual, business } = publications.files.first;
  await publications.startWorker({
    DATASET_INDIVIDUAL: individual,
    DATASET_BUSINESS: business,
    PUBLISH_SCHEDULE: SCHEDULE,
  });
});

/** Expects that the queue runs one publication at a time and has its schedule. */
async function expectSetUp(): Promise<void> {
  const queue = publishQueue(publications.environment.config);
  try {
    const concurrency = await queue.getGlobalConcurrency();
    const schedules = await queue.getJobSchedulersCount();
    expect({ concurrency, schedules }).toEqual(SET_UP);
  } finally {
    await queue.close();
  }
}

/** Kills Redis during a load and starts it again. Expects that the load continued meanwhile. */
async function killAndStart(
  moment: RandomMoment,
  publication: PublicationUnderWay,
  isEmptied: boolean,
): Promise<void> {
  const { environment } = publications;
  const before = await untilLoaded(moment, publication, publications);
  await redis.kill();
  const { indexed } = await loadProgress(environment, publication.publication);
  if (isEmptied) await redis.loseData();
  await sleep(AWAY_MS);
  await eventually('the load has gone on', async () => {
    const after = await loadProgress(environment, publication.publication);
    expect(after.index).toBe(before.index);
    return after.indexed > indexed;
  });
  expect(await redis.isListening()).toBe(false);
  await redis.start();
}

const COMES_BACK = [
  { how: 'with its data', isEmptied: false },
  { how: 'empty', isEmptied: true },
] as const;

for (const { how, isEmptied } of COMES_BACK) {
  for (const moment of randomMoments(OUTAGES, `Redis ${how}`, MID_LOAD)) {
    test(`Redis killed (SIGKILL) and started again ${how}: ${moment.name}`, async () => {
      const publication = await publications.begin('second');
      await killAndStart(moment, publication, isEmptied);
      await publications.expectPublished(publication);
      const attempts = await attemptsAt(publications.environment, publication.publication);
      if (isEmptied) expect(attempts).toBeUndefined();
      else expect(attempts).toBeGreaterThan(0);
      await publications.expectRecovered('second');
      await expectSetUp();
    });
  }
}

/** The order in which two publications started and went live, in words. */
async function turnsOf(first: string, second: string): Promise<string> {
  const { store } = publications.environment;
  const turns = (await readEvents(store)).flatMap(({ publication, event }) => {
    if (publication !== first && publication !== second) return [];
    const name = publication === first ? 'the first' : 'the other';
    if (event === 'queued' && publication === second) return [`${name} is asked for`];
    if (event === 'reading') return [`${name} begins`];
    return event === 'live' ? [`${name} is live`] : [];
  });
  return turns.join(', ');
}

const published = z.object({ publication: z.string() });

for (const moment of randomMoments(inForm({ short: 0, long: 2 }), 'Redis, other files', [0.1, 0.3])) {
  test(`Redis killed (SIGKILL) and started again empty, other files submitted during the load: ${moment.name}`, async () => {
    const publication = await publications.begin('second');
    await killAndStart(moment, publication, true);
    const other = await publications.publish('first');
    expect(other.code).toBe(0);
    await publications.expectPublished(publication);
    const first = publication.publication;
    const turns = await turnsOf(first, published.parse(JSON.parse(other.stdout)).publication);
    expect(turns).toMatch(/^the first begins, the other is asked for, /);
    expect(publications.worker().output()).not.toContain('"msg":"publication failed"');
    await publications.expectRecovered('first');
  });
}

inLongFormOnly(() => {
  test('worker stopped (SIGTERM) while Redis is away', async () => {
    await redis.kill();
    const askedAt = Date.now();
    await publications.worker().stop();
    const seconds = (Date.now() - askedAt) / 1000;
    expect(seconds).toBeLessThan(STOPS_WITHIN_SECONDS);
    expect(await redis.isListening()).toBe(false);
    await redis.start();
    await publications.startWorker();
    await publications.expectRecovered('first');
  });
});
