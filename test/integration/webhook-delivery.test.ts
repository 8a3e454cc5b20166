import { beforeEach, expect, test } from '@jest/globals';
import { accountId } from '../../src/access/accounts.ts';
import { readCursor } from '../../src/changes/feed.ts';
import { liveFeed } from '../../src/publications/live-feed.ts';
import { rollBack } from '../../src/publications/rollback.ts';
import { WEBHOOKS, type Webhook } from '../../src/subscriptions/webhook.ts';
import { deliver, waitAfter } from '../../workers/webhooks/delivery.ts';
import { type FanOut, fanOut } from '../../workers/webhooks/fan-out.ts';
import { daysAfter } from '../support/days.ts';
import { NOT_WATCHED, SECRET_KEY, startReceiver, webhookInstallation, well } from '../support/webhooks.ts';

const HOUR = 3600;
const START = Date.parse('2026-11-02T06:00:00Z');

const installed = await webhookInstallation();
const { client, store } = installed.environment;
const receiver = await startReceiver();

beforeEach(() => receiver.respond(well));

/** Delivers to an account. @param id of another webhook than it has */
async function deliverTo(
  name: string,
  { at = START, id, news }: { at?: number; id?: string; news?: FanOut } = {},
) {
  const webhookId = id ?? (await installed.webhookOf(name))?.id ?? '';
  return deliver(webhookId, accountId(name), await liveFeed(store), {
    store,
    newsOf: news ?? fanOut(store),
    secretKey: SECRET_KEY,
    allowedRanges: ['127.0.0.0/8'],
    now: () => new Date(at),
  });
}

/** What the receiver is told while this is done. */
async function told(work: () => Promise<unknown>) {
  const before = receiver.received.length;
  await work();
  return receiver.received.slice(before);
}

const DELIVERED = { outcome: 'delivered' };
const NOTHING = { outcome: 'nothing' };

test('a receiver that fails is asked at the times of Standard Webhooks, then daily, and paused after five days', async () => {
  await installed.subscribe('Down', receiver.url());
  await installed.publishNext();
  receiver.respond(() => ({ status: 500 }));
  const waits: number[] = [];
  let at = START;
  const messages = await told(async () => {
    for (let attempt = 1; ; attempt += 1) {
      const { outcome, answered, retryAfterMs } = await deliverTo('Down', { at });
      expect([outcome, answered]).toEqual(['failed', 500]);
      if (retryAfterMs === undefined) break;
      waits.push(waitAfter(attempt) / 1000);
      at += waitAfter(attempt);
    }
  });
  const hours = [0.5, 2, 5, 10, 14, 20, 24, 24, 24];
  expect(waits).toEqual([5, 300, ...hours.map((each) => each * HOUR)]);
  const failing = { paused: 'failing', failing_since: new Date(START).toISOString() };
  expect(await installed.webhookOf('Down')).toMatchObject(failing);
  expect([new Set(messages.map(({ id }) => id)).size, await deliverTo('Down', { at })]).toEqual([1, NOTHING]);

  receiver.respond(well);
  await installed.resume('Down');
  expect(await deliverTo('Down', { at })).toMatchObject({ outcome: 'delivered', answered: 204 });
});

test('410 pauses; once the account has resumed it, everything since then is told, a rollback too', async () => {
  await installed.subscribe('Gone', receiver.url());
  await installed.publishNext();
  receiver.respond(() => ({ status: 410 }));
  expect(await deliverTo('Gone')).toMatchObject({ outcome: 'gone', answered: 410 });
  receiver.respond(well);
  await installed.publishNext();
  const { date } = await liveFeed(store);
  await rollBack(store);
  expect(await deliverTo('Gone')).toEqual(NOTHING);
  await installed.resume('Gone');
  const messages = await told(async () => expect(await deliverTo('Gone')).toMatchObject(DELIVERED));
  const before = daysAfter(date, -1);
  expect(messages.map(({ message }) => message.data.date)).toEqual([before, date, before]);
});

test('an account that is deactivated or missing is neither queued nor told; activated again, it is told everything', async () => {
  const names = ['Deactivated', 'Missing'];
  for (const name of names) await installed.subscribe(name, receiver.url());
  const queued = async (name: string) =>
    (await installed.queue.getJobs()).some(({ data }) => data.account === accountId(name));
  await installed.setActive('Deactivated', false);
  const { client, names: indices } = store;
  await client.delete({ index: indices.accounts, id: accountId('Missing'), refresh: true });
  await installed.publishNext();
  for (const name of names) expect([await queued(name), await deliverTo(name)]).toEqual([false, NOTHING]);
  await installed.setActive('Deactivated', true);
  expect([await queued('Deactivated'), await deliverTo('Deactivated')]).toMatchObject([true, DELIVERED]);
});

