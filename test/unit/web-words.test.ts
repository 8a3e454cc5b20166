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
  properCase,
  shortDate,
} from '../../src/web/words.ts';

describe('on the website', () => {
  test.each([
    ['2027-10-31', 'October 31, 2027', 'Oct 31, 2027'],
    ['2028-02-29', 'February 29, 2028', 'Feb 29, 2028'],
    ['not a date', 'not a date', 'not a date'],
  ])('the date %j is written in a long and a short form', (date, long, short) => {
    expect([longDate(date), shortDate(date)]).toEqual([long, short]);
  });

  test.each([
    ['HOLLOWAY, BEATRICE ANN', 'Holloway, Beatrice Ann'],
    ["O'NEIL-MCCOY, ANN III", "O'Neil-McCoy, Ann III"],
    ['ST. JOHN, J.R.', 'St. John, J.R.'],
    ['NUÑEZ, JOSÉ', 'Nuñez, José'],
    ['NG, THU JR', 'Ng, Thu Jr'],
    ['MAPLE HEALTH LLC D.B.A QUAIL HOLLOW DRUGS', 'Maple Health LLC D.B.A Quail Hollow Drugs'],
    ["MACY'S OF OHIO", "Macy's of Ohio"],
    ['1ST CHOICE HOME CARE', '1st Choice Home Care'],
    ['CVS PHARMACY #123', 'CVS Pharmacy #123'],
    ['deVries, Anna', 'deVries, Anna'],
    ['', ''],
  ])('the name %j is written %j', (name, written) => {
    expect(properCase(name)).toBe(written);
  });

  test.each([
    [0, 'today'],
    [1, 'in 1 day'],
    [1200, 'in 1,200 days'],
    [-1, '1 day ago'],
    [-366, '366 days ago'],
  ])('%d days from today is written as words', (days, words) => {
    expect(fromToday(days)).toBe(words);
  });

  test.each([
    [[], ''],
    [['a'], 'a'],
    [['a', 'b'], 'a and b'],
    [['a', 'b', 'c'], 'a, b and c'],
  ])('the list %j is written with commas and "and"', (words, text) => {
    expect(listed(words)).toBe(text);
  });

  test('numbers, times and values of a record are written as people read them', () => {
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

describe('the history of a license on the website', () => {
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
  ])('has %j as a sentence', (fields, sentence) => {
    expect(textOf({ ...change, fields })).toContain(sentence);
  });

  test.each([
    ['added', 'data', 'The license appeared in the dataset.'],
    ['removed', 'rejected_row', 'The State’s row could not be read on that day.'],
    ['added', 'rejected_row', 'What the board did while it could not be read is not known here.'],
    ['removed', 'rollback', 'went back to an earlier dataset. The board did nothing.'],
    ['added', 'release', 'A new version of this service'],
  ] as const)('says why a license was %s by %s', (kind, cause, sentence) => {
    expect(textOf({ ...change, kind, cause })).toContain(sentence);
  });

  test('says since when changes are known, and if there are none', () => {
    expect(textOf()).toContain('Nothing has changed since November 1, 2026.');
    expect(textOf(change)).toContain('What happened before November 1, 2026 is not known here.');
  });

  test('says for which time changes are not known, and never that nothing changed then', () => {
    const gaps = [{ after: '2026-11-05', before: '2026-11-09' }];
    expect(textWith(gaps)).toContain('No change is known since November 1, 2026.');
    expect(textWith(gaps)).not.toContain('Nothing has changed');
    for (const text of [textWith(gaps), textWith(gaps, change)]) {
      expect(text).toContain('Changes between November 5, 2026 and November 9, 2026 are not known here.');
    }
  });

  describe('with publications that were withdrawn', () => {
    const day = (day: number) => `2026-11-${day}`;
    const status = (before: string, after: string) => ({ raw_status: { before, after } });
    const [suspended, active] = [
      status('Active', 'Active - Suspended'),
      status('Active - Suspended', 'Active'),
    ];
    const bad = { ...change, date: day(21), fields: suspended, withdrawn: true as const };
    const back = { ...change, date: day(20), cause: 'rollback', fields: active } as const;
    const entriesOf = (...changes: Parameters<typeof historyTimeline>[0]) =>
      [...String(historyTimeline(changes, '2026-11-01', [])).matchAll(/<li.*?<\/li>/gs)].map(([entry]) =>
        entry
          .replaceAll(/<[^>]+>/g, ' ')
          .replaceAll(/\s+/g, ' ')
          .trim(),
      );
    const SAID =
      'November 21, 2026 A dataset of November 21, 2026 that this service withdrew said: Status Active - Suspended.';

    test.each<[string, Parameters<typeof historyTimeline>[0], string[]]>([
      ['it and its rollback are one entry', [back, bad], [SAID]],
      ['twice the same is told once', [back, bad, back, bad], [SAID]],
      [
        'a rollback that is undone is not told',
        [
          { ...back, date: day(21), fields: suspended },
          { ...back, withdrawn: true },
          { ...change, date: day(21), fields: suspended },
        ],
        ['November 21, 2026 Status changed from Active to Active - Suspended.'],
      ],
      [
        'a rollback is told where what it undid is no longer known',
        [{ ...back, fields: { ...active, city: { before: 'AKRON', after: 'LIMA' } } }, bad],
        [
          SAID,
          'November 20, 2026 City changed from AKRON to LIMA. This service went back to an earlier dataset. The board did nothing.',
        ],
      ],
      [
        'a rollback is told where nothing of what it undid is known',
        [back],
        [
          'November 20, 2026 Status changed from Active - Suspended to Active. This service went back to an earlier dataset. The board did nothing.',
        ],
      ],
      [
        'entries have the order of their datasets',
        [
          { ...change, date: day(22), fields: { city: { before: 'AKRON', after: 'CANTON' } } },
          { ...change, date: day(21), fields: { city: { before: 'LIMA', after: 'AKRON' } } },
          back,
          { ...bad, date: day(22), kind: 'removed', fields: {} },
          bad,
        ],
        [
          'November 22, 2026 City changed from AKRON to CANTON.',
          'November 22, 2026 A dataset of November 22, 2026 that this service withdrew did not have the license.',
          'November 21, 2026 City changed from LIMA to AKRON.',
          SAID,
        ],
      ],
      [
        'several fields, of which some say nothing',
        [
          {
            ...bad,
            cause: 'release',
            fields: {
              ...suspended,
              status: { before: null, after: 'ACTIVE' },
              expiry_date: { before: '2027-10-31', after: null },
              city: { before: null, after: null, erased: true },
            },
          },
        ],
        [
          `${SAID.slice(0, -1)}; Expiry date not stated; City no longer published. A new version of this service reads the State’s data differently. The board did nothing.`,
        ],
      ],
      [
        'a license that it did not have',
        [
          { ...back, kind: 'added', fields: { ...active, city: { before: null, after: 'LIMA' } } },
          { ...bad, kind: 'removed' },
        ],
        [
          'November 21, 2026 A dataset of November 21, 2026 that this service withdrew did not have the license.',
        ],
      ],
      [
        'a license that only it had',
        [{ ...bad, kind: 'added' }],
        ['November 21, 2026 A dataset of November 21, 2026 that this service withdrew had the license.'],
      ],
    ])('%s', (_what, changes, expected) => {
      expect(entriesOf(...changes)).toEqual(expected);
    });

    test('says that nothing changed if a rollback and its reversal are all that is known', () => {
      const undone = { ...back, fields: suspended };
      expect(textOf(undone, { ...back, withdrawn: true })).toContain('Nothing has changed since');
    });
  });

  test('has each fact once', () => {
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
