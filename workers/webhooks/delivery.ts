import { ACCOUNTS } from '../../src/access/accounts.ts';
import type { ChangeKind } from '../../src/changes/change.ts';
import { latestCursor } from '../../src/changes/feed.ts';
import { type Changes, CursorExpiredError } from '../../src/changes/service.ts';
import { BadRequestError } from '../../src/licenses/bad-request.ts';
import { liveFeed } from '../../src/publications/live-feed.ts';
import type { Store } from '../../src/storage/store.ts';
import { changesMessage, messageId, signedHeaders, type Told } from '../../src/subscriptions/message.ts';
import { type Answer, NoAnswerError, post } from '../../src/subscriptions/outgoing.ts';
import { recordDelivery, WEBHOOKS, type Webhook } from '../../src/subscriptions/webhook.ts';

const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** How long each wait after a failure is, as Standard Webhooks recommends; the last is repeated. */
const WAITS_MS = [
  5 * SECOND_MS,
  300 * SECOND_MS,
  ...[0.5, 2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
];
const PAUSED_AFTER_MS = 5 * DAY_MS;

const PAGE = 1000;
const MAX_LISTED = 100;
const GONE = 410;

/** What a delivery needs. */
export interface Deliverer {
  readonly store: Store;
  readonly changes: Changes;
  /** WEBHOOK_SECRET_KEY */
  readonly secretKey: string;
  readonly allowedRanges: readonly string[];
  readonly now?: () => Date;
}

export const DELIVERY_OUTCOMES = ['delivered', 'nothing', 'failed', 'gone'] as const;

/** What became of a delivery. */
export interface Ended {
  /** `nothing`: there was nothing to send. `gone`: the receiver wants no more, and nothing is sent from now on. */
  readonly outcome: (typeof DELIVERY_OUTCOMES)[number];
  /** The receiver's host: the rest of the address may have secrets. */
  readonly host?: string;
  /** The status that the receiver answered, or why there is none. */
  readonly answered?: number | string;
  /** When to try again, if nothing changes. */
  readonly retry?: Retry;
}

export interface Retry {
  /** What was tried (`triedState`). Once it is another, there is no reason to wait. */
  readonly tried: string;
  /** Unix time in milliseconds. */
  readonly at: number;
  /** Whether the receiver itself named the time. */
  readonly isAsked: boolean;
}

/**
 * Tells an account what changed of what it watches since it was told last, in at most one message.
 *
 * @throws {NothingPublishedError} when nothing is live
 * @throws {SearchUnavailableError} when OpenSearch does not answer
 */
export async function deliver(account: string, deliverer: Deliverer): Promise<Ended> {
  const { store, changes } = deliverer;
  const webhook = (await WEBHOOKS.read(store, account))?.document;
  if (webhook === undefined || webhook.paused !== null) return { outcome: 'nothing' };
  const holder = (await ACCOUNTS.read(store, account))?.document;
  if (holder !== undefined && holder.deactivated_at !== null) return { outcome: 'nothing' };
  const news = await newsSince(changes, webhook);
  const { publication, date, state } = await liveFeed(store);
  const cursor = latestCursor(state);
  // Another publication went live meanwhile, whose changes belong into the same message.
  if (news?.cursor !== undefined && news.cursor !== cursor) return { outcome: 'nothing' };
  if (news?.changes.length === 0) {
    await recordDelivery(store, webhook, () => ({ delivered_cursor: cursor, failing_since: null }));
    return { outcome: 'nothing' };
  }
  const { counts, changes: listed } = news ?? { counts: null, changes: [] };
  return send(webhook, { cursor, publication, date, counts, changes: listed }, deliverer);
}

/** What changed of what the account watches, and up to where; `undefined` where it can't be listed any more. */
async function newsSince(changes: Changes, { account, delivered_cursor }: Webhook) {
  const counts: Record<ChangeKind, number> = { added: 0, changed: 0, removed: 0 };
  const first: Told['changes'][number][] = [];
  let cursor = delivered_cursor;
  try {
    for (let more = true; more; ) {
      const page = await changes.page({ since: cursor, limit: PAGE, filters: {}, watchedBy: account });
      for (const { board, license_number, kind, reference = null } of page.changes) {
        counts[kind] += 1;
        if (first.length < MAX_LISTED) first.push({ board, license_number, kind, reference });
      }
      cursor = page.next;
      more = page.more;
    }
  } catch (error) {
    if (error instanceof CursorExpiredError || error instanceof BadRequestError) return undefined;
    throw error;
  }
  return { cursor, counts, changes: first };
}

/** Sends a message and writes what became of it. */
async function send(webhook: Webhook, told: Told, deliverer: Deliverer): Promise<Ended> {
  const { store, secretKey, allowedRanges, now = () => new Date() } = deliverer;
  const { host } = new URL(webhook.url);
  const body = changesMessage(told, now());
  const headers = signedHeaders(secretKey, webhook, messageId(webhook, told.cursor), body, now());
  const answer: Sent = await post(webhook.url, headers, body, allowedRanges).catch(withoutAnswer);
  const ended = { host, answered: answer.status ?? answer.reason ?? '' };
  if (isSuccess(answer)) {
    const delivered = { delivered_cursor: told.cursor, delivered_at: now().toISOString() };
    await recordDelivery(store, webhook, () => ({ ...delivered, failing_since: null }));
    return { ...ended, outcome: 'delivered' };
  }
  const failed = await recordDelivery(store, webhook, ({ failing_since }) => {
    const since = failing_since ?? now().toISOString();
    const isFailingLong = now().getTime() - Date.parse(since) >= PAUSED_AFTER_MS;
    return {
      failing_since: since,
      paused: answer.status === GONE ? 'gone' : isFailingLong ? 'failing' : null,
    };
  });
  if (answer.status === GONE) return { ...ended, outcome: 'gone' };
  if (failed === undefined || failed.failing_since === null || failed.paused !== null)
    return { ...ended, outcome: 'failed' };
  const wait = waitAfter(now().getTime() - Date.parse(failed.failing_since));
  const { retryAfterMs = 0 } = answer;
  const at = now().getTime() + Math.max(wait, retryAfterMs);
  const retry = { tried: triedState(failed, told.cursor), at, isAsked: retryAfterMs > wait };
  return { ...ended, outcome: 'failed', retry };
}

type Sent = { readonly [Key in keyof Answer]?: Answer[Key] } & { readonly reason?: string };

function withoutAnswer(error: unknown): Sent {
  if (error instanceof NoAnswerError) return { reason: error.reason };
  throw error;
}

function isSuccess({ status = 0 }: Sent): boolean {
  return status >= 200 && status < 300;
}

/**
 * How long to wait after a failure. It depends on nothing but the stored state, so an empty Redis does not restart the
 * waits.
 *
 * @param failingMs how long each message has failed
 */
function waitAfter(failingMs: number): number {
  let due = 0;
  for (const wait of WAITS_MS) {
    due += wait;
    if (due > failingMs) return Math.max(due - failingMs, 5 * SECOND_MS);
  }
  return DAY_MS;
}

/** What is tried: the same text as long as another attempt is the same attempt. @param cursor the latest of the feed */
export function triedState({ url, failing_since }: Webhook, cursor: string): string {
  return `${cursor} ${failing_since} ${url}`;
}
