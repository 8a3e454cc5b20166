import { z } from 'zod';
import { collection } from '../storage/collection.ts';

const storedWebhook = z.object({
  /** Random, and another one for each new webhook: its secret is made from it. */
  id: z.string(),
  /** The id of its account, which has one webhook. */
  account: z.string(),
  url: z.string(),
  /** The generation of its secret, from 1. */
  generation: z.int(),
  /** When its secret was changed last, ISO 8601; null before. */
  rotated_at: z.string().nullable(),
  /** When its secret was changed within the last day, the earliest first. Webhooks of version 0.3.0 have none. */
  rotations: z.array(z.string()).optional(),
  /** Up to this place of the feed, all that the account watches was delivered. */
  delivered_cursor: z.string(),
  /** When a message was delivered last, ISO 8601; null before the first. */
  delivered_at: z.string().nullable(),
  /** Since when each message failed, ISO 8601; null while none does. */
  failing_since: z.string().nullable(),
  /** Why nothing is sent: `failing` for five days, or the receiver answered that it is `gone`; null while it is sent. */
  paused: z.enum(['failing', 'gone']).nullable(),
  /** ISO 8601. */
  created_at: z.string(),
});

/** Where an account wants to be told that something changed, and how far it has been told. */
export type Webhook = Readonly<z.output<typeof storedWebhook>>;

/** `failing` while messages are sent again; `paused` after five days of that. */
export const WEBHOOK_STATES = ['active', 'failing', 'paused', 'gone'] as const;

export function webhookState({ paused, failing_since }: Webhook): (typeof WEBHOOK_STATES)[number] {
  if (paused !== null) return paused === 'gone' ? 'gone' : 'paused';
  return failing_since === null ? 'active' : 'failing';
}

/** The webhooks, under the ids of their accounts. */
export const WEBHOOKS = collection('webhooks', storedWebhook, {
  isStoredUnder: (id, { account }) => id === account,
});
