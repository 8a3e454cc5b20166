import { expect, jest, test } from '@jest/globals';
import { pino } from 'pino';
import { atEndOfTestFile } from '../../scripts/clean-up.ts';
import { isWellFormedKey, newApiKey } from '../../src/access/api-keys.ts';
import {
  addressKey,
  limitsConnection,
  plainAddress,
  rateLimits,
  withinGroup,
} from '../../src/access/rate-limit.ts';
import { addedUp, statusOutcome } from '../../src/access/usage.ts';
import { pairsOf } from '../support/tables.ts';

const SILENT = pino({ level: 'silent' });

test.each(['olv', 'x', 'abcdefghijklmnop'])(
  'a new key with the prefix %s has 49 letters and digits, and a valid checksum',
  (prefix) => {
    for (let round = 0; round < 200; round += 1) {
      const key = newApiKey(prefix);
      expect(key).toMatch(new RegExp(`^${prefix}_[0-9A-Za-z]{49}$`));
      expect(isWellFormedKey(prefix, key)).toBe(true);
    }
  },
);

const KEY = newApiKey('olv');
const isRefused = (keys: readonly string[]) =>
  expect(keys.filter((key) => key !== KEY && isWellFormedKey('olv', key))).toEqual([]);

test('a key is refused with one character mistyped', () => {
  isRefused(
    [...KEY].flatMap((_, at) =>
      ['0', 'z', '_', '*', '\u00e9'].map((letter) => KEY.slice(0, at) + letter + KEY.slice(at + 1)),
    ),
  );
});

test('a key is refused with two neighboring characters swapped', () => {
  isRefused(
    [...KEY].slice(1).map((next, at) => KEY.slice(0, at) + next + KEY.charAt(at) + KEY.slice(at + 2)),
  );
});

test.each([
  ['one letter too few', KEY.slice(0, -1)],
  ['one letter too many', `${KEY}0`],
  ['a blank before', ` ${KEY}`],
  ['a blank in place of its last letter', `${KEY.slice(0, -1)} `],
  ['no prefix', KEY.slice(4)],
  ['another prefix', `abc${KEY.slice(3)}`],
  ['the prefix in upper case', `OLV${KEY.slice(3)}`],
  ['the other case', `olv_${KEY.slice(4).toLowerCase()}`],
  ['nothing', ''],
  ['the prefix alone', 'olv_'],
  ['noughts alone', `olv_${'0'.repeat(49)}`],
  ['the prefix of another installation', newApiKey('olw')],
])('a key is refused with %s', (_what, key) => {
  isRefused([key]);
});

test('the counts of several processes are added up by key, day and outcome', () => {
  const stored = [
    { key: 'a', day: '2026-11-22', counts: { found: 2, none: 1 } },
    { key: 'b', day: '2026-11-22', counts: { refused: 4 } },
    { key: 'a', day: '2026-11-22', counts: { found: 3, failed: 1 } },
    { key: 'a', day: '2026-11-21', counts: { found: 7 } },
  ];
  expect(addedUp(stored)).toEqual([
    { key: 'a', day: '2026-11-22', counts: { found: 5, none: 1, failed: 1 } },
    { key: 'b', day: '2026-11-22', counts: { refused: 4 } },
    { key: 'a', day: '2026-11-21', counts: { found: 7 } },
  ]);
  expect(addedUp([])).toEqual([]);
});

test('a request is counted by the status of its answer', () => {
  const statuses = pairsOf(`
200 = answered; 304 = answered; 400 = refused; 401 = unauthorized; 404 = refused; 413 = refused; 429 = limited
500 = failed; 501 = refused; 503 = unavailable
`);
  expect(statuses.map(([status]) => [status, statusOutcome(Number(status))])).toEqual(statuses);
});

test.each([
  ['192.0.2.1', '192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1', '192.0.2.1'],
  ['::FFFF:C000:0201', '192.0.2.1', '192.0.2.1'],
  ['2001:db8::1', '2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::9', '2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['::1', '::1', '0:0:0:0::/64'],
  ['192.0.2.1:50123', '192.0.2.1', '192.0.2.1'],
  ['[2001:DB8::1]:50123', '2001:db8::1', '2001:db8:0:0::/64'],
  ['[::ffff:192.0.2.1]:1', '192.0.2.1', '192.0.2.1'],
  ['2001:db8::1:443', '2001:db8::1:443', '2001:db8:0:0::/64'],
  ['unknown:1', 'unknown:1', 'unknown:1'],
  ['unknown', 'unknown', 'unknown'],
  ['', '', ''],
])('the address %j is %j in plain form, and is counted as %j', (address, plain, key) => {
  expect(plainAddress(address)).toBe(plain);
  expect(addressKey(address)).toBe(key);
});

test('without Redis, addresses are counted in a bounded number of counters', async () => {
  const redis = limitsConnection('redis://127.0.0.1:1');
  atEndOfTestFile(async () => redis.disconnect());
  redis.on('error', () => undefined);
  const limit = rateLimits(redis, '', SILENT).limitOf('test', 600);
  const spent = async (address: string) => (await limit.spend(address)).remaining;
  for (const left of [599, 598, 597]) expect(await spent('192.0.2.1')).toBe(left);
  expect(await spent('192.0.2.2')).toBe(599);

  // Of 5,000 addresses some hundred share one of 100,000 counters.
  const left: number[] = [];
  for (let at = 0; at < 5000; at += 1) left.push(await spent(`10.0.${at >> 8}.${at & 255}`));
  const shared = left.filter((remaining) => remaining < 599).length;
  expect(shared).toBeGreaterThan(20);
  expect(shared).toBeLessThan(500);
});

test('rate limits are counted by each process alone after one lost Redis, and together again a minute later', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
  try {
    // It is there, and takes no counts.
    const limits = rateLimits({ status: 'ready' }, '', SILENT);
    expect(limits.isShared()).toBe(true);
    await limits.limitOf('test', 1).spend('192.0.2.1');
    expect(limits.isShared()).toBe(false);
    jest.advanceTimersByTime(60_000);
    expect(limits.isShared()).toBe(false);
    jest.advanceTimersByTime(1);
    expect(limits.isShared()).toBe(true);
  } finally {
    jest.useRealTimers();
  }
});

test('rate limits are counted by each process alone while Redis does not answer', () => {
  expect(rateLimits({ status: 'reconnecting' }, '', SILENT).isShared()).toBe(false);
});

test('a group never takes what is left for another, and what is over its share costs an address nothing', async () => {
  const redis = limitsConnection('redis://127.0.0.1:1');
  atEndOfTestFile(async () => redis.disconnect());
  atEndOfTestFile(async () => redis.disconnect());
  redis.on('error', () => undefined);
  const { limitOf } = rateLimits(redis, '', SILENT);
  const each = limitOf('each', 3);
  const all = limitOf('all', 4);
  const [visitors, accounts] = ['visitors', 'accounts'].map((group) => withinGroup(each, all, group));
  for (const address of ['a', 'b', 'c', 'd']) await visitors?.spend(address);
  for (const _ of [1, 2, 3, 4]) await expect(visitors?.spend('e')).rejects.toThrow('Too many requests');
  await accounts?.spend('f', 3);
  await expect(accounts?.spend('f')).rejects.toThrow('Too many requests');
  await visitors?.giveBack('a');
  for (const _ of [1, 2]) await accounts?.giveBack('f');
  expect([(await visitors?.spend('e'))?.remaining, (await accounts?.spend('f'))?.remaining]).toEqual([2, 1]);
});
