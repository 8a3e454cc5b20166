import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { Queue } from 'bullmq';
import type { z } from 'zod';
import { atEndOfTestFile } from '../../scripts/clean-up.ts';
import { ACCOUNTS, accountId } from '../../src/access/accounts.ts';
import { latestCursor } from '../../src/changes/feed.ts';
import { numberKey } from '../../src/licenses/fold.ts';
import { licenseId } from '../../src/licenses/license.ts';
import { queueOptions } from '../../src/publications/job.ts';
import { liveFeed } from '../../src/publications/live-feed.ts';
import { newId } from '../../src/publications/metadata.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { changesPublished } from '../../src/subscriptions/message.ts';
import { SUBSCRIPTIONS, subscriptionId } from '../../src/subscriptions/subscription.ts';
import { WEBHOOKS, type Webhook } from '../../src/subscriptions/webhook.ts';
import { type DeliveryJob, queueUndelivered, WEBHOOKS_QUEUE } from '../../workers/webhooks/webhooks.ts';
import { licensesOf, writeDay } from './day-files.ts';
import { daysAfter } from './days.ts';
import { eventually } from './eventually.ts';
import { webServer } from './proxy.ts';
import { type DatasetFiles, expectLive, publishFiles } from './publishing.ts';
import { installation } from './worker-installation.ts';

const NURSING = 'Nursing Board';
const NURSES = licensesOf(NURSING, 'RN.', 20);
const WATCHED = 'RN.900001';
export const NOT_WATCHED = 'RN.900002';
const FIRST_DAY = '2026-10-01';

/** The path and query of a webhook's URL may be secret, so this text must never appear in a log. */
export const SECRET_PATH = 'the-secret-path';

export const SECRET_KEY = 'a secret key of the tests, of 32 characters and more';

/** A request to a receiver. */
export interface Received {
  readonly id: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly message: z.output<typeof changesPublished>;
}

type Reply = { readonly status: number; readonly headers?: Readonly<Record<string, string>> };

type Respond = (received: Received) => Reply | Promise<Reply>;

export const well: Respond = () => ({ status: 204 });

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** A receiver of webhooks on this machine. */
export async function startReceiver() {
  const received: Received[] = [];
  let respond = well;
  const server = await webServer(async (request, response) => {
    const { headers, url: path = '' } = request;
    const message = changesPublished.parse(JSON.parse(await text(request)));
    const each = { id: String(headers['webhook-id']), path, headers, message };
    received.push(each);
    const { status, headers: sent } = await respond(each);
    response.writeHead(status, sent).end();
  });
  return {
    /** A different path for each name. */
    url: (name = '') => `${server.url}/${SECRET_PATH}/${name}?token=${SECRET_PATH}`,
    received: received as readonly Received[],
    /** Sets how the receiver responds from now on. The function is called when a request has been read. */
    respond: (next: Respond) => {
      respond = next;
    },
    close: server.close,
  };
}

export type WebhookInstallation = Awaited<ReturnType<typeof webhookInstallation>>;

