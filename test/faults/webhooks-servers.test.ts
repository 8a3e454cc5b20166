/** @room changes @long */

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DOCUMENT_CHECKS } from '../../src/cli/stored-documents.ts';
import { restoreBackup, writeBackup } from '../../src/storage/backup.ts';
import { eventually } from '../support/eventually.ts';
import { type OwnServer, ownRedis } from '../support/own-servers.ts';
import type { DatasetFiles } from '../support/publishing.ts';
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

describe('a restored installation', () => {
  let lost: WebhookInstallation;
  let atBackup: DatasetFiles;

  beforeEach(async () => {
    lost = await webhookInstallation();
    installed = lost;
    await lost.subscribe(ACCOUNT, receiver.url());
    await lost.startWorker();
    atBackup = await lost.nextFiles();
    await lost.publishFiles(atBackup);
    await expectDelivered(1);
    const backup = `${lost.environment.folder}/webhooks.backup`;
    await writeBackup(lost.environment.store, backup, DOCUMENT_CHECKS);
    await lost.publishNext();
    await expectDelivered(2);
    await lost.stopWorkers();
    installed = await webhookInstallation({}, false);
    await restoreBackup(installed.environment.store, backup, DOCUMENT_CHECKS);
    await installed.startWorker();
  });

  test('on which the same files are published tells nothing again', async () => {
    await installed.publishFiles(atBackup);
    await expectDelivered(2);
  });

  test('on which newer files are published tells once that changes can not be listed', async () => {
    await installed.publishFiles(await lost.nextFiles());
    await expectDelivered(3);
    const cursor = await installed.latest();
    const unlisted = { cursor, counts: null, changes: [], verify_all: true };
    expect(receiver.received[2]?.message.data).toMatchObject(unlisted);
    await installed.publishFiles(await lost.nextFiles());
    await expectDelivered(4);
    expect(receiver.received[3]?.message.data).toMatchObject({ counts: { changed: 1 }, verify_all: false });
  });
});
