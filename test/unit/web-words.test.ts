import { describe, expect, test } from '@jest/globals';
import { historyTimeline, withoutTwins } from '../../src/web/history-timeline.ts';
import {
  count,
  counted,
  fromToday,
  inWords,
  listed,
  longDate,
  ohioTime,
  shortDate,
} from '../../src/web/words.ts';

describe('words', () => {
  test.each([
    ['2027-10-31', 'October 31, 2027', 'Oct 31, 2027'],
    ['2028-02-29', 'February 29, 2028', 'Feb 29, 2028'],
    ['not a date', 'not a date', 'not a date'],
  ])('the date %j', (date, long, short) => {
    expect([longDate(date), shortDate(date)]).toEqual([long, short]);
  });

  test.each([
    [0, 'today'],
    [1, 'in 1 day'],
    [1200, 'in 1,200 days'],
    [-1, '1 day ago'],
    [-366, '366 days ago'],
  ])('%d days from today', (days, words) => {
    expect(fromToday(days)).toBe(words);
  });

  test.each([
    [[], ''],
    [['a'], 'a'],
    [['a', 'b'], 'a and b'],
    [['a', 'b', 'c'], 'a, b and c'],
  ])('a list of %j', (words, text) => {
    expect(listed(words)).toBe(text);
  });

  test('numbers, an instant in Ohio, and values of a record', () => {
    expect([count(2600000), counted(1, 'license'), counted(2, 'license')]).toEqual([
      '2,600,000',
      '1 license',
      '2 licenses',
    ]);
    expect(ohioTime('2026-11-23T03:30:00.000Z')).toBe('November 22, 2026 at 10:30 PM (Ohio time)');
    expect([inWords('2026-06-01'), inWords('2026-06'), inWords('43004-4639')]).toEqual([
      'June 1, 2026',
      '2026-06',
      '43004-4639',
    ]);
  });
});

describe('the timeline', () => {
  const change = { date: '2026-11-20', kind: 'changed', cause: 'data', fields: {} } as const;
  const textOf = (...changes: Parameters<typeof historyTimeline>[0]) => textWith([], ...changes);
  const textWith = (
    gaps: Parameters<typeof historyTimeline>[2],
    ...changes: Parameters<typeof historyTimeline>[0]
  ) =>
    String(historyTimeline(changes, '2026-11-01', gaps))
      .replaceAll(/<[^>]+>/g, ' ')
      .replaceAll(/\s+/g, ' ');

  test.each([
    [{ city: { before: 'LIMA', after: 'AKRON' } }, 'City changed from LIMA to AKRON.'],
    [{ expiry_date: { before: null, after: '2027-10-31' } }, 'Expiry date: now October 31, 2027.'],
    [{ city: { before: 'LIMA', after: null } }, 'City: no longer stated (it was LIMA).'],
    [
      { city: { before: null, after: null, erased: true as const } },
      'City changed. The State no longer publishes the values.',
    ],
    [
      { 'extra_data.Compact Eligibility': { before: 'a', after: 'b' } },
      'Compact Eligibility changed from a to b.',
    ],
  ])('says %j in a sentence', (fields, sentence) => {
    expect(textOf({ ...change, fields })).toContain(sentence);
  });

  test.each([
    ['added', 'data', 'The license appeared in the dataset.'],
    ['removed', 'rejected_row', 'could not be read on that day. The board did nothing.'],
    ['removed', 'rollback', 'went back to an earlier dataset. The board did nothing.'],
    ['added', 'release', 'A new version of this service'],
  ] as const)('says why a license was %s by %s', (kind, cause, sentence) => {
    expect(textOf({ ...change, kind, cause })).toContain(sentence);
  });

  test('says since when changes are known, and that there are none', () => {
    expect(textOf()).toContain('Nothing has changed since November 1, 2026.');
    expect(textOf(change)).toContain('What happened before November 1, 2026 is not known here.');
  });

  test('says of which time no changes are known, and never that nothing changed in it', () => {
    const gaps = [{ after: '2026-11-05', before: '2026-11-09' }];
    expect(textWith(gaps)).toContain('No change is known since November 1, 2026.');
    expect(textWith(gaps)).not.toContain('Nothing has changed');
    for (const text of [textWith(gaps), textWith(gaps, change)]) {
      expect(text).toContain('Changes between November 5, 2026 and November 9, 2026 are not known here.');
    }
  });

  test('says the same only once', () => {
    const fields = {
      status: 1,
      raw_status: 2,
      county: 3,
      'extra_data.County': 4,
      'extra_data.Issue Date': 5,
    };
    expect(withoutTwins(fields)).toEqual({ raw_status: 2, county: 3, 'extra_data.Issue Date': 5 });
  });
});
