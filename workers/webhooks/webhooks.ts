import { DelayedError, type Job, Queue, Worker } from 'bullmq';
import type { Logger } from 'pino';
import { z } from 'zod';
import { ACCOUNTS, accountId, isActive } from '../../src/access/accounts.ts';
import { changesAfterCursor, type FeedState, latestCursor } from '../../src/changes/feed.ts';
import type { Config } from '../../src/config.ts';
import { queueOptions } from '../../src/publications/job.ts';
import { NothingPublishedError } from '../../src/publications/live.ts';
import { liveFeed } from '../../src/publications/live-feed.ts';
import type { Store } from '../../src/storage/store.ts';
import { WEBHOOKS, type Webhook } from '../../src/subscriptions/webhook.ts';
import { type DeliveryOutcome, deliver, waitAfter } from './delivery.ts';
import { fanOut } from './fan-out.ts';

export const WEBHOOKS_QUEUE = 'webhooks';

/**
 * The interval of reconciliation. After at most a minute, it notices a rollback, a publication by another worker, or a
 * Redis that came back empty.
 */
const RECONCILED_EVERY_MS = 60_000;

/**
 * The delay after a switch. By then, every API process answers from the new publication, because each follows the alias
 * once a second.
 */
const SETTLED_AFTER_MS = 3000;

/** Receivers may take 15 seconds to answer. */
const CONCURRENCY = 10;

/** The number of webhooks that are read and queued at once. */
const PAGE = 100;

/**
 * The error message of a delivery that will be retried. The error's cause is the wait that the receiver asked for, in
 * milliseconds.
 */
const UNDELIVERED = 'The message was not delivered.';

/** More attempts than fit in the five days after which a failing webhook is paused. */
const MAX_ATTEMPTS = 50;

const jobData = z.object({
  account: z.string(),
  /** The latest cursor of the feed when the job was queued. Changes after it must settle first. */
  cursor: z.string(),
});

export type DeliveryJob = z.output<typeof jobData>;

const JOB = {
  ...{ delay: SETTLED_AFTER_MS, attempts: MAX_ATTEMPTS, backoff: { type: 'custom' } },
  ...{ removeOnComplete: true, removeOnFail: true },
};

export type Backlog = Awaited<ReturnType<typeof backlogOf>>;

export type Webhooks = ReturnType<typeof startWebhooks>;

/**
 * Starts the deliveries to webhooks, with one job for each webhook that lacks changes. The delivered cursor is stored
 * in OpenSearch, so Redis may lose its data.
 *
 * @param onEnded called after each delivery
 */
export function startWebhooks(
  config: Config,
  secretKey: string,
  store: Store,
  log: Logger,
  onEnded: (outcome: DeliveryOutcome['outcome']) => void,
) {
  const allowedRanges = config.WEBHOOK_ALLOWED_RANGES;
  const deliverer = { store, secretKey, newsOf: fanOut(store), allowedRanges };
  const queue = new Queue<DeliveryJob>(WEBHOOKS_QUEUE, queueOptions(config));
  queue.on('error', (error) => log.error({ error: error.message }, 'webhook queue error'));

  async function process(job: Job<DeliveryJob>, token: string | undefined): Promise<void> {
    const { account, cursor } = jobData.parse(job.data);
    const live = await liveFeed(store);
    if (latestCursor(live.state) === cursor) {
      const { retryAfterMs, ...ended } = await deliver(job.id ?? '', account, live, deliverer);
      onEnded(ended.outcome);
      if (ended.outcome !== 'nothing') log.info({ webhook: job.id, ...ended }, 'webhook delivery');
      if (retryAfterMs !== undefined) throw new Error(UNDELIVERED, { cause: retryAfterMs });
    }
    const latest = latestCursor((await liveFeed(store)).state);
    if (latest === cursor) return;
    await job.updateData({ account, cursor: latest });
    await job.moveToDelayed(Date.now() + SETTLED_AFTER_MS, token);
    throw new DelayedError();
  }
  const worker = new Worker(WEBHOOKS_QUEUE, process, {
    ...queueOptions(config),
    concurrency: CONCURRENCY,
    // An idle worker seldom polls Redis; a new job wakes it at once.
    drainDelay: 60,
    settings: {
      // A job that failed with an unexpected error is removed; reconciliation queues it again.
      backoffStrategy: (attempts, _type, error) =>
        error?.message === UNDELIVERED ? Math.max(waitAfter(attempts), Number(error.cause)) : -1,
    },
  });
  worker.on('failed', (job, error) => {
    if (error.message === UNDELIVERED) return;
    log.error({ webhook: job?.id, error: error.message }, 'webhook delivery broke off; it is queued again');
  });
  worker.on('error', (error) => log.error({ error: error.message }, 'webhook worker error'));

  /** Queues the pending deliveries. If it can't, the next reconciliation does. */
  const reconcile = (): Promise<void> =>
    queueUndelivered(store, queue).catch((error: unknown) => {
      if (!(error instanceof NothingPublishedError))
        log.error({ error: String(error) }, 'webhooks not compared with what is live');
    });
  const timer = setInterval(reconcile, RECONCILED_EVERY_MS);
  void reconcile();

  return {
    reconcile,
    backlog: () => backlogOf(store),
    /** Waits until running deliveries have ended. Waiting ones are left to the next worker. */
    close: async () => {
      clearInterval(timer);
      await worker.close();
      await queue.close();
    },
  };
}

