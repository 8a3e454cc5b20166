import { expect, jest, test } from '@jest/globals';
import { batcher } from '../../src/storage/batcher.ts';
import { TooBusyError } from '../../src/storage/errors.ts';

/** Requests that are answered when the test says so; each answer is the ask doubled. */
function heldRequests() {
  const requests: { readonly asks: readonly number[]; answer(): void; fail(error: Error): void }[] = [];
  const request = (asks: readonly number[]) =>
    new Promise<number[]>((resolve, reject) => {
      requests.push({ asks, answer: () => resolve(asks.map((ask) => 2 * ask)), fail: reject });
    });
  return { requests, request, asked: () => requests.map(({ asks }) => asks) };
}

/** Until what is due has been sent. */
const sent = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

test('a batcher collects queries in the next request while the maximum of requests is under way', async () => {
  const { requests, request, asked } = heldRequests();
  const ask = batcher(request, { maxBatchSize: 10, concurrency: 2 });
  const answers: Promise<number>[] = [];
  for (const number of [1, 2, 3, 4]) {
    answers.push(ask(number));
    await sent();
  }
  expect(asked()).toEqual([[1], [2]]);
  requests[1]?.answer();
  expect(await answers[1]).toBe(4);
  await sent();
  expect(asked()).toEqual([[1], [2], [3, 4]]);
  requests[0]?.answer();
  requests[2]?.answer();
  expect(await Promise.all(answers)).toEqual([2, 4, 6, 8]);
});

test('a batcher sends no more queries in a request than its maximum', async () => {
  const { requests, request, asked } = heldRequests();
  const answers = Promise.all([1, 2, 3, 4, 5].map(batcher(request, { maxBatchSize: 2, concurrency: 5 })));
  await sent();
  await sent();
  expect(asked()).toEqual([[1, 2], [3, 4], [5]]);
  for (const { answer } of requests) answer();
  expect(await answers).toEqual([2, 4, 6, 8, 10]);
});

test('a batcher fails the queries of a failed request, and no others', async () => {
  const { requests, request } = heldRequests();
  const ask = batcher(request, { maxBatchSize: 2, concurrency: 1 });
  const answers = Promise.allSettled([ask(1), ask(2), ask(3)]);
  await sent();
  const failure = new Error('away');
  requests[0]?.fail(failure);
  await sent();
  requests[1]?.answer();
  const rejected = { status: 'rejected', reason: failure };
  expect(await answers).toEqual([rejected, rejected, { status: 'fulfilled', value: 6 }]);
});

test('a batcher refuses queries that have waited too long for their request, without sending them', async () => {
  const now = jest.spyOn(performance, 'now').mockReturnValue(1000);
  try {
    const { requests, request, asked } = heldRequests();
    const ask = batcher(request, { maxBatchSize: 10, concurrency: 1 });
    const answers = Promise.allSettled([ask(1), sent().then(() => ask(2)), sent().then(() => ask(3))]);
    await sent();
    await sent();
    now.mockReturnValue(3100);
    const last = ask(4);
    requests[0]?.answer();
    await sent();
    requests[1]?.answer();
    expect(asked()).toEqual([[1], [4]]);
    const refused = { status: 'rejected', reason: expect.any(TooBusyError) };
    expect([await answers, await last]).toEqual([[{ status: 'fulfilled', value: 2 }, refused, refused], 8]);
  } finally {
    now.mockRestore();
  }
});

test('a batcher fails one query alone if only its answer failed', async () => {
  const failure = new Error('only this');
  const ask = batcher(
    async (asks: readonly number[]) =>
      asks.map((each) => (each === 2 ? Promise.reject<number>(failure) : each)),
    { maxBatchSize: 10, concurrency: 1 },
  );
  expect(await Promise.allSettled([ask(1), ask(2), ask(3)])).toEqual([
    { status: 'fulfilled', value: 1 },
    { status: 'rejected', reason: failure },
    { status: 'fulfilled', value: 3 },
  ]);
});

test('a batcher fails all queries of a request that returned too few answers', async () => {
  const tooFew = async (asks: readonly number[]) => asks.slice(1);
  const ask = batcher(tooFew, { maxBatchSize: 10, concurrency: 1 });
  const ended = await Promise.allSettled([ask(1), ask(2)]);
  expect(ended.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});
