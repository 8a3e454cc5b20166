import { createHmac, hash, hkdfSync } from 'node:crypto';
import { z } from 'zod';
import { CHANGE_KINDS } from '../changes/change.ts';
import { DAY_MS } from '../licenses/dates.ts';
import type { Webhook } from './webhook.ts';

const SECRET_BYTES = 32;
const ID_CHARACTERS = 32;

export const MAX_LISTED = 100;

/** Standard Webhooks recommends less than 20 KB. */
const MAX_BYTES = 20_000;

const timestamp = z.string().describe('ISO 8601');
const number = z.int().min(0);

const listedChange = z.object({
  board: z.string(),
  license_number: z.string(),
  reference: z.string().nullable().describe('What you call the license; null where you gave nothing'),
  kind: z.enum(CHANGE_KINDS),
});

/**
 * The message sent after a publication or rollback that changed a watched license. It has no names of license holders.
 */
export const changesPublished = z.object({
  type: z.literal('changes.published'),
  timestamp: timestamp.describe('When the message was made, ISO 8601'),
  data: z.object({
    cursor: z.string().describe('The message lists what changed up to this place of the feed'),
    publication: z.string().describe('The publication that made these changes'),
    date: z.string().describe('The run date of its dataset, YYYY-MM-DD'),
    counts: z
      .object({ added: number, changed: number, removed: number })
      .nullable()
      .describe('All changes of what you watch in this publication; null where verify_all is true'),
    changes: z
      .array(listedChange)
      .max(MAX_LISTED)
      .describe(`The first of them: at most ${MAX_LISTED}, and as many as fit into 20 KB. The feed has all`),
    verify_all: z
      .boolean()
      .describe(
        'Whether the changes since the last message cannot be listed, as they are no longer kept. Then verify ' +
          'everything that you watch again, and continue with the feed from cursor',
      ),
  }),
});

/** The message with which an account tests its receiver. */
export const webhookTest = z.object({
  type: z.literal('webhook.test'),
  timestamp,
  data: z.object({}),
});

type Published = z.output<typeof changesPublished>['data'];

/** The content of a message, with the first changes in the order of the feed. */
export type Announcement = Readonly<Omit<Published, 'verify_all'>>;

/** Returns the body of a `changes.published` message, with as many of the changes as fit. */
export function changesMessage({ changes, ...announcement }: Announcement, now: Date): string {
  const listed: Published['changes'] = [];
  const body = (): string =>
    JSON.stringify({
      type: 'changes.published',
      timestamp: now.toISOString(),
      data: { ...announcement, changes: listed, verify_all: announcement.counts === null },
    } satisfies z.output<typeof changesPublished>);
  let bytes = Buffer.byteLength(body());
  for (const each of changes.slice(0, MAX_LISTED)) {
    const change = listedChange.parse(each);
    bytes += Buffer.byteLength(JSON.stringify(change)) + 1;
    if (bytes > MAX_BYTES) break;
    listed.push(change);
  }
  return body();
}

/** Returns the body of the message with which an account tests its receiver. */
export function testMessage(now: Date): string {
  const message = { type: 'webhook.test', timestamp: now.toISOString(), data: {} } as const;
  return JSON.stringify(message satisfies z.output<typeof webhookTest>);
}

/**
 * Returns the id of a message. It stays the same for every attempt, so that a receiver recognizes a repeated message.
 *
 * @param about the position in the feed up to which the message tells the changes; for other messages, any unique text
 */
export function messageId({ id }: Pick<Webhook, 'id'>, about: string): string {
  return `msg_${hash('sha256', `${id} ${about}`).slice(0, ID_CHARACTERS)}`;
}

/**
 * Returns the secret with which a receiver verifies signatures: `whsec_` and 32 bytes in base64. It is derived, so no
 * secret has to be stored.
 */
export function webhookSecret(secretKey: string, webhook: Pick<Webhook, 'id' | 'generation'>): string {
  return `whsec_${signingKey(secretKey, webhook).toString('base64')}`;
}

function signingKey(secretKey: string, { id, generation }: Pick<Webhook, 'id' | 'generation'>): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, '', `webhook ${id} ${generation}`, SECRET_BYTES));
}

/** Returns the times of the secret's rotations within the last day, the earliest first. */
export function recentRotations(webhook: Pick<Webhook, 'rotated_at' | 'rotations'>, now: Date) {
  const { rotated_at: last, rotations = last === null ? [] : [last] } = webhook;
  return rotations.filter((at) => now.getTime() - Date.parse(at) < DAY_MS);
}

/**
 * Returns the headers that sign a message, as Standard Webhooks defines them. Every secret that was valid within the
 * last day signs it.
 *
 * @param secretKey WEBHOOK_SECRET_KEY
 * @param body exactly as it is sent
 * @param now the time of sending: a receiver refuses a message that is minutes old
 */
export function signedHeaders(
  secretKey: string,
  webhook: Pick<Webhook, 'id' | 'generation' | 'rotated_at' | 'rotations'>,
  messageId: string,
  body: string,
  now: Date,
) {
  const seconds = String(Math.floor(now.getTime() / 1000));
  const { id, generation } = webhook;
  const signatures = [undefined, ...recentRotations(webhook, now)].map((_, earlier) => {
    const key = signingKey(secretKey, { id, generation: generation - earlier });
    return `v1,${createHmac('sha256', key).update(`${messageId}.${seconds}.${body}`).digest('base64')}`;
  });
  const signature = signatures.join(' ');
  return { 'webhook-id': messageId, 'webhook-timestamp': seconds, 'webhook-signature': signature };
}
