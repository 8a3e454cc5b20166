import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type Job, type Queue, Worker } from 'bullmq';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { PUBLISH_QUEUE, publishQueue, queueConnection, queuePrefix } from '../../src/publications/job.ts';
import { isRemoved, requestPublication } from '../../src/publications/request.ts';
import { FIXTURES } from '../support/fixtures.ts';

let environment: TestEnvironment;
let queue: Queue;

beforeAll(async () => {
  environment = await testEnvironment();
  queue = publishQueue(environment.config);
});
beforeEach(() => queue.obliterate({ force: true }));
afterAll(async () => {
  await queue.close();
  await environment.cleanUp();
});

async function requested(): Promise<Job> {
  const request = await requestPublication(queue, FIXTURES);
  if (request.state !== 'queued') throw new Error(`It is ${request.state}.`);
  return request.job;
}

/** Lets a worker take the next job and hold it until `work` is done. */
async function worked(job: Job, work: () => Promise<unknown>): Promise<void> {
  const worker = new Worker(PUBLISH_QUEUE, work, {
    connection: queueConnection(environment.config),
    prefix: queuePrefix(environment.config.INDEX_PREFIX),
  });
  try {
    while (!(await job.isCompleted())) await new Promise((resolve) => setTimeout(resolve, 20));
  } finally {
    await worker.close();
  }
}

test('a waiting job is withdrawn', async () => {
  const job = await requested();
  expect(await isRemoved(job)).toBe(true);
  expect(await queue.getJob(job.id ?? '')).toBeUndefined();
});

test('a job that a worker holds is not withdrawn', async () => {
  const job = await requested();
  let removed: boolean | undefined;
  await worked(job, async () => {
    removed = await isRemoved(job);
  });
  expect(removed).toBe(false);
});

test('a job that has ended is not withdrawn: its publication may be live', async () => {
  const job = await requested();
  await worked(job, async () => 'live');
  expect(await isRemoved(job)).toBe(false);
  expect(await queue.getJob(job.id ?? '')).toBeDefined();
});

test('a job that Redis has lost is not withdrawn: its worker continues', async () => {
  const job = await requested();
  await queue.obliterate({ force: true });
  expect(await isRemoved(job)).toBe(false);
});
