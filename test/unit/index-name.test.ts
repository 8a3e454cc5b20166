import { expect, test } from '@jest/globals';
import { newId } from '../../src/publications/metadata.ts';
import { indexNames, isLicensesIndexName, licensesIndexName } from '../../src/storage/store.ts';

const PREFIXES = ['', 'test-', 'a_b-1'];

test('the name of a licenses index has the prefix, the date and the build', () => {
  expect(licensesIndexName('test-', '2026-11-20', 'abc123')).toBe('test-licenses-2026-11-20-abc123');
});

test.each(PREFIXES)('the name of a licenses index is known by the prefix %j', (prefix) => {
  expect(isLicensesIndexName(prefix, licensesIndexName(prefix, '2026-11-20', newId()))).toBe(true);
});

test.each([
  ['', 'test-licenses-2026-11-20-abc'],
  ['test-', 'licenses-2026-11-20-abc'],
  ['test-', 'test-test-licenses-2026-11-20-abc'],
  ['', 'licenses-2026-11-20'],
  ['', 'licenses-2026-11-20-ABC'],
  ['', 'licenses-2026-11-20-abc-def'],
  ['', 'licenses-2026-11-20-abc\n'],
  ['', 'licenses-archive'],
])('the name of a licenses index with the prefix %j is not %j', (prefix, name) => {
  expect(isLicensesIndexName(prefix, name)).toBe(false);
});

test('the name of a licenses index is not the name of any other index of the service', () => {
  for (const prefix of PREFIXES) {
    const { licensesPattern, ...others } = indexNames(prefix);
    for (const other of Object.values(others)) {
      expect(other.startsWith(licensesPattern.replace('*', ''))).toBe(false);
      expect(isLicensesIndexName(prefix, other)).toBe(false);
    }
  }
});

test('every index and the alias have the prefix', () => {
  expect(Object.values(indexNames('p-')).filter((name) => !name.startsWith('p-'))).toEqual([]);
});

test('run ids have lower-case letters and digits, are different and sort by time', () => {
  const now = Date.parse('2026-11-21T12:00:00Z');
  const ids = Array.from({ length: 1000 }, (_, at) => newId(now + at));
  expect([ids.filter((id) => !/^[a-z0-9]+$/.test(id)), ids.toSorted()]).toEqual([[], ids]);
  expect(new Set(Array.from({ length: 1000 }, () => newId(now))).size).toBe(1000);
});
