import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { accountId } from '../../src/access/accounts.ts';
import { type Changes, changesService } from '../../src/changes/service.ts';
import { liveFeed } from '../../src/publications/live-feed.ts';
import { watchedAmong } from '../../src/subscriptions/subscription.ts';
import { WEBHOOKS } from '../../src/subscriptions/webhook.ts';
import { deliver } from '../../workers/webhooks/delivery.ts';
import {
  type Receiver,
  SECRET_KEY,
  startReceiver,
  type WebhookInstallation,
  webhookInstallation,
  well,
} from '../support/webhooks.ts';

const HOUR = 3600;
const START = Date.parse('2026-11-02T06:00:00Z');

let installed: WebhookInstallation;
let receiver: Receiver;

beforeAll(async () => {
  installed = await webhookInstallation();
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
  await installed.stop();
});

/** Delivers to an account at this time, in milliseconds. */
function deliverAt(name: string, at: number, changes?: Changes) {
  const { store } = installed.environment;
  return deliver(accountId(name), {
    store,
    changes: changes ?? changesService(store, () => liveFeed(store), watchedAmong),
    secretKey: SECRET_KEY,
    allowedRanges: ['127.0.0.0/8'],
    now: () => new Date(at),
  });
}

test('a receiver that fails is asked at the times of Standard Webhooks, then daily, and paused after five days', async () => {
  await installed.subscribe('Down', receiver.url());
  await installed.publishNext();
  receiver.respond(() => ({ status: 500 }));
  const before = receiver.received.length;
  const waits: number[] = [];
  let at = START;
  for (;;) {
    const { outcome, answered, retry } = await deliverAt('Down', at);
    expect([outcome, answered]).toEqual(['failed', 500]);
    if (retry === undefined) break;
    waits.push((retry.at - at) / 1000);
    at = retry.at;
  }
  expect(waits).toEqual([
    ...[5, 300, 0.5 * HOUR, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR],
    ...[24 * HOUR, 24 * HOUR],
  ]);
  expect(await installed.webhookOf('Down')).toMatchObject({
    paused: 'failing',
    failing_since: new Date(START).toISOString(),
  });
  expect(new Set(receiver.received.slice(before).map(({ id }) => id)).size).toBe(1);
  expect(await deliverAt('Down', at)).toEqual({ outcome: 'nothing' });

  receiver.respond(well);
  await installed.resume('Down');
  expect(await deliverAt('Down', at)).toMatchObject({ outcome: 'delivered', answered: 204 });
});

test('a receiver that names a longer time is asked then, at most a day later', async () => {
  await installed.subscribe('Busy', receiver.url());
  await installed.publishNext();
  const asked = async (retryAfter: string) => {
    receiver.respond(() => ({ status: 429, headers: { 'retry-after': retryAfter } }));
    const { retry } = await deliverAt('Busy', START);
    return [((retry?.at ?? 0) - START) / 1000, retry?.isAsked];
  };
  expect(await asked('3')).toEqual([5, false]);
  expect(await asked('3600')).toEqual([HOUR, true]);
  expect(await asked('864000')).toEqual([24 * HOUR, true]);
  expect(await asked('soon')).toEqual([5, false]);
});

test('a receiver that can not be reached fails, and the log has no more of its address than the host', async () => {
  await installed.subscribe('Away', 'http://127.0.0.1:9/secret?token=secret');
  await installed.publishNext();
  const ended = await deliverAt('Away', START);
  expect(ended).toMatchObject({ outcome: 'failed', host: '127.0.0.1:9', answered: 'connection refused' });
  expect(JSON.stringify({ host: ended.host, answered: ended.answered })).not.toContain('secret');
});

test('a stored cursor that is none of the feed does not stop a webhook: the account is told to verify everything', async () => {
  const webhook = await installed.subscribe('Broken', receiver.url());
  receiver.respond(well);
  await WEBHOOKS.put(installed.environment.store, webhook.account, { ...webhook, delivered_cursor: 'none' });
  expect(await deliverAt('Broken', START)).toMatchObject({ outcome: 'delivered' });
  expect(receiver.received.at(-1)?.message.data).toMatchObject({ counts: null, verify_all: true });
  expect(await deliverAt('Broken', START)).toEqual({ outcome: 'nothing' });
});

test('a publication that goes live while changes are read is told with them, in the next delivery', async () => {
  await installed.subscribe('Busy day', receiver.url());
  receiver.respond(well);
  await installed.publishNext();
  const { store } = installed.environment;
  const changes = changesService(store, () => liveFeed(store), watchedAmong);
  const page: typeof changes.page = async (request) => {
    const read = await changes.page(request);
    await installed.publishNext();
    return read;
  };
  const before = receiver.received.length;
  expect(await deliverAt('Busy day', START, { ...changes, page })).toEqual({ outcome: 'nothing' });
  expect(await deliverAt('Busy day', START)).toMatchObject({ outcome: 'delivered' });
  expect(receiver.received.slice(before).map(({ message }) => message.data.counts)).toEqual([
    { added: 0, changed: 2, removed: 0 },
  ]);
});
