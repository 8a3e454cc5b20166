import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { TooManyRequestsError } from '../access/rate-limit.ts';
import type { Config } from '../config.ts';
import type { Store } from '../storage/store.ts';
import { messageId, recentRotations, signedHeaders, testMessage, webhookSecret } from './message.ts';
import { FAILURES, post, readWebhookUrl } from './outgoing.ts';
import { WEBHOOKS, type Webhook } from './webhook.ts';

/** Each secret of the last day adds a signature to every message. */
const MAX_ROTATIONS = 20;
const SECONDS_AN_HOUR = 3600;

/** The result of a test message. */
export const tested = z.object({
  delivered: z.boolean().describe('Whether the receiver answered with a status of 200 to 299'),
  status: z.int().optional().describe('How it answered; absent where it did not'),
  reason: z.enum(FAILURES).optional().describe('Why there was no answer; absent where there was one'),
});

export type Webhooks = NonNullable<ReturnType<typeof webhookService>>;

/**
 * The operations on an account's webhook. Each function returns `undefined` if the account has no webhook.
 *
 * @param latest returns the latest cursor of the feed
 * @returns `undefined` if WEBHOOK_SECRET_KEY is not set
 */
export function webhookService(store: Store, config: Config, latest: () => Promise<string>) {
  const { WEBHOOK_SECRET_KEY: secretKey, WEBHOOK_ALLOWED_RANGES: allowedRanges } = config;
  if (secretKey === undefined) return undefined;

  async function read(account: string): Promise<Webhook | undefined> {
    return (await WEBHOOKS.read(store, account))?.document;
  }

  return {
    read,

    /**
     * Creates an account's webhook, or resumes it if it has the same URL. A different URL makes a new webhook with a
     * new secret, because only the new receiver may know that secret. The new webhook continues at the old one's
     * cursor.
     *
     * @returns the webhook, and its secret if it is new
     * @throws {BadRequestError} for a URL that nothing can be sent to
     */
    async put(account: string, url: string): Promise<{ webhook: Webhook; secret?: string }> {
      const readUrl = readWebhookUrl(url, allowedRanges);
      const fresh: Webhook = {
        id: `wh_${randomUUID()}`,
        account,
        url: readUrl,
        generation: 1,
        rotated_at: null,
        delivered_cursor: (await read(account))?.delivered_cursor ?? (await latest()),
        delivered_at: null,
        failing_since: null,
        paused: null,
        created_at: new Date().toISOString(),
      };
      const webhook = await WEBHOOKS.update(store, account, (current) => {
        if (current?.url === readUrl) return resumed(current);
        return current === undefined ? fresh : { ...fresh, delivered_cursor: current.delivered_cursor };
      });
      return webhook.id === fresh.id ? { webhook, secret: webhookSecret(secretKey, webhook) } : { webhook };
    },

    /** @returns whether the account had a webhook */
    remove: (account: string): Promise<boolean> => WEBHOOKS.remove(store, account),

    /**
     * Rotates a webhook's secret. Earlier secrets also sign for a day, so a client whose response was lost can ask
     * again.
     *
     * @throws {TooManyRequestsError} after `MAX_ROTATIONS` within a day
     */
    async rotate(account: string): Promise<{ webhook: Webhook; secret: string } | undefined> {
      const webhook = await WEBHOOKS.update(store, account, (current) => {
        if (current === undefined) return undefined;
        const now = new Date();
        const rotations = recentRotations(current, now);
        if (rotations.length >= MAX_ROTATIONS) throw new TooManyRequestsError(SECONDS_AN_HOUR);
        const [generation, rotated_at] = [current.generation + 1, now.toISOString()];
        return { ...current, generation, rotated_at, rotations: [...rotations, rotated_at] };
      });
      return webhook && { webhook, secret: webhookSecret(secretKey, webhook) };
    },

    /** Sends a test message now. If it is delivered, a paused or failing webhook resumes. */
    async test(account: string): Promise<z.output<typeof tested> | undefined> {
      const webhook = await read(account);
      if (webhook === undefined) return undefined;
      const now = new Date();
      const body = testMessage(now);
      const headers = signedHeaders(secretKey, webhook, messageId(webhook, randomUUID()), body, now);
      const { status, reason } = await post(webhook.url, headers, body, allowedRanges);
      const delivered = status !== undefined && status >= 200 && status < 300;
      if (delivered) {
        await WEBHOOKS.update(store, account, (current) =>
          current?.id === webhook.id ? resumed(current) : undefined,
        );
      }
      return { delivered, status, reason };
    },
  };
}

/**
 * Resumes a paused or failing webhook, so that undelivered messages are sent at once. Any other webhook stays as it is.
 */
function resumed(webhook: Webhook): Webhook {
  return webhook.failing_since === null ? webhook : { ...webhook, paused: null, failing_since: null };
}