test.each<[what: string, change: (webhook: Webhook) => Promise<Webhook | undefined>]>([
  ['deleted', () => installed.removeWebhook('Changing').then(() => undefined)],
  ['replaced by another', () => installed.subscribe('Changing', receiver.url('other'))],
  [
    'brought further by another delivery',
    async (webhook) => {
      const further = { ...webhook, delivered_cursor: await installed.latest() };
      await WEBHOOKS.put(store, webhook.account, further);
      return further;
    },
  ],
])('a webhook that is %s during a send is not written', async (_what, change) => {
  const webhook = await installed.subscribe('Changing', receiver.url());
  await installed.publishNext();
  let changed: unknown;
  receiver.respond(async () => {
    changed = await change(webhook);
    return { status: 204 };
  });
  expect(await deliverTo('Changing')).toMatchObject(DELIVERED);
  expect(await installed.webhookOf('Changing')).toEqual(changed);
});

test('a receiver that can not be reached fails, and the log has no more of its address than the host', async () => {
  await installed.subscribe('Away', 'http://127.0.0.1:9/secret?token=secret');
  await installed.publishNext();
  const ended = await deliverTo('Away');
  expect(ended).toMatchObject({ outcome: 'failed', host: '127.0.0.1:9', answered: 'connection refused' });
});

test('a stored cursor that is none of the feed does not stop a webhook: the account is told to verify everything', async () => {
  const webhook = await installed.subscribe('Broken', receiver.url());
  await WEBHOOKS.put(store, webhook.account, { ...webhook, delivered_cursor: 'none' });
  expect(await deliverTo('Broken')).toMatchObject(DELIVERED);
  expect(receiver.received.at(-1)?.message.data).toMatchObject({ counts: null, verify_all: true });
  expect(await deliverTo('Broken')).toEqual(NOTHING);
});

test('a receiver that missed publications gets a message for each, and reads the changes of none after one that fails', async () => {
  await installed.subscribe('Was down', receiver.url());
  await installed.publishNext();
  await installed.publishNext(NOT_WATCHED);
  await installed.publishNext();
  const read: number[] = [];
  const news: FanOut = (entry) => {
    read.push(entry.epoch);
    return fanOut(store)(entry);
  };
  receiver.respond(() => ({ status: 500 }));
  expect(await deliverTo('Was down', { news })).toMatchObject({ outcome: 'failed' });
  expect(read).toHaveLength(1);
  const first = receiver.received.length;
  receiver.respond(() => ({ status: receiver.received.length > first + 1 ? 500 : 204 }));
  // The second message fails: it comes again, and the first does not.
  const all = await told(async () => {
    expect(await deliverTo('Was down')).toMatchObject({ outcome: 'failed' });
    receiver.respond(well);
    expect(await deliverTo('Was down')).toMatchObject(DELIVERED);
  });
  const [one, two, ...others] = all.map(({ id, message: { data } }) => ({ id, data }));
  expect(others).toEqual([two]);
  expect(one?.id).not.toBe(two?.id);
  const changed = { added: 0, changed: 1, removed: 0 };
  expect([one?.data.counts, two?.data]).toMatchObject([
    changed,
    { counts: changed, date: (await liveFeed(store)).date, cursor: await installed.latest() },
  ]);
  expect(one?.data.publication).not.toBe(two?.data.publication);
  expect(await deliverTo('Was down')).toEqual(NOTHING);
});

test('changes that can not all be read are not counted: the account is told to verify everything', async () => {
  await installed.subscribe('Hole', receiver.url());
  await installed.publishNext();
  const last = String(readCursor(await installed.latest())?.position);
  await client.delete({ index: store.names.changes, id: last, refresh: true });
  expect(await deliverTo('Hole')).toMatchObject(DELIVERED);
  expect(receiver.received.at(-1)?.message.data.counts).toBeNull();
});

test('a delivery for a webhook that was replaced sends nothing to the new one', async () => {
  const replaced = await installed.subscribe('Replaced', receiver.url());
  await installed.subscribe('Replaced', receiver.url('new'));
  await installed.publishNext();
  const toNew = await told(async () =>
    expect(await deliverTo('Replaced', { id: replaced.id })).toEqual(NOTHING),
  );
  expect(toNew).toEqual([]);
  expect(await deliverTo('Replaced')).toMatchObject(DELIVERED);
});

test('the changes of a publication are read once, however many accounts watch them', async () => {
  // More than are queued at once.
  const made = await installed.subscribeMany(101, receiver.url());
  await installed.publishNext();
  const queued = new Set((await installed.queue.getJobs()).map(({ data }) => data.account));
  expect(made.filter(({ account }) => !queued.has(account))).toEqual([]);
  let read = 0;
  const counted = new Proxy(store.client, {
    get: (client, name) => {
      if (name !== 'search') return Reflect.get(client, name);
      return (...given: Parameters<typeof client.search>) => {
        if (given[0]?.index === store.names.changes) read += 1;
        return client.search(...given);
      };
    },
  });
  const news = fanOut({ ...store, client: counted });
  for (let at = 0; at < 20; at += 1)
    expect(await deliverTo(`Account ${at}`, { news })).toMatchObject(DELIVERED);
  expect(read).toBe(1);
});
