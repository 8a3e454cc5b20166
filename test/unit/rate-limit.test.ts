import { describe, expect, jest, test } from '@jest/globals';
import { pino } from 'pino';
import {
  addressKey,
  limitsConnection,
  plainAddress,
  rateLimit,
  sharedCounting,
  withinGroup,
} from '../../src/access/rate-limit.ts';

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
    const limit = rateLimit(redis, 'test', 600, []);
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
  test('are counted by each process alone after one lost Redis, and together again a minute later', () => {
    jest.useFakeTimers();
    try {
      const counting = sharedCounting({ status: 'ready' }, pino({ level: 'silent' }));
      expect(counting.isShared()).toBe(true);
      counting.inMemory();
      expect(counting.isShared()).toBe(false);
      jest.advanceTimersByTime(60_000);
      expect(counting.isShared()).toBe(false);
      jest.advanceTimersByTime(1);
      expect(counting.isShared()).toBe(true);
    } finally {
      jest.useRealTimers();
    }
  });

  test('are counted by each process alone while Redis does not answer', () => {
    const counting = sharedCounting({ status: 'reconnecting' }, pino({ level: 'silent' }));
    expect(counting.isShared()).toBe(false);
  });
});

test('a group never takes what is left for another, and what is over its share costs an address nothing', async () => {
  const redis = limitsConnection('redis://127.0.0.1:1');
  redis.on('error', () => undefined);
  const each = rateLimit(redis, 'each', 3, []);
  const all = rateLimit(redis, 'all', 4, []);
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
