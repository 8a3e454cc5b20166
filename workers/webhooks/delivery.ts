import { ACCOUNTS, isActive } from '../../src/access/accounts.ts';
import { changesAfterCursor, latestCursor } from '../../src/changes/feed.ts';
import type { LiveFeed } from '../../src/changes/service.ts';
import { DAY_MS } from '../../src/licenses/dates.ts';
import type { Store } from '../../src/storage/store.ts';
import { changesMessage, messageId, signedHeaders } from '../../src/subscriptions/message.ts';
import { post } from '../../src/subscriptions/outgoing.ts';
import { WEBHOOKS, type Webhook } from '../../src/subscriptions/webhook.ts';
import type { FanOut } from './fan-out.ts';

const PAUSED_AFTER_MS = 5 * DAY_MS;

const HOUR_S = 3600;
/** How many seconds each wait after a failure takes, as Standard Webhooks recommends; the last is repeated. */
const WAITS_S = [5, 300, ...[0.5, 2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_S)];

/** @param attempts how many have failed, from 1 */
export function waitAfter(attempts: number): number {
  return 1000 * (WAITS_S[attempts - 1] ?? 24 * HOUR_S);
}

const GONE = 410;

/** What a delivery needs. */
interface Deliverer {
  readonly store: Store;
  readonly newsOf: FanOut;
  /** WEBHOOK_SECRET_KEY */
  readonly secretKey: string;
  readonly allowedRanges: readonly string[];
  readonly now?: () => Date;
}

export const DELIVERY_OUTCOMES = ['delivered', 'nothing', 'failed', 'gone'] as const;

/** What became of a delivery. */
export interface DeliveryOutcome {
  /** `nothing`: there was nothing to send. `gone`: the receiver wants no more, and nothing is sent from now on. */
  readonly outcome: (typeof DELIVERY_OUTCOMES)[number];
  /** The receiver's host: the rest of the address may have secrets. */
  readonly host?: string;
  /** The status that the receiver answered, or why there is none. */
  readonly answered?: number | string;
  /** Present where it must be tried again: how long the receiver asked to wait, or 0. */
  readonly retryAfterMs?: number;
}

const NOTHING: DeliveryOutcome = { outcome: 'nothing' };

/**
 * Tells an account what changed of what it watches since it was told last: a message for each publication that changed
 * something of it, the earliest first, until one fails. Where the changes can not be listed any more, one message says
 * so.
 *
 * @param webhookId nothing is sent where the account has another webhook by now
 * @throws {SearchUnavailableError} when OpenSearch does not answer
 */
export async function deliver(
  webhookId: string,
  account: string,
  live: LiveFeed,
  { store, newsOf, secretKey, allowedRanges, now = () => new Date() }: Deliverer,
): Promise<DeliveryOutcome> {
  let webhook = (await WEBHOOKS.read(store, account))?.document;
  if (webhook?.id !== webhookId || webhook.paused !== null) return NOTHING;
  if (!isActive((await ACCOUNTS.read(store, account))?.document)) return NOTHING;
  let outcome = NOTHING;
  for await (const announcement of announcementsFor(webhook, live, newsOf)) {
    const { cursor } = announcement;
    const body = changesMessage(announcement, now());
    const headers = signedHeaders(secretKey, webhook, messageId(webhook, cursor), body, now());
    const { status = 0, retryAfterMs = 0, reason } = await post(webhook.url, headers, body, allowedRanges);
    const ended = { host: new URL(webhook.url).host, answered: reason ?? status };
    if (status < 200 || status >= 300) {
      const failed = await record(store, webhook, ({ failing_since }) => {
        const since = failing_since ?? now().toISOString();
        const isFailingLong = now().getTime() - Date.parse(since) >= PAUSED_AFTER_MS;
        return { failing_since: since, paused: status === GONE ? 'gone' : isFailingLong ? 'failing' : null };
      });
      const isRetried = failed?.paused === null;
      return { ...ended, outcome: status === GONE ? 'gone' : 'failed', ...(isRetried && { retryAfterMs }) };
    }
    outcome = { ...ended, outcome: 'delivered' };
    const told = { delivered_cursor: cursor, delivered_at: now().toISOString(), failing_since: null };
    webhook = await record(store, webhook, () => told);
    // The account has another webhook, or another delivery has been faster.
    if (webhook === undefined) return outcome;
  }
  const delivered_cursor = latestCursor(live.state);
  if (webhook.delivered_cursor !== delivered_cursor) {
    const isFailing = outcome === NOTHING ? { failing_since: null } : {};
    await record(store, webhook, () => ({ delivered_cursor, ...isFailing }));
  }
  return outcome;
}

/**
 * What an account has not been told, the earliest first. The changes of a publication are read when all before is told: a
 * receiver that fails does not make each attempt read those of months.
 */
async function* announcementsFor({ account, delivered_cursor }: Webhook, live: LiveFeed, newsOf: FanOut) {
  const { state, publication, date } = live;
  const verifyAll = { cursor: latestCursor(state), publication, date, counts: null, changes: [] };
  const entries = changesAfterCursor(state, delivered_cursor);
  if (entries === undefined) yield verifyAll;
  for (const entry of entries ?? []) {
    const byAccount = await newsOf(entry);
    if (byAccount === undefined) {
      yield verifyAll;
      return;
    }
    const { cursor, publication, date } = entry;
    const news = byAccount.get(account);
    if (news !== undefined) yield { cursor, publication, date, ...news };
  }
}

/**
 * Writes what became of a delivery. Nothing is written where the webhook was meanwhile deleted, replaced by one with
 * another address, or brought further by another delivery.
 *
 * @param begun the webhook as it was when the delivery began
 * @returns the webhook as it is now; `undefined` where nothing was written
 */
async function record(store: Store, begun: Webhook, change: (current: Webhook) => Partial<Webhook>) {
  let written: Webhook | undefined;
  await WEBHOOKS.update(store, begun.account, (current) => {
    const isSame = current?.id === begun.id && current.delivered_cursor === begun.delivered_cursor;
    written = isSame ? { ...current, ...change(current) } : undefined;
    return written;
  });
  return written;
}
