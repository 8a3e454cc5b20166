import { describe, expect, test } from '@jest/globals';
import { apiKeyHash, isWellFormedKey, newApiKey } from '../../src/access/api-keys.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

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

  test('is different each time', () => {
    expect(new Set(Array.from({ length: 1000 }, () => newApiKey('olv'))).size).toBe(1000);
  });

  test('uses every letter and digit', () => {
    const seen = new Set(Array.from({ length: 200 }, () => newApiKey('olv').slice(4, 47)).join(''));
    expect([...seen].sort()).toEqual([...ALPHABET].sort());
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

describe('the hash of a key', () => {
  test.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  ])('of %j is its SHA-256 in hexadecimal', (key, hash) => {
    expect(apiKeyHash(key)).toBe(hash);
  });
});