/**
 * Queues a delivery for each webhook that lacks changes. The job id is the webhook's id, so a webhook never has two
 * jobs.
 *
 * @throws {NothingPublishedError} when nothing is live
 */
export async function queueUndelivered(store: Store, queue: Queue<DeliveryJob>): Promise<void> {
  const cursor = latestCursor((await liveFeed(store)).state);
  for await (const webhooks of undelivered(store, cursor)) {
    const due = webhooks.filter(({ paused }) => paused === null);
    for (const webhook of due) await promote(queue, webhook, cursor);
    await queue.addBulk(
      due.map(({ id, account }) => ({
        name: 'deliver',
        data: { account, cursor },
        opts: { jobId: id, ...JOB },
      })),
    );
  }
}

/**
 * Starts a delivery that waits after a failure if the account has resumed its webhook or there are new changes, unless
 * the receiver itself asked for a longer wait.
 */
async function promote(queue: Queue<DeliveryJob>, { id, failing_since }: Webhook, cursor: string) {
  const job = await queue.getJob(id);
  if (job === undefined || job.attemptsMade === 0) return;
  const isNews = job.data.cursor !== cursor && job.delay <= waitAfter(job.attemptsMade);
  // A delivery that has already begun cannot be promoted, and reads the new changes itself.
  if (failing_since === null || isNews) await job.promote().catch(() => undefined);
}

/** Yields the webhooks of active accounts that were not delivered everything up to the latest cursor, in pages. */
async function* undelivered(store: Store, cursor: string) {
  const pages = WEBHOOKS.pages(store, {
    query: { bool: { must_not: [{ term: { delivered_cursor: cursor } }] } },
    sort: [{ account: 'asc' }],
    size: PAGE,
  });
  for await (const page of pages) {
    const ids = page.map(({ account }) => account);
    const accounts = await ACCOUNTS.readAll(store, ids);
    const active = new Set(accounts.filter(isActive).map((each) => accountId(each.account)));
    yield page.filter(({ account }) => active.has(account));
  }
}

/**
 * Returns the backlog of undelivered webhooks: the number of paused ones, and since when the oldest of the others has
 * been waiting, in Unix milliseconds; `undefined` if none is waiting.
 *
 * @throws {NothingPublishedError} when nothing is live
 */
async function backlogOf(store: Store) {
  const { state } = await liveFeed(store);
  const webhooks = (await Array.fromAsync(undelivered(store, latestCursor(state)))).flat();
  const waiting = webhooks.filter(({ paused }) => paused === null).map((each) => waitsSince(state, each));
  const [since] = waiting.toSorted((one, other) => one - other);
  return { paused: webhooks.length - waiting.length, since };
}

/**
 * Returns since when a webhook has been failing or waiting for its first undelivered publication, in Unix milliseconds.
 */
function waitsSince(state: FeedState, { failing_since, delivered_cursor }: Webhook): number {
  const [first] = changesAfterCursor(state, delivered_cursor) ?? [];
  const at = Date.parse(first?.at ?? '') || Date.now();
  return failing_since === null ? at : Math.min(at, Date.parse(failing_since));
}
