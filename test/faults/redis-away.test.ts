/** @room outages @long */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { readEvents } from '../../src/publications/ledger.ts';
import { isBulk } from '../support/bulk-faults.ts';
import { eventually } from '../support/eventually.ts';
import { ownRedis } from '../support/own-servers.ts';
import { expectLiveResult, publisher } from '../support/publisher.ts';

/** Enough for more bulk requests than a load has under way at a time. */
const ROWS = 30_000;
const AWAY_MS = 2000;
/** A worker stops within 20 seconds. */
const STOPS_WITHIN_SECONDS = 60;
/** The schedule is never due during a test. */
const SCHEDULE = { DATASET_INDIVIDUAL: 'a.csv', DATASET_BUSINESS: 'b.csv', PUBLISH_SCHEDULE: '0 6 29 2 *' };

const redis = await ownRedis();
const publications = await publisher(ROWS, { REDIS_URL: redis.url, ...SCHEDULE });

beforeEach(() => publications.makeReady());

/**
 * Publishes the second day, and kills Redis at one of its bulk requests. Expects that the load goes on meanwhile; a
 * later bulk request is held until `goOn` is called, when Redis runs again.
 */
async function publishedWithout(number: number, isEmptied: boolean) {
  const [reached, killed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const [goneOn, back] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let made = 0;
  publications.disturb(async (request) => {
    if (!isBulk(request)) return request.forward();
    made += 1;
    const isLater = made >= number + 4;
    if (made >= number) reached.resolve();
    if (made >= number) await killed.promise;
    // Three are under way at a time: this one is sent when one of them was answered without Redis.
    if (isLater) goneOn.resolve();
    if (isLater) await back.promise;
    return request.forward();
  });
  const { publication, ended } = await publications.begin('second');
  await reached.promise;
  await redis.kill();
  if (isEmptied) await redis.loseData();
  await sleep(AWAY_MS);
  killed.resolve();
  await goneOn.promise;
  expect(await redis.isListening()).toBe(false);
  await redis.start();
  return { publication, ended, goOn: () => back.resolve() };
}

test.each([
  ['with its data', 'the first', 1],
  ['with its data', 'the third', 3],
  ['empty', 'the first', 1],
  ['empty', 'the third', 3],
])('Redis killed (SIGKILL) and started again %s: at %s bulk request', async (how, _which, number) => {
  const { publication, ended, goOn } = await publishedWithout(number, how === 'empty');
  goOn();
  expectLiveResult(await ended);
  const { queue } = publications;
  const attempts = (await queue.getJob(publication))?.attemptsStarted ?? 0;
  expect(attempts > 0).toBe(how !== 'empty');
  await publications.expectRecovered('second');
  // It still runs one publication at a time and has its schedule.
  expect([await queue.getGlobalConcurrency(), await queue.getJobSchedulersCount()]).toEqual([1, 1]);
});

test('Redis killed (SIGKILL) and started again empty, other files submitted during the load', async () => {
  const { store } = publications.environment;
  const before = await readEvents(store);
  const { publication: first, ended, goOn } = await publishedWithout(1, true);
  const asking = publications.publish('first');
  const events = async () => (await readEvents(store)).slice(before.length);
  await eventually('it is asked for', async () =>
    (await events()).some(({ publication, event }) => publication !== first && event === 'queued'),
  );
  goOn();
  const other = await asking;
  expect(other.code).toBe(0);
  expectLiveResult(await ended);
  const { publication: second } = z.object({ publication: z.string() }).parse(JSON.parse(other.stdout));
  const turns = (await events()).map(({ publication, event }) => `${publication} ${event}`);
  expect(turns.indexOf(`${second} queued`)).toBeGreaterThan(turns.indexOf(`${first} reading`));
  expect(publications.worker().output()).not.toContain('"msg":"publication failed"');
  await publications.expectRecovered('first');
});

test('worker stopped (SIGTERM) while Redis is away', async () => {
  await redis.kill();
  const askedAt = Date.now();
  await publications.worker().stop();
  expect((Date.now() - askedAt) / 1000).toBeLessThan(STOPS_WITHIN_SECONDS);
  expect(await redis.isListening()).toBe(false);
  await redis.start();
  await publications.restart();
  await publications.expectRecovered('first');
});
