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
const cleanUps: (() => Promise<void>)[] = [];

beforeEach(async () => {
  receiver = await startReceiver();
  cleanUps.push(receiver.close);
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function installation(
  settings: Record<string, string> = {},
  isPublished = true,
): Promise<WebhookInstallation> {
  const installed = await webhookInstallation(settings, isPublished);
  cleanUps.push(installed.stop);
  return installed;
}

describe('Redis', () => {
  let redis: OwnServer;
  let installed: WebhookInstallation;

  beforeEach(async () => {
    redis = await ownRedis();
    cleanUps.push(redis.stop);
    installed = await installation({ REDIS_URL: redis.url });
    await installed.subscribe(ACCOUNT, receiver.url());
    await installed.startWorker();
  });

  for (const [back, isEmptied] of [
    ['empty', true],
    ['with its data', false],
  ] as const) {
    test(`Redis killed (SIGKILL) while a webhook message waits for its next attempt, and started again ${back}`, async () => {
      receiver.respond(() => ({ status: 503, headers: { 'retry-after': isEmptied ? '7200' : '6' } }));
      await installed.publishNext();
      await eventually('it waits', async () => (await installed.queue.getDelayedCount()) === 1);
      receiver.respond(well);
      await redis.kill();
      if (isEmptied) await redis.loseData();
      await redis.start();
      await installed.untilDelivered(ACCOUNT);
      await installed.untilReconciled();
      expect(receiver.received).toHaveLength(2);
      expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
      expect(await installed.webhookOf(ACCOUNT)).toMatchObject({ failing_since: null });
    });

    test(`Redis killed (SIGKILL) while a webhook message is sent, and started again ${back}`, async () => {
      const reply = await publishUntilAsked(installed, receiver);
      await redis.kill();
      reply();
      await installed.untilDelivered(ACCOUNT);
      if (isEmptied) await redis.loseData();
      await redis.start();
      await installed.untilReconciled();
      expect(receiver.received).toHaveLength(1);
      // The worker goes on.
      await installed.publishNext();
      await installed.untilDelivered(ACCOUNT);
      expect(receiver.received).toHaveLength(2);
    });
  }
});

test('a publication is not delayed by 200 webhooks whose receivers do not answer', async () => {
  const installed = await installation();
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
  let backup: string;
  let atBackup: DatasetFiles;

  beforeEach(async () => {
    lost = await installation();
    await lost.subscribe(ACCOUNT, receiver.url());
    await lost.startWorker();
    atBackup = await lost.nextFiles();
    await lost.publishFiles(atBackup);
    await lost.untilDelivered(ACCOUNT);
    backup = `${lost.environment.folder}/webhooks.backup`;
    await writeBackup(lost.environment.store, backup, DOCUMENT_CHECKS);
    await lost.publishNext();
    await lost.untilDelivered(ACCOUNT);
    await lost.stopWorkers();
    expect(receiver.received).toHaveLength(2);
  });

  async function restored(): Promise<WebhookInstallation> {
    const installed = await installation({}, false);
    await restoreBackup(installed.environment.store, backup, DOCUMENT_CHECKS);
    await installed.startWorker();
    return installed;
  }

  test('on which the same files are published tells nothing again', async () => {
    const installed = await restored();
    await installed.publishFiles(atBackup);
    await installed.untilDelivered(ACCOUNT);
    await installed.untilReconciled();
    expect(receiver.received).toHaveLength(2);
  });

  test('on which newer files are published tells once that changes can not be listed', async () => {
    const installed = await restored();
    await installed.publishFiles(await lost.nextFiles());
    await installed.untilDelivered(ACCOUNT);
    await installed.untilReconciled();
    expect(receiver.received).toHaveLength(3);
    expect(receiver.received[2]?.message.data).toMatchObject({
      cursor: await installed.latest(),
      counts: null,
      changes: [],
      verify_all: true,
    });
    await installed.publishFiles(await lost.nextFiles());
    await installed.untilDelivered(ACCOUNT);
    expect(receiver.received[3]?.message.data).toMatchObject({ counts: { changed: 1 }, verify_all: false });
  });
});
