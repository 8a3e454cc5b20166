import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { BUSINESS_COLUMNS, INDIVIDUAL_COLUMNS } from '../../src/dataset/columns.ts';

// Taken from the headers of the State's files of mid-2026, joined with commas.
test.each([
  ['individual', INDIVIDUAL_COLUMNS, 154, '7f325098b82ce82a8fbc8bb9a09a4f94a6de2b95cff91094cf6adb2d38c1353b'],
  ['business', BUSINESS_COLUMNS, 18, '2a4af8637850f03e270c527b0f02856304fb28125c898b3a222079d0e0ebe104'],
])('the %s file has the columns of the State, in order', (_file, columns, count, sha256) => {
  expect(columns).toHaveLength(count);
  expect(createHash('sha256').update(columns.join()).digest('hex')).toBe(sha256);
});
