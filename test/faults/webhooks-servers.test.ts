/** @room changes @long */

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { eventually } from '../support/eventually.ts';
import { type OwnServer, ownRedis } from '../support/own-servers.ts';

import {
  publishUntilAsked,
  type Receiver,
  startReceiver,
  type WebhookInstallation,
  webhookInstallation,
  well,
} from '../support/webhooks.ts';
import { publish } from '../support/worker-installation.ts';

const ACCOUNT = 'Acme';

let receiver: Receiver;
let installed: WebhookInstallation;

/** Expects that the account has been told of everything in so many messages, and that nothing more is sent. */
async function expectDelivered(messages: number): Promise<void> {
  await installed.untilDelivered(ACCOUNT);
  await installed.untilReconciled();
  expect(receiver.received).toHaveLength(messages);
}

beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => installed.stopWorkers());

describe.each(['empty', 'with its data'])('Redis killed (SIGKILL) and started again %s', (back) => {
  let redis: OwnServer;
  const isEmptied = back === 'empty';

  beforeEach(async () => {
    redis = await ownRedis();
    installed = await webhookInstallation({ REDIS_URL: redis.url });
    await installed.subscribe(ACCOUNT, receiver.url());
    await installed.startWorker();
  });

  test('while a webhook message waits for its next attempt', async () => {
    receiver.respond(() => ({ status: 503, headers: { 'retry-after': isEmptied ? '7200' : '6' } }));
    await installed.publishNext();
    await eventually('it waits', async () => (await installed.queue.getDelayedCount()) === 1);
    receiver.respond(well);
    await redis.kill();
    if (isEmptied) await redis.loseData();
    await redis.start();
    await expectDelivered(2);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
    expect(await installed.webhookOf(ACCOUNT)).toMatchObject({ failing_since: null });
  });

  test('while a webhook message is sent', async () => {
    const reply = await publishUntilAsked(installed, receiver);
    await redis.kill();
    reply();
    await installed.untilDelivered(ACCOUNT);
    if (isEmptied) await redis.loseData();
    await redis.start();
    await expectDelivered(1);
    // The worker goes on.
    await installed.publishNext();
    await expectDelivered(2);
  });
});

test('a publication is not delayed by 200 webhooks whose receivers do not answer', async () => {
  installed = await webhookInstallation();
  await installed.subscribeMany(200, receiver.url());
  const worker = await installed.startWorker();
  receiver.respond(() => new Promise(() => undefined));
  await installed.publishNext();
  await eventually('ten are being sent', () => receiver.received.length >= 10);
  const { code, stdout } = await publish(installed, await installed.nextFiles());
  expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ state: 'live' })]);
  expect(worker.output()).not.toContain('"outcome":"delivered"');
  expect(await installed.queue.getJobCountByTypes('waiting', 'active')).toBeGreaterThan(100);
  // Sends under way are cut, and the worker stops.
  await receiver.close();
});
