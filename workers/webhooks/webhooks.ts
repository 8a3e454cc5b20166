import { DelayedError, type Job, Queue, Worker } from 'bullmq';
import type { Logger } from 'pino';
import { z } from 'zod';
import { ACCOUNTS, accountId } from '../../src/access/accounts.ts';
import { latestCursor } from '../../src/changes/feed.ts';
import { changesService } from '../../src/changes/service.ts';
import type { Config } from '../../src/config.ts';
import { queueOptions } from '../../src/publications/job.ts';
import { NothingPublishedError } from '../../src/publications/live.ts';
import { liveFeed } from '../../src/publications/live-feed.ts';
import type { Store } from '../../src/storage/store.ts';
import { watchedAmong } from '../../src/subscriptions/subscription.ts';
import { WEBHOOKS, type Webhook } from '../../src/subscriptions/webhook.ts';
import { type Deliverer, deliver, type Ended, triedState } from './delivery.ts';

export const WEBHOOKS_QUEUE = 'webhooks';

const COMPARE_EVERY_MS = 2000;

/** Receivers may take 15 seconds to answer. */
const CONCURRENCY = 10;

/** How many webhooks are read and queued at once. */
const PAGE = 500;

const jobData = z.object({
  account: z.string(),
  /** Of a delivery that failed and waits for its next attempt. */
  retry: z.object({ tried: z.string(), at: z.number(), isAsked: z.boolean() }).optional(),
});

type JobData = z.output<typeof jobData>;

/** The webhooks that have not been told of the latest changes. */
export interface Backlog {
  readonly paused: number;
  /** Unix time in milliseconds since when the oldest of those that are not paused waits; `undefined` where none does. */
  readonly since: number | undefined;
}

export type Webhooks = ReturnType<typeof startWebhooks>;

/**
 * Delivers to webhooks. What was delivered is in OpenSearch. Every few seconds each worker compares it with what is live
 * and queues what is missing; so an empty queue, a rollback and a publication by another worker need nothing else.
 *
 * @param onEnded is told of each delivery
 */
export function startWebhooks(
  config: Config,
  secretKey: string,
  store: Store,
  log: Logger,
  onEnded: (outcome: Ended['outcome']) => void,
) {
  const deliverer: Deliverer = {
    store,
    secretKey,
    changes: changesService(store, () => liveFeed(store), watchedAmong),
    allowedRanges: config.WEBHOOK_ALLOWED_RANGES,
  };
  const queue = new Queue<JobData>(WEBHOOKS_QUEUE, queueOptions(config));
  queue.on('error', (error) => log.error({ error: error.message }, 'webhook queue error'));

  async function process(job: Job<JobData>, token: string | undefined): Promise<void> {
    const { account } = jobData.parse(job.data);
    const { outcome, retry, ...answer } = await deliver(account, deliverer);
    onEnded(outcome);
    if (outcome !== 'nothing') log.info({ webhook: job.id, outcome, ...answer }, 'webhook delivery');
    if (retry === undefined) return;
    await job.updateData({ account, retry });
    await job.moveToDelayed(retry.at, token);
    throw new DelayedError();
  }
  const worker = new Worker(WEBHOOKS_QUEUE, process, { ...queueOptions(config), concurrency: CONCURRENCY });
  worker.on('failed', (job, error) =>
    log.error({ webhook: job?.id, error: error.message }, 'webhook delivery broke off; it is queued again'),
  );
  worker.on('error', (error) => log.error({ error: error.message }, 'webhook worker error'));

  let backlog: Backlog | undefined;
  /** When each webhook that is behind was first seen so, by its id and how far it has been told. */
  let behindSince = new Map<string, number>();
  let isComparing = false;
  let isAway = false;

  async function compareNow(): Promise<Backlog> {
    const cursor = latestCursor((await liveFeed(store)).state);
    const seen = new Map<string, number>();
    let paused = 0;
    let since = Number.POSITIVE_INFINITY;
    for await (const page of behind(store, cursor)) {
      const due = page.filter((webhook) => webhook.paused === null);
      paused += page.length - due.length;
      for (const { id, delivered_cursor, failing_since } of due) {
        const state = `${id} ${delivered_cursor}`;
        const seenAt = behindSince.get(state) ?? Date.now();
        seen.set(state, seenAt);
        since = Math.min(since, seenAt, failing_since === null ? seenAt : Date.parse(failing_since));
      }
      await enqueue(queue, due, cursor);
    }
    behindSince = seen;
    return { paused, since: Number.isFinite(since) ? since : undefined };
  }

  /** Queues what is to be delivered. Where it can't, the next comparison does. */
  async function compare(): Promise<void> {
    if (isComparing) return;
    isComparing = true;
    try {
      backlog = await compareNow();
      isAway = false;
    } catch (error) {
      backlog = undefined;
      if (!isAway && !(error instanceof NothingPublishedError))
        log.error({ error: String(error) }, 'webhooks not compared with what is live');
      isAway = true;
    } finally {
      isComparing = false;
    }
  }
  const timer = setInterval(compare, COMPARE_EVERY_MS);

  return {
    compare,
    /** As last seen; `undefined` while it is not known. */
    backlog: () => backlog,
    /** Waits until what is being sent has ended. What waits is left to the next worker. */
    close: async () => {
      clearInterval(timer);
      await worker.close();
      await queue.close();
    },
  };
}

/** The webhooks of active accounts that have not been told of everything up to the latest cursor, in pages. */
async function* behind(store: Store, cursor: string): AsyncGenerator<readonly Webhook[], void, undefined> {
  const pages = WEBHOOKS.pages(store, {
    query: { bool: { must_not: [{ term: { delivered_cursor: cursor } }] } },
    sort: [{ account: 'asc' }],
    size: PAGE,
  });
  for await (const page of pages) {
    if (page.length === 0) continue;
    const accounts = await ACCOUNTS.readAll(
      store,
      page.map(({ account }) => account),
    );
    const inactive = new Set(
      accounts.filter((each) => each.deactivated_at !== null).map((each) => accountId(each.account)),
    );
    yield page.filter(({ account }) => !inactive.has(account));
  }
}

/**
 * Queues a delivery for each webhook, under the webhook's id: where there is one already, nothing is added. One that
 * waits after a failure begins at once where there is news, or where the account has resumed or changed its webhook.
 */
async function enqueue(queue: Queue<JobData>, due: readonly Webhook[], cursor: string): Promise<void> {
  if (due.length === 0) return;
  const waiting = new Map((await queue.getDelayed()).map((job) => [job.id, job]));
  for (const webhook of due) {
    const job = waiting.get(webhook.id);
    const retry = job === undefined ? undefined : jobData.parse(job.data).retry;
    if (retry === undefined || retry.tried === triedState(webhook, cursor)) continue;
    // One that has begun meanwhile reads the news itself.
    if (!retry.isAsked || webhook.failing_since === null) await job?.promote().catch(() => undefined);
  }
  await queue.addBulk(
    due
      .filter(({ id }) => !waiting.has(id))
      .map(({ id, account }) => ({
        name: 'deliver',
        data: { account },
        opts: { jobId: id, removeOnComplete: true, removeOnFail: true },
      })),
  );
}
