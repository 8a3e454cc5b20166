import { describe, expect, test } from '@jest/globals';
import { addressKey, plainAddress } from '../../src/access/rate-limit.ts';

describe('plainAddress', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:C000:0201', '192.0.2.1'],
    ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8::1', '2001:db8::1'],
    ['2001:0DB8:0:0::0001', '2001:db8::1'],
    ['::1', '::1'],
    ['unknown', 'unknown'],
    ['', ''],
  ])('of %j is %j', (address, plain) => {
    expect(plainAddress(address)).toBe(plain);
  });
});

describe('addressKey', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['unknown', 'unknown'],
    ['', ''],
  ])('of %j is %j', (address, key) => {
    expect(addressKey(address)).toBe(key);
  });

  test.each([
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', true],
    ['2001:db8:1:2::1', '2001:0DB8:0001:0002::9', true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
    ['192.0.2.1', '::ffff:192.0.2.1', true],
    ['192.0.2.1', '192.0.2.2', false],
    ['192.0.2.1', '2001:db8::192.0.2.1', false],
  ])('counts %s and %s together: %s', (one, other, together) => {
    expect(addressKey(one) === addressKey(other)).toBe(together);
  });
});
