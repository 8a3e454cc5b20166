import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { startApi } from '../../scripts/licenses-processes.ts';
import { freePort } from '../../scripts/ports.ts';
import type { RunningProcess } from '../../scripts/processes.ts';
import { liveFeed } from '../../src/publications/live-feed.ts';
import { queueUndelivered, WEBHOOKS_QUEUE } from '../../workers/webhooks/webhooks.ts';
import { apiClient } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { times } from '../support/fixtures.ts';
import { cut, type ProxiedRequest, pass } from '../support/proxy.ts';
import { lapseLocks } from '../support/publisher.ts';
import { publishFiles } from '../support/publishing.ts';
import { valueAt } from '../support/series.ts';
import {
  NOT_WATCHED,
  publishUntilAsked,
  type Receiver,
  SECRET_PATH,
  startReceiver,
  webhookInstallation,
  well,
} from '../support/webhooks.ts';
import { publish } from '../support/worker-installation.ts';

const ACCOUNT = 'Acme';
const WAITS = 'licenses_webhook_undelivered_seconds';

const installed = await webhookInstallation();
let receiver: Receiver;
let worker: RunningProcess;

/** Where the output of the worker begins that belongs to the test. */
let printedBefore: number;

const printed = () => worker.output().slice(printedBefore);

beforeEach(async () => {
  receiver = await startReceiver();
  if (installed.workers.length === 0) worker = await installed.startWorker();
  printedBefore = worker.output().length;
  await installed.subscribe(ACCOUNT, receiver.url());
});
afterEach(async () => {
  receiver.respond(well);
  installed.disturb(pass);
  await installed.removeWebhook(ACCOUNT).catch(() => undefined);
  for (const each of installed.workers) expect(each.output()).not.toContain(SECRET_PATH);
  const [first, ...others] = installed.workers;
  const isAsBefore = first === worker && first.child.exitCode === null && others.length === 0;
  if (!isAsBefore) await installed.stopWorkers();
  await installed.queue.obliterate({ force: true });
  await receiver.close();
});

const webhook = () => installed.webhookOf(ACCOUNT);

const ids = () => receiver.received.map(({ id }) => id);

/**
 * Expects that the account has been told of everything in so many messages, that nothing more is sent, and of how many
 * publications the messages tell.
 */
async function expectDelivered(messages: number, publications = messages): Promise<void> {
  await installed.untilDelivered(ACCOUNT);
  await installed.untilReconciled();
  expect([receiver.received.length, new Set(ids()).size]).toEqual([messages, publications]);
  expect(await webhook()).toMatchObject({ failing_since: null, paused: null });
}

/** How long the delivery that failed waits, in milliseconds; 0 where none waits. */
const waitOf = async () => (await installed.queue.getDelayed())[0]?.delay ?? 0;

/** Waits until a delivery has failed and waits for its next attempt. */
const untilFailed = () => eventually('a delivery has failed', async () => (await waitOf()) > 0);

const isWrite = ({ method, path }: ProxiedRequest) => method === 'PUT' && /webhooks\/_doc\//.test(path);

test('a publication is told once, thinly; one that changed nothing watched is not told', async () => {
  await installed.publishNext();
  await expectDelivered(1);
  const changed = { board: 'Nursing Board', license_number: 'RN.900001', reference: `of ${ACCOUNT}` };
  const counts = { added: 0, changed: 1, removed: 0 };
  const data = { cursor: await installed.latest(), counts, changes: [changed], verify_all: false };
  const headers = { 'webhook-signature': expect.stringMatching(/^v1,/) };
  expect(receiver.received).toMatchObject([{ message: { data }, headers }]);
  const before = await webhook();
  expect(Date.parse(before?.delivered_at ?? '')).toBeGreaterThan(0);

  await installed.publishNext(NOT_WATCHED);
  await expectDelivered(1);
  expect(await webhook()).toEqual({ ...before, delivered_cursor: await installed.latest() });
});

test('whoever looks a license up as soon as the message arrives gets the new record', async () => {
  const { environment } = installed;
  const api = await startApi(environment.variables);
  const rest = await apiClient(environment);
  const answers: unknown[] = [];
  receiver.respond(async ({ message: { data } }) => {
    const { board, license_number } = data.changes[0] ?? {};
    answers.push([data.date, (await rest.verify({ board, license_number })).body]);
    return { status: 204 };
  });
  await publishFiles(environment, await installed.nextFiles());
  await queueUndelivered(environment.store, installed.queue);
  await installed.untilDelivered(ACCOUNT);
  await api.stop();
  const { date } = await liveFeed(environment.store);
  expect(answers).toEqual([[date, expect.objectContaining({ last_scraped: `${date}T00:00:00` })]]);
});

test('two publications one after the other: the latest cursor is told, and each message once', async () => {
  const reply = await publishUntilAsked(installed, receiver);
  await installed.publishNext();
  await installed.reconcile();
  expect(receiver.received).toHaveLength(1);
  reply();
  await expectDelivered(2);
  const latest = { cursor: await installed.latest(), counts: { added: 0, changed: 1, removed: 0 } };
  expect(receiver.received[1]?.message.data).toMatchObject(latest);
});

