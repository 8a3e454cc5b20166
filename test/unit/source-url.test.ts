import { expect, test } from '@jest/globals';
import { datedLocation } from '../../src/dataset/source-url.ts';
import { todayInOhio } from '../../src/licenses/dates.ts';

test.each([
  ['/data/individual-{date}.csv', '/data/individual-2026-11-27.csv'],
  [
    'https://files.example/{date}/business-{date}.csv',
    'https://files.example/2026-11-27/business-2026-11-27.csv',
  ],
  ['/data/individual.csv', '/data/individual.csv'],
])('%s is %s on that day', (location, dated) => {
  expect(datedLocation(location, '2026-11-27')).toBe(dated);
});

test('the day is the one in Ohio', () => {
  expect(datedLocation('{date}')).toBe(todayInOhio());
});
