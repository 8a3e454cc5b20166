import { z } from 'zod';
import { ACCOUNTS, accountId } from '../access/accounts.ts';
import { collection } from '../storage/collection.ts';
import type { Store } from '../storage/store.ts';

const storedWebhook = z.object({
  /** A random id, new for each webhook. The webhook's secret is derived from it. */
  id: z.string(),
  /** The account's id. An account has one webhook. */
  account: z.string(),
  url: z.string(),
  /** The generation of the secret, from 1. */
  generation: z.int(),
  /** When the secret was last rotated, ISO 8601; null if never. */
  rotated_at: z.string().nullable(),
  /**
   * When the secret was rotated within the last day, the earliest first. Webhooks of version 0.3.0 have no such list.
   */
  rotations: z.array(z.string()).optional(),
  /** Everything that the account watches was delivered up to this position in the feed. */
  delivered_cursor: z.string(),
  /** When the last message was delivered, ISO 8601; null before the first delivery. */
  delivered_at: z.string().nullable(),
  /** Since when all messages have failed, ISO 8601; null while none fails. */
  failing_since: z.string().nullable(),
  /**
   * Why nothing is sent: messages were `failing` for five days, or the receiver answered that it is `gone`; null if the
   * webhook is not paused.
   */
  paused: z.enum(['failing', 'gone']).nullable(),
  /** ISO 8601. */
  created_at: z.string(),
});

/** An account's webhook, and how much was delivered to it. */
export type Webhook = Readonly<z.output<typeof storedWebhook>>;

/** `failing` while messages are being retried; `paused` after five days of failures. */
export const WEBHOOK_STATES = ['active', 'failing', 'paused', 'gone'] as const;

export function webhookState({ paused, failing_since }: Webhook): (typeof WEBHOOK_STATES)[number] {
  if (paused !== null) return paused === 'gone' ? 'gone' : 'paused';
  return failing_since === null ? 'active' : 'failing';
}

/** The stored webhooks. The document id is the account's id. */
export const WEBHOOKS = collection('webhooks', storedWebhook, {
  isStoredUnder: (id, { account }) => id === account,
});

/** Lists the webhooks by account. The path of a URL may be a secret, so only the host is given. */
export async function listWebhooks(store: Store) {
  const nameOf = new Map((await ACCOUNTS.list(store)).map(({ account }) => [accountId(account), account]));
  const listed = (await WEBHOOKS.list(store)).map((webhook) => {
    const { failing_since, delivered_at, delivered_cursor } = webhook;
    const account = nameOf.get(webhook.account) ?? webhook.account;
    const host = URL.parse(webhook.url)?.host ?? '';
    return { account, host, state: webhookState(webhook), failing_since, delivered_at, delivered_cursor };
  });
  return listed.toSorted((one, other) => one.account.localeCompare(other.account));
}