/** An installation with one published day, whose workers reach OpenSearch through a proxy. */
export async function webhookInstallation(settings: Record<string, string> = {}) {
  const { environment, workers, startWorker, disturb, stopWorkers } = await installation({
    WEBHOOK_SECRET_KEY: SECRET_KEY,
    WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8',
    ...settings,
  });
  const { store } = environment;
  await prepareIndices(store);
  const queue = new Queue<DeliveryJob>(WEBHOOKS_QUEUE, queueOptions(environment.config));
  queue.on('error', () => undefined);
  atEndOfTestFile(() => queue.close());
  let day = 0;
  const cities = new Map<string, string>();

  /** Files for the next day, in which the holder of the watched license or of another one has moved. */
  function nextFiles(changed = WATCHED): Promise<DatasetFiles> {
    day += 1;
    cities.set(changed, `CITY ${day}`);
    return writeDay(environment.folder, `day-${day}`, {
      date: daysAfter(FIRST_DAY, day),
      individual: NURSES.map((row) => ({ ...row, city: cities.get(row.number) ?? 'LIMA' })),
      business: licensesOf('Board of Pharmacy', '02', 3),
    });
  }

  /** Queues the due deliveries, as each worker does once a minute, and starts them at once. */
  async function reconcile(): Promise<void> {
    await queueUndelivered(store, queue);
    const queued = (await queue.getDelayed()).filter(({ attemptsMade }) => attemptsMade === 0);
    await Promise.all(queued.map((job) => job.promote().catch(() => undefined)));
  }

  /** Publishes in this process, which to the workers looks like another worker. */
  async function publishNext(changed?: string): Promise<void> {
    await expectLive(publishFiles(environment, await nextFiles(changed)));
    await reconcile();
  }

  const latest = async () => latestCursor((await liveFeed(store)).state);

  /** The current webhook of an account. */
  const webhookOf = async (name: string): Promise<Webhook | undefined> =>
    (await WEBHOOKS.read(store, accountId(name)))?.document;

  /** Creates an account that watches one license, with a webhook that is up to date with the feed. */
  async function subscribe(account: string, url: string): Promise<Webhook> {
    const id = accountId(account);
    const created_at = new Date().toISOString();
    const holder = { account, contact: null, verified_by: 'the tests', verified_at: created_at };
    const license = licenseId(NURSING, WATCHED);
    const watched = { license, board: NURSING, license_number: WATCHED, number: numberKey(WATCHED) };
    const subscription = { id: subscriptionId(id, license), account: id, created_at };
    const webhook: Webhook = {
      ...{ id: `wh_${newId()}`, account: id, url, generation: 1, rotated_at: null, created_at },
      ...{ delivered_cursor: await latest(), delivered_at: null, failing_since: null, paused: null },
    };
    await Promise.all([
      ACCOUNTS.put(store, id, { ...holder, deactivated_at: null }),
      SUBSCRIPTIONS.put(store, subscription.id, { ...watched, ...subscription, reference: `of ${account}` }),
      WEBHOOKS.put(store, id, webhook),
    ]);
    const { accounts, subscriptions, webhooks } = store.names;
    await environment.client.indices.refresh({ index: [accounts, subscriptions, webhooks] });
    return webhook;
  }

  await publishNext();
  return {
    ...{ environment, workers, startWorker, disturb, stopWorkers },
    ...{ queue, latest, nextFiles, publishNext, webhookOf, subscribe },
    subscribeMany: (count: number, url: string) =>
      Promise.all(Array.from({ length: count }, (_, at) => subscribe(`Account ${at}`, url))),
    /** Changes a webhook as its account does when resuming it. Workers notice this within a minute. */
    resume: async (name: string) => {
      const going = { paused: null, failing_since: null };
      await WEBHOOKS.update(store, accountId(name), (current) => current && { ...current, ...going });
      await reconcile();
    },
    setActive: async (name: string, isActive: boolean) => {
      const deactivated_at = isActive ? null : new Date().toISOString();
      await ACCOUNTS.update(store, accountId(name), (current) => current && { ...current, deactivated_at });
      await reconcile();
    },
    reconcile,
    removeWebhook: (name: string) =>
      environment.client.delete({ index: store.names.webhooks, id: accountId(name), refresh: true }),
    /** Waits until an account has received everything. */
    untilDelivered: (name: string) =>
      eventually(
        `${name} has been told`,
        async () => (await webhookOf(name))?.delivered_cursor === (await latest()),
      ),
    /** Waits until workers have nothing to deliver. Deliveries that wait after a failure keep waiting. */
    untilReconciled: async (): Promise<void> => {
      await reconcile();
      const count = () => queue.getJobCountByTypes('active', 'waiting');
      await eventually('nothing is being delivered', async () => (await count()) === 0);
    },
  };
}

/**
 * Publishes, and waits until the receiver gets a request. The returned function answers that request; later requests
 * are answered at once.
 */
export async function publishUntilAsked(installed: WebhookInstallation, receiver: Receiver) {
  const asked = Promise.withResolvers<void>();
  const reply = Promise.withResolvers<Reply>();
  receiver.respond(() => {
    asked.resolve();
    return reply.promise;
  });
  await installed.publishNext();
  await asked.promise;
  receiver.respond(well);
  return () => reply.resolve({ status: 200 });
}