test('a receiver that fails is asked again with the same message, by a newer publication at once; what failed is sent first', async () => {
  receiver.respond(() => ({ status: 500 }));
  await installed.publishNext();
  await eventually('two attempts have failed', async () => (await waitOf()) > 60_000);
  const queued = (await installed.queue.getDelayed()).map((job) => job.asJSON());
  expect(JSON.stringify(queued)).not.toContain(SECRET_PATH);
  const failing_since = (await webhook())?.failing_since;
  expect(failing_since).toMatch(/^20/);
  const asked = receiver.received.length + 1;
  await installed.publishNext();
  await eventually('it is asked again', () => receiver.received.length === asked);
  await untilFailed();
  expect(new Set(ids()).size).toBe(1);
  expect(await webhook()).toMatchObject({ failing_since });
  receiver.respond(well);
  await installed.publishNext(NOT_WATCHED);
  await expectDelivered(asked + 2, 2);
  expect(receiver.received.at(-1)?.message.data).toMatchObject({ counts: { changed: 1 } });
});

test('Retry-After is respected, by newer publications too, until the account resumes its webhook', async () => {
  receiver.respond(() => ({ status: 503, headers: { 'retry-after': '7200' } }));
  await installed.publishNext();
  await untilFailed();
  expect(await waitOf()).toBeGreaterThan(7_100_000);
  receiver.respond(well);
  await installed.publishNext();
  await installed.untilReconciled();
  expect(receiver.received).toHaveLength(1);
  await installed.resume(ACCOUNT);
  await expectDelivered(3, 2);
});

test('OpenSearch breaks every connection while it is asked what to send, and while a webhook message is sent', async () => {
  installed.disturb(cut);
  await installed.publishNext();
  const breaks = () => printed().split('webhook delivery broke off; it is queued again').length - 1;
  await eventually('the delivery broke off', () => breaks() === 1);
  installed.disturb(pass);
  await installed.reconcile();
  await expectDelivered(1);

  // It goes away while a message is being sent, so what became of it can't be written.
  const reply = await publishUntilAsked(installed, receiver);
  installed.disturb(cut);
  reply();
  await eventually('the message broke off, too', () => breaks() === 2);
  installed.disturb(pass);
  await installed.reconcile();
  await expectDelivered(3, 2);
});

test.each([
  ['before the worker writes that down', false, 2],
  ['after the worker wrote that down', true, 1],
])('worker killed (SIGKILL) after a webhook message was answered, %s', async (_when, isDone, messages) => {
  const held = Promise.withResolvers<void>();
  installed.disturb(async (request) => {
    if (!isWrite(request)) return request.forward();
    if (isDone) await request.forward();
    held.resolve();
    return new Promise(() => undefined);
  });
  await installed.publishNext();
  await held.promise;
  installed.disturb(pass);
  await worker.kill();
  await lapseLocks(installed.environment, WEBHOOKS_QUEUE);
  worker = await installed.startWorker();
  await expectDelivered(messages, 1);
});

test('worker stopped (SIGTERM) while it sends a webhook message', async () => {
  const reply = await publishUntilAsked(installed, receiver);
  const stopped = worker.stop();
  await worker.printed('worker stopping');
  reply();
  await stopped;
  expect(worker.child.exitCode).toBe(0);
  expect((await webhook())?.delivered_cursor).toBe(await installed.latest());
  await installed.startWorker();
  await expectDelivered(1, 1);
});

test('two workers tell each account once', async () => {
  const names = times(20, (number) => `Account ${number - 1}`);
  await installed.subscribeMany(names.length, receiver.url());
  await installed.startWorker();
  await installed.publishNext();
  for (const name of names) await installed.untilDelivered(name);
  await expectDelivered(names.length + 1);
  for (const name of names) await installed.removeWebhook(name);
});

test('metrics of the worker say what is delivered, what waits, and what is paused', async () => {
  const port = await freePort();
  await installed.stopWorkers();
  await installed.startWorker({ WORKER_ADMIN_PORT: String(port) });
  const series = (name: string) => valueAt(port, name);
  await eventually('it has compared', async () => (await series(WAITS)) === 0);
  expect(await series('licenses_webhooks_paused')).toBe(0);

  receiver.respond(() => ({ status: 500 }));
  await installed.publishNext();
  await untilFailed();
  await eventually('it is late', async () => (await series(WAITS)) > 0);
  receiver.respond(() => ({ status: 410 }));
  await eventually('it is paused', async () => (await series('licenses_webhooks_paused')) === 1);
  expect(await series(WAITS)).toBe(0);

  receiver.respond(well);
  await installed.resume(ACCOUNT);
  await eventually('it is not paused', async () => (await series('licenses_webhooks_paused')) === 0);
  await installed.untilDelivered(ACCOUNT);
  const of = (outcome: string) => series(`licenses_webhook_deliveries_total{outcome="${outcome}"}`);
  await eventually('it is counted', async () => (await of('delivered')) === 1);
  expect([await of('failed'), await of('gone')]).toEqual([1, 1]);

  // One whose deliveries break off has waited since the first publication, not since the last.
  installed.disturb((request) => (request.path.includes('webhooks/_doc') ? cut : pass)(request));
  await installed.publishNext();
  await eventually('it waits', async () => (await series(WAITS)) > 1);
  const publishedAt = Date.now();
  await installed.publishNext();
  await installed.reconcile();
  expect(Date.now() - (await series(WAITS)) * 1000).toBeLessThan(publishedAt);
});

test('without WEBHOOK_SECRET_KEY nothing is sent and no webhook is read', async () => {
  await worker.stop();
  const asked: string[] = [];
  installed.disturb(({ path, forward }) => {
    asked.push(path);
    return forward();
  });
  await installed.startWorker({ WEBHOOK_SECRET_KEY: '' });
  expect(await publish(installed, await installed.nextFiles())).toMatchObject({ code: 0 });
  expect(asked.filter((path) => /webhooks\/(_search|_doc)/.test(path))).toEqual([]);
  expect(receiver.received).toHaveLength(0);
});
