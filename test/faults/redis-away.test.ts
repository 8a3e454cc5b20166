import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals';
import { publishQueue } from '../../src/publications/job.ts';
import { faultTest, inForm } from '../support/fault-form.ts';
import { type OwnServer, ownRedis } from '../support/own-servers.ts';
import { type Publisher, publisher } from '../support/publisher.ts';
import { randomMoments, untilLoaded } from '../support/random-moments.ts';

const ROWS = inForm({ short: 20_000, full: 100_000 });
const OUTAGES = inForm({ short: 1, full: 3 });
const AWAY_MS = 2000;
const MID_LOAD = [0.1, 0.9] as const;
const STOPS_WITHIN_SECONDS = 30;

/** What a worker does at a time, and a schedule that is due in no test. */
const SET_UP = { concurrency: 1, schedules: 1 };
const SCHEDULE = '0 6 29 2 *';

let redis: OwnServer;
let publications: Publisher;

beforeAll(async () => {
  redis = await ownRedis();
  publications = await publisher({ rows: ROWS, settings: { REDIS_URL: redis.url } });
}, 180_000);
beforeEach(async () => {
  await publications.makeReady();
  const { individual, business } = publications.files.small;
  await publications.startWorker({
    DATASET_INDIVIDUAL: individual,
    DATASET_BUSINESS: business,
    PUBLISH_SCHEDULE: SCHEDULE,
  });
}, 60_000);
afterAll(async () => {
  await publications.stop();
  await redis.stop();
}, 60_000);

async function expectQueueSetUp(): Promise<void> {
  const queue = publishQueue(publications.environment.config);
  try {
    const found = {
      concurrency: await queue.getGlobalConcurrency(),
      schedules: await queue.getJobSchedulersCount(),
    };
    expect(found).toEqual(SET_UP);
  } finally {
    await queue.close();
  }
}

async function killAndStart(isEmptied: boolean): Promise<void> {
  await redis.kill();
  if (isEmptied) await redis.loseData();
  await sleep(AWAY_MS);
  await redis.start();
}

const COMES_BACK = [
  { how: 'with its data', isEmptied: false, outcome: 'the load goes on; live' },
  {
    how: 'empty',
    isEmptied: true,
    outcome: 'the load goes on, the command learns of it from the ledger, the schedule is back; live',
  },
] as const;

for (const { how, isEmptied, outcome } of COMES_BACK) {
  for (const moment of randomMoments(OUTAGES, `Redis ${how}`, MID_LOAD)) {
    faultTest(
      `Redis killed (SIGKILL) and started again ${how}`,
      moment.name,
      async () => {
        const publication = await publications.begin('large');
        await untilLoaded(moment, publication, publications);
        const killedAt = Date.now();
        await killAndStart(isEmptied);
        await publications.expectPublished(publication);
        const seconds = (Date.now() - killedAt) / 1000;
        await publications.expectRecovered('large');
        await expectQueueSetUp();
        return { seconds, outcome };
      },
      300_000,
    );
  }
}

for (const moment of randomMoments(inForm({ short: 0, full: 2 }), 'Redis, other files', [0.1, 0.4])) {
  faultTest(
    'Redis killed (SIGKILL) and started again empty, other files asked for during the load',
    moment.name,
    async () => {
      const publication = await publications.begin('large');
      await untilLoaded(moment, publication, publications);
      const killedAt = Date.now();
      await killAndStart(true);
      const other = await publications.publish('small');
      expect(other.code).toBe(0);
      await publications.expectPublished(publication);
      const seconds = (Date.now() - killedAt) / 1000;
      expect(publications.worker().output()).not.toContain('"msg":"publication failed"');
      await publications.expectRecovered('small');
      return { seconds, outcome: 'they take turns and both go live, the later ones last' };
    },
    300_000,
  );
}

for (const name of inForm({ short: [], full: ['with nothing to do'] })) {
  faultTest(
    'worker asked to stop (SIGTERM) while Redis is away',
    name,
    async () => {
      await redis.kill();
      const askedAt = Date.now();
      await publications.worker().stop();
      const seconds = (Date.now() - askedAt) / 1000;
      expect(seconds).toBeLessThan(STOPS_WITHIN_SECONDS);
      await redis.start();
      await publications.startWorker();
      await publications.expectRecovered('small');
      return { seconds, outcome: 'it ends' };
    },
    90_000,
  );
}
