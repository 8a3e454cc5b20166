import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { type Job, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { testEnvironment } from '../../scripts/environment.ts';
import {
  PUBLISH_DEDUPLICATION_ID,
  PUBLISH_QUEUE,
  publishQueue,
  queueOptions,
  removeIfWaitingOrAbandoned,
  requestPublication,
} from '../../src/publications/job.ts';
import { FIXTURES } from '../support/fixtures.ts';

const environment = await testEnvironment();
const queue = publishQueue(environment.config);
beforeEach(() => queue.obliterate({ force: true }));
afterAll(() => queue.close());

async function requested(): Promise<Job> {
  const request = await requestPublication(queue, FIXTURES);
  if (request.state !== 'queued') throw new Error(`It is ${request.state}.`);
  return request.job;
}

/** Lets a worker take the next job and hold it until `work` is done. */
async function worked(job: Job, work: () => Promise<unknown>) {
  const worker = new Worker(PUBLISH_QUEUE, work, queueOptions(environment.config));
  while (!(await job.isCompleted())) await new Promise((resolve) => setTimeout(resolve, 20));
  await worker.close();
}

test('a waiting job is withdrawn', async () => {
  const job = await requested();
  expect(await removeIfWaitingOrAbandoned(job)).toBe(true);
  expect(await queue.getJob(job.id ?? '')).toBeUndefined();
});

test('a job that a worker holds is not withdrawn', async () => {
  const job = await requested();
  let removed: boolean | undefined;
  await worked(job, async () => {
    removed = await removeIfWaitingOrAbandoned(job);
  });
  expect(removed).toBe(false);
});

test('a job that has ended is not withdrawn: its publication may be live', async () => {
  const job = await requested();
  await worked(job, async () => 'live');
  expect(await removeIfWaitingOrAbandoned(job)).toBe(false);
  expect(await queue.getJob(job.id ?? '')).toBeDefined();
});

test('a job that Redis has lost is not withdrawn: its worker continues', async () => {
  const job = await requested();
  await queue.obliterate({ force: true });
  expect(await removeIfWaitingOrAbandoned(job)).toBe(false);
});

test('a deduplication key that has outlived its job keeps no publication out', async () => {
  const lost = await requested();
  const redis = new Redis(environment.config.REDIS_URL);
  await redis.del(queue.toKey(lost.id ?? ''));
  await redis.del(queue.toKey('wait'));
  redis.disconnect();
  const job = await requested();
  expect(job.id).not.toBe(lost.id);
  expect(await queue.getWaiting()).toMatchObject([{ id: job.id }]);
  expect(await queue.getDeduplicationJobId(PUBLISH_DEDUPLICATION_ID)).toBe(job.id);
  expect(await requestPublication(queue, FIXTURES)).toMatchObject({ state: 'joined', job: { id: job.id } });
});

const OPTIONS = [{ force: 'A reason' }, { accept: ['fewer_rows'] }, { date: '2026-11-20' }];

test.each(OPTIONS)('a request with %j joins no publication without it', async (options) => {
  const { id } = await requested();
  const other = await requestPublication(queue, { ...FIXTURES, ...options });
  expect(other).toMatchObject({ state: 'busy', publication: id });
  expect(await requestPublication(queue, FIXTURES)).toMatchObject({ state: 'joined' });
});
