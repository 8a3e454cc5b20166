import { createHmac } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import {
  type Announcement,
  changesMessage,
  changesPublished,
  messageId,
  signedHeaders,
  webhookSecret,
} from '../../src/subscriptions/message.ts';

const KEY = 'a secret key of the tests, of 32 characters and more';
const WEBHOOK = { id: 'wh_1', generation: 1, rotated_at: null };
const NOW = new Date();

const CHANGE = {
  board: 'Nursing Board',
  license_number: 'RN.700001',
  reference: 'staff-117',
  kind: 'changed',
} as const;

const TOLD: Announcement = {
  cursor: '0f3a9c2be871.3k.1f0c2d3e',
  publication: 'p-20',
  date: '2026-11-20',
  counts: { added: 0, changed: 1, removed: 0 },
  changes: [CHANGE],
};

function messageOf(told: Partial<Announcement>) {
  const body = changesMessage({ ...TOLD, ...told }, NOW);
  return { body, bytes: Buffer.byteLength(body), ...changesPublished.parse(JSON.parse(body)) };
}

const many = (count: number, reference: (at: number) => string | null) =>
  Array.from({ length: count }, (_, at) => ({ ...CHANGE, reference: reference(at) }));

test('the message of what changed says up to which place, in which publication, how many and which, with four fields of a change', () => {
  const stored = { ...CHANGE, full_name: 'DOE, JANE', fields: { city: { before: 'A', after: 'B' } } };
  expect(JSON.parse(messageOf({ changes: [stored] }).body)).toEqual({
    ...{ type: 'changes.published', timestamp: NOW.toISOString() },
    data: { ...TOLD, changes: [CHANGE], verify_all: false },
  });
});

test('the message of what changed lists the first 100', () => {
  const counts = { added: 0, changed: 150, removed: 0 };
  const { data } = messageOf({ changes: many(150, String), counts });
  expect(data).toMatchObject({ changes: many(100, String), counts });
});

test.each<[string, string]>([
  ['of 200 letters', 'x'.repeat(200)],
  ['of 200 control characters, six bytes each in JSON', '\u0001'.repeat(200)],
  ['of 200 emoji', '🙂'.repeat(200)],
  ['of 200 quotes', '"'.repeat(200)],
  ['of 200 halves of a surrogate pair', '\ud800'.repeat(200)],
  ['longer than the whole message may be', 'x'.repeat(30_000)],
])('the message of what changed stays under 20 KB with references %s', (_what, reference) => {
  const { bytes, data } = messageOf({ changes: many(100, () => reference) });
  expect(bytes).toBeLessThanOrEqual(20_000);
  const room = Buffer.byteLength(JSON.stringify({ ...CHANGE, reference })) + 1;
  // As many as fit.
  expect(data.changes.length < 100 ? bytes + room : Number.POSITIVE_INFINITY).toBeGreaterThan(20_000);
});

test('the message of what changed says to verify everything where the changes can not be listed', () => {
  const { data } = messageOf({ counts: null, changes: [] });
  expect(data).toMatchObject({ counts: null, changes: [], verify_all: true });
});

test('the id of a message is the same for a webhook and a place, and of no other', () => {
  const ids = [
    ...['a', 'b', 'a'].map((place) => messageId({ id: 'wh_1' }, place)),
    messageId({ id: 'wh_2' }, 'a'),
  ];
  expect([ids[0] === ids[2], new Set(ids).size]).toEqual([true, 3]);
  for (const each of ids) expect(each).toMatch(/^msg_[0-9a-f]{32}$/);
});

test('the secret is 32 bytes, and another one for each key, webhook and generation', () => {
  const secrets = [
    webhookSecret(KEY, WEBHOOK),
    webhookSecret(`${KEY}.`, WEBHOOK),
    webhookSecret(KEY, { ...WEBHOOK, id: 'wh_2' }),
    webhookSecret(KEY, { ...WEBHOOK, generation: 2 }),
    webhookSecret(KEY, { id: 'wh_1 1', generation: 1 }),
  ];
  expect(new Set(secrets).size).toBe(5);
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_/);
    expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
  }
});

test('the secret is HKDF (RFC 5869) with SHA-256, so it stays the same from release to release', () => {
  const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest();
  const derived = hmac(hmac(Buffer.alloc(32), KEY), 'webhook wh_1 1\u0001');
  expect(webhookSecret(KEY, WEBHOOK)).toBe(`whsec_${derived.toString('base64')}`);
});

const id = messageId(WEBHOOK, TOLD.cursor);
const body = changesMessage(TOLD, NOW);
const verify = (secret: string, headers: Record<string, string>, given = body) =>
  new Webhook(secret).verify(given, headers);

const at = (hours: number) => new Date(NOW.getTime() - hours * 3_600_000).toISOString();

test.each([
  ['every secret of the last day', { rotated_at: at(1), rotations: [at(30), at(2), at(1)] }, [2, 3, 4]],
  // Version 0.3.0 wrote no `rotations`.
  ['the secret before, an hour after', { rotated_at: at(1) }, [3, 4]],
  ['the new one alone, a day after', { rotated_at: at(25) }, [4]],
])('the package standardwebhooks of npm verifies with %s', (_what, rotated, expected) => {
  const headers = signedHeaders(KEY, { id: 'wh_1', generation: 4, ...rotated }, id, body, NOW);
  const isAccepted = (generation: number) => {
    try {
      return verify(webhookSecret(KEY, { id: 'wh_1', generation }), headers) !== undefined;
    } catch {
      return false;
    }
  };
  expect([1, 2, 3, 4, 5].filter(isAccepted)).toEqual(expected);
});
