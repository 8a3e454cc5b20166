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
/** The wait after each failure in seconds, as Standard Webhooks recommends. The last one is repeated. */
const WAITS_S = [5, 300, ...[0.5, 2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_S)];

/** @param attempts the number of failed attempts, from 1 */
export function waitAfter(attempts: number): number {
  return 1000 * (WAITS_S[attempts - 1] ?? 24 * HOUR_S);
}

const GONE = 410;

/** The dependencies of a delivery. */
interface Deliverer {
  readonly store: Store;
  readonly newsOf: FanOut;
  /** WEBHOOK_SECRET_KEY */
  readonly secretKey: string;
  readonly allowedRanges: readonly string[];
  readonly now?: () => Date;
}

export const DELIVERY_OUTCOMES = ['delivered', 'nothing', 'failed', 'gone'] as const;

/** The outcome of a delivery. */
export interface DeliveryOutcome {
  /**
   * `nothing`: there was nothing to send. `gone`: the receiver wants no more messages, so nothing is sent from now on.
   */
  readonly outcome: (typeof DELIVERY_OUTCOMES)[number];
  /** The receiver's host. The rest of the URL may contain secrets. */
  readonly host?: string;
  /** The HTTP status of the response, or the reason why there is none. */
  readonly answered?: number | string;
  /** Present if the delivery must be retried: the wait that the receiver asked for, or 0. */
  readonly retryAfterMs?: number;
}

const NOTHING: DeliveryOutcome = { outcome: 'nothing' };

/**
 * Sends an account the changes of its watched licenses since the last delivery: one message for each publication that
 * changed any of them, the earliest first, until a message fails. If the changes can no longer be listed, one message
 * says so.
 *
 * @param webhookId nothing is sent if the account has a different webhook by now
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
    // The account has a different webhook by now, or another delivery was faster.
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
 * Yields the announcements not yet sent to an account, the earliest first. The changes of a publication are read only
 * after all earlier messages were delivered, so that a failing receiver does not cause months of changes to be read at
 * each attempt.
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
 * Records the outcome of a delivery. Nothing is written if the webhook was deleted, replaced by one with another URL,
 * or advanced by another delivery in the meantime.
 *
 * @param begun the webhook as it was when the delivery began
 * @returns the webhook as it is now; `undefined` if nothing was written
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
