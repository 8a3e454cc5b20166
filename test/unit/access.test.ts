import { describe, expect, jest, test } from '@jest/globals';
import { pino } from 'pino';
import { isWellFormedKey, newApiKey } from '../../src/access/api-keys.ts';
import {
  addressKey,
  limitsConnection,
  plainAddress,
  rateLimits,
  withinGroup,
} from '../../src/access/rate-limit.ts';
import { addedUp, statusOutcome } from '../../src/access/usage.ts';

const SILENT = pino({ level: 'silent' });

describe('a new key', () => {
  test.each(['olv', 'x', 'abcdefghijklmnop'])(
    'begins with the prefix %s and has 49 letters and digits',
    (prefix) => {
      for (let round = 0; round < 200; round += 1) {
        expect(newApiKey(prefix)).toMatch(new RegExp(`^${prefix}_[0-9A-Za-z]{49}$`));
      }
    },
  );

  test('has a valid checksum', () => {
    for (let round = 0; round < 200; round += 1) expect(isWellFormedKey('olv', newApiKey('olv'))).toBe(true);
  });
});

describe('isWellFormedKey', () => {
  test('refuses a key with one character mistyped', () => {
    const key = newApiKey('olv');
    for (let at = 0; at < key.length; at += 1) {
      for (const letter of ['0', 'z', '_', '*', '\u00e9']) {
        if (key[at] === letter) continue;
        const mistyped = key.slice(0, at) + letter + key.slice(at + 1);
        expect([mistyped, isWellFormedKey('olv', mistyped)]).toEqual([mistyped, false]);
      }
    }
  });

  test('refuses a key with two neighboring characters swapped', () => {
    const key = newApiKey('olv');
    for (let at = 4; at + 1 < key.length; at += 1) {
      const swapped = key.slice(0, at) + key.charAt(at + 1) + key.charAt(at) + key.slice(at + 2);
      if (swapped !== key) expect([swapped, isWellFormedKey('olv', swapped)]).toEqual([swapped, false]);
    }
  });

  test.each<[string, (key: string) => string]>([
    ['one letter too few', (key) => key.slice(0, -1)],
    ['one letter too many', (key) => `${key}0`],
    ['a blank before', (key) => ` ${key}`],
    ['a blank in place of its last letter', (key) => `${key.slice(0, -1)} `],
    ['no prefix', (key) => key.slice(4)],
    ['another prefix', (key) => `abc${key.slice(3)}`],
    ['the prefix in upper case', (key) => `OLV${key.slice(3)}`],
    ['the other case', (key) => `olv_${key.slice(4).toLowerCase()}`],
    ['nothing', () => ''],
    ['the prefix alone', () => 'olv_'],
    ['noughts alone', () => `olv_${'0'.repeat(49)}`],
  ])('refuses a key with %s', (_what, change) => {
    expect(isWellFormedKey('olv', change(newApiKey('olv')))).toBe(false);
  });

  test('refuses the key of an installation with another prefix', () => {
    expect(isWellFormedKey('olw', newApiKey('olv'))).toBe(false);
  });
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

test.each([
  [200, 'answered'],
  [304, 'answered'],
  [400, 'refused'],
  [401, 'unauthorized'],
  [404, 'refused'],
  [413, 'refused'],
  [429, 'limited'],
  [500, 'failed'],
  [501, 'refused'],
  [503, 'unavailable'],
] as const)('a request answered with %d is counted as %s', (status, outcome) => {
  expect(statusOutcome(status)).toBe(outcome);
});

describe('the plain form of an address', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:C000:0201', '192.0.2.1'],
    ['2001:db8::1', '2001:db8::1'],
    ['::1', '::1'],
    ['192.0.2.1:50123', '192.0.2.1'],
    ['[2001:DB8::1]:50123', '2001:db8::1'],
    ['[::ffff:192.0.2.1]:1', '192.0.2.1'],
    ['2001:db8::1:443', '2001:db8::1:443'],
    ['unknown:1', 'unknown:1'],
    ['unknown', 'unknown'],
    ['', ''],
  ])('of %j is %j', (address, plain) => {
    expect(plainAddress(address)).toBe(plain);
  });
});

describe('the address that is counted', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::9', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['unknown', 'unknown'],
    ['', ''],
  ])('for %j is %j', (address, key) => {
    expect(addressKey(address)).toBe(key);
  });
});

test('without Redis, addresses are counted in a bounded number of counters', async () => {
  const redis = limitsConnection('redis://127.0.0.1:1');
  redis.on('error', () => undefined);
  try {
    const limit = rateLimits(redis, '', SILENT).limitOf('test', 600);
    const spent = async (address: string) => (await limit.spend(address)).remaining;
    expect([await spent('192.0.2.1'), await spent('192.0.2.1'), await spent('192.0.2.1')]).toEqual([
      599, 598, 597,
    ]);
    expect(await spent('192.0.2.2')).toBe(599);

    // Of 5,000 addresses some hundred share one of 100,000 counters.
    const left: number[] = [];
    for (let at = 0; at < 5000; at += 1) left.push(await spent(`10.0.${at >> 8}.${at & 255}`));
    const shared = left.filter((remaining) => remaining < 599).length;
    expect(shared).toBeGreaterThan(20);
    expect(shared).toBeLessThan(500);
  } finally {
    redis.disconnect();
  }
});

describe('rate limits', () => {
  test('are counted by each process alone after one lost Redis, and together again a minute later', async () => {
    jest.useFakeTimers();
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

  test('are counted by each process alone while Redis does not answer', () => {
    expect(rateLimits({ status: 'reconnecting' }, '', SILENT).isShared()).toBe(false);
  });
});

test('a group never takes what is left for another, and what is over its share costs an address nothing', async () => {
  const redis = limitsConnection('redis://127.0.0.1:1');
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
  expect((await visitors?.spend('e'))?.remaining).toBe(2);
  expect((await accounts?.spend('f'))?.remaining).toBe(1);
  redis.disconnect();
});
