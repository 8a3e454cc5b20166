import { expect, test } from '@jest/globals';
import { daysBefore, daysBetween, isoDate, todayInOhio } from '../../src/licenses/dates.ts';
import { pairsOf } from '../support/tables.ts';

/** A date of the dataset, as it is read; what is no date has none. */
const DATES = pairsOf(`
2027-10-31 = 2027-10-31; 2027-10-31T00:00:00 = 2027-10-31; 2027-10-31 23:59:59.000 = 2027-10-31
10/31/2027 = 2027-10-31; 1/2/2027 = 2027-01-02; 1/1/2027 = 2027-01-01; 2027-01-01T08:30:00 = 2027-01-01
01/02/2027 = 2027-01-02; 10/31/2027 12:00:00 AM = 2027-10-31; 2028-02-29 = 2028-02-29; 2000-02-29 = 2000-02-29
02/29/2028 = 2028-02-29; 2027-12-31 = 2027-12-31; 9999-12-31 = 9999-12-31; 1923-01-01 = 1923-01-01
; 2027-02-29; 2027-02-30; 2027-04-31; 1900-02-29; 2027-13-01; 2027-00-10; 2027-10-00; 2027-10-32; 31/10/2027; 02/30/2027
0/1/2027; 1/0/2027; 10/31/27; 2027-1-2; 20271031; 2027/10/31; 10-31-2027; x2027-10-31; 2027-10-31x; x2027-10-28
2027-10-28x; abcd-10-28; 2027-10-1x; x10/31/2027; 10/31/2027x; HIDDEN; N/A
`);

test('a date of the dataset is read, and nothing else', () => {
  expect(DATES.map(([text]) => [text, isoDate(text) ?? ''])).toEqual(DATES);
});

test('today in Ohio is the date there, in summer and winter time', () => {
  const days = pairsOf(`
2026-11-21T17:00:00Z = 2026-11-21; 2026-11-21T04:59:59Z = 2026-11-20; 2026-11-21T05:00:00Z = 2026-11-21
2026-07-01T03:59:59Z = 2026-06-30; 2026-07-01T04:00:00Z = 2026-07-01; 2027-01-01T04:59:59Z = 2026-12-31
2026-03-08T04:59:59Z = 2026-03-07; 2026-03-09T03:59:59Z = 2026-03-08; 2026-11-01T03:59:59Z = 2026-10-31
2026-11-02T04:59:59Z = 2026-11-01
`);
  expect(days.map(([instant]) => [instant, todayInOhio(new Date(instant))])).toEqual(days);
});

test('the days between two dates are counted by the calendar, and back again', () => {
  const days = pairsOf(`
2026-11-21 2026-11-21 = 0; 2026-11-21 2026-11-22 = 1; 2026-11-21 2026-11-20 = -1; 2026-03-07 2026-03-09 = 2
2026-10-31 2026-11-02 = 2; 2027-02-28 2027-03-01 = 1; 2028-02-28 2028-03-01 = 2; 2026-11-21 2027-11-21 = 365
2026-11-21 1926-11-21 = -36525; 2026-12-01 2027-01-01 = 31
`);
  for (const [text, count] of days) {
    const [from = '', to = ''] = text.split(' ');
    expect([text, daysBetween(from, to), daysBefore(to, Number(count))]).toEqual([text, Number(count), from]);
  }
});
