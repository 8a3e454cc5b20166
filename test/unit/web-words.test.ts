import { describe, expect, test } from '@jest/globals';
import { history, lastChange, withoutTwins } from '../../src/web/history.ts';
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
import { pageText } from '../support/page-text.ts';
import { pairsOf } from '../support/tables.ts';

test.each([
  ['2027-10-31', 'October 31, 2027', 'Oct 31, 2027'],
  ['2028-02-29', 'February 29, 2028', 'Feb 29, 2028'],
  ['not a date', 'not a date', 'not a date'],
])('on the website the date %j is written in a long and a short form', (date, long, short) => {
  expect([longDate(date), shortDate(date)]).toEqual([long, short]);
});

test.each(
  pairsOf(`
HOLLOWAY, BEATRICE ANN = Holloway, Beatrice Ann; O'NEIL-MCCOY, ANN III = O'Neil-McCoy, Ann III; ST. JOHN, J.R. = St. John, J.R.
NUÑEZ, JOSÉ = Nuñez, José; NG, THU JR = Ng, Thu Jr; MACY'S OF OHIO = Macy's of Ohio; deVries, Anna = deVries, Anna
MAPLE HEALTH LLC D.B.A QUAIL HOLLOW DRUGS = Maple Health LLC D.B.A Quail Hollow Drugs
1ST CHOICE HOME CARE = 1st Choice Home Care; CVS PHARMACY #123 = CVS Pharmacy #123; 
`),
)('on the website the name %j is written %j', (name, written) => {
  expect(properCase(name)).toBe(written);
});

test('on the website days from today are written as words', () => {
  const words = pairsOf(
    '0 = today; 1 = in 1 day; 700 = in 700 days; 1200 = in 3 years; -1 = 1 day ago; -2491 = 6 years ago',
  );
  expect(words.map(([days]) => [days, fromToday(Number(days))])).toEqual(words);
});

test('on the website a list is written with commas and "and"', () => {
  expect([[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map(listed)).toEqual(['', 'a', 'a and b', 'a, b and c']);
});

test('on the website numbers, times and values of a record are written as people read them', () => {
  const counts = [count(2600000), counted(1, 'license'), counted(2, 'license')];
  expect(counts).toEqual(['2,600,000', '1 license', '2 licenses']);
  expect(ohioTime('2026-11-23T03:30:00.000Z')).toBe('November 22, 2026 at 10:30 PM (Ohio time)');
  const values = ['2026-06-01', '2026-06', '43004-4639'];
  expect(values.map(inWords)).toEqual(['June 1, 2026', ...values.slice(1)]);
});

describe('the history of a license on the website', () => {
  const change = { date: '2026-11-20', kind: 'changed', cause: 'data', fields: {} } as const;
  const known = { since: '2026-11-01', date: '2026-11-21', gaps: [] };
  const textOf = (...changes: Parameters<typeof history>[0]) => textWith([], ...changes);
  const textWith = (gaps: Parameters<typeof history>[1]['gaps'], ...changes: Parameters<typeof history>[0]) =>
    pageText(history(changes, { ...known, gaps }));

  const values = (before: string | null, after: string | null) => ({ before, after });
  const changedFrom = (before: string, after: string) => ({ city: values(before, after) });
  const ERASED = { city: { ...values(null, null), erased: true as const } };
  test.each([
    [changedFrom('LIMA', 'AKRON'), 'City changed from LIMA to AKRON.'],
    [{ expiry_date: values(null, '2027-10-31') }, 'Expiry date: now October 31, 2027.'],
    [{ city: values('LIMA', null) }, 'City: no longer given (it was LIMA).'],
    [ERASED, 'City changed. The State no longer publishes the values.'],
    [{ 'extra_data.Compact Eligibility': values('a', 'b') }, 'Compact Eligibility changed from a to b.'],
    [
      { 'extra_data.Endorsement Sub Status 1': values('Active', 'Suspended') },
      'Endorsement 1: Sub Status changed from Active to Suspended.',
    ],
  ])('has %j as a sentence', (fields, sentence) => {
    expect(textOf({ ...change, fields })).toContain(sentence);
  });

  test.each([
    ['added', 'data', 'The license appeared in the dataset.'],
    ['removed', 'rollback', 'went back to an earlier dataset. The board did not do this.'],
    ['added', 'release', 'A new version of this service'],
  ] as const)('says why a license was %s by %s', (kind, cause, sentence) => {
    expect(textOf({ ...change, kind, cause })).toContain(sentence);
  });

  test('says that a row could not be read, and not that the license left the dataset or appeared in it', () => {
    const unread = { ...change, kind: 'removed', cause: 'rejected_row' } as const;
    expect(lastChange([unread])).toBe('November 20, 2026: The State’s row could not be read on that day.');
    expect(lastChange([{ ...unread, kind: 'added' }])).toBe(
      'November 20, 2026: The State’s row can be read again. Changes while it could not be read are not known here.',
    );
  });

  test('says between which datasets nothing changed, and of which changes nothing is known', () => {
    expect(textOf()).toContain(
      'No change between the State’s data of November 1, 2026 and of November 21, 2026.',
    );
    expect(textOf(change)).toContain('Changes before November 1, 2026 are not known here.');
    expect(String(history([], { ...known, since: known.date }))).not.toContain('No change');
  });

  test('says for which time changes are not known, and never that nothing changed then', () => {
    const gaps = [{ after: '2026-11-05', before: '2026-11-09' }];
    expect(textWith(gaps)).toContain('No change is known between');
    expect(textWith(gaps)).not.toContain('No change between');
    for (const text of [textWith(gaps), textWith(gaps, change)])
      expect(text).toContain('Changes between November 5, 2026 and November 9, 2026 are not known here.');
  });

  describe('with publications that were withdrawn', () => {
    const day = (day: number) => `2026-11-${day}`;
    const status = (before: string, after: string) => ({ raw_status: values(before, after) });
    const suspended = status('Active', 'Active - Suspended');
    const active = status('Active - Suspended', 'Active');
    const BACK = 'This service went back to an earlier dataset. The board did not do this.';
    const bad = { ...change, date: day(21), fields: suspended, withdrawn: true as const };
    const back = { ...change, date: day(20), cause: 'rollback', fields: active } as const;
    const asRemoved = (each: typeof back | typeof bad) =>
      ({ ...each, kind: each === back ? 'added' : 'removed' }) as const;
    const entriesOf = (...changes: Parameters<typeof history>[0]) =>
      [...String(history(changes, known)).matchAll(/<li.*?<\/li>/gs)].map(([entry]) => pageText(entry));

    const undone = [
      { ...back, date: day(21), fields: suspended },
      { ...back, withdrawn: true as const },
    ];
    const moved = { ...back, fields: { ...active, ...changedFrom('AKRON', 'LIMA') } };
    const unread = { ...bad, date: day(22), kind: 'removed' as const, fields: {} };
    const later = { ...change, date: day(22), fields: changedFrom('LIMA', 'AKRON') };
    const ACTIVE = `November 20, 2026 Status changed from Active - Suspended to Active. ${BACK}`;

    test.each<[string, Parameters<typeof history>[0], string[]]>([
      ['it and its rollback leave nothing', [back, bad], []],
      ['twice the same leaves nothing', [back, bad, back, bad], []],
      ['a license that it did not have', [back, bad].map(asRemoved), []],
      [
        'a rollback that is undone is not told',
        [...undone, { ...change, date: day(21), fields: suspended }],
        ['November 21, 2026 Status changed from Active to Active - Suspended.'],
      ],
      [
        'what it undid is not known',
        [moved, bad],
        [`November 20, 2026 City changed from AKRON to LIMA. ${BACK}`],
      ],
      ['nothing of what it undid is known', [back], [ACTIVE]],
      [
        'what the State says later is told',
        [later, back, unread, bad],
        ['November 22, 2026 City changed from LIMA to AKRON.'],
      ],
    ])('%s', (_what, changes, expected) => {
      expect(entriesOf(...changes)).toEqual(expected);
    });
  });

  test('tells of a license whose number the State writes in another way what else changed, not that it left', () => {
    const number = (text: string) => ({ license_number: values(text, text) });
    const raw_status = values('Active', 'Active - Suspended');
    const gone = { ...change, kind: 'removed', renumbered_to: 'RN-1' } as const;
    const here = { ...change, kind: 'added', renumbered_from: 'RN.1' } as const;
    const changes: Parameters<typeof history>[0] = [
      { ...gone, fields: { ...number('RN.1'), raw_status } },
      { ...here, fields: { ...number('RN-1'), raw_status, city: values(null, 'LIMA') } },
      { ...change, date: '2026-11-10', fields: { expiry_date: values(null, '2027-10-31') } },
    ];
    const text = textOf(...changes);
    expect(text).toContain('Status changed from Active to Active - Suspended.');
    expect(text).toMatch(/License number changed from RN\.1 to RN-1\..*Expiry date: now October 31, 2027\./);
    expect(text).not.toMatch(/LIMA|appeared|no longer/);
  });

  test('has the last change in a sentence, with why where the board did not do it', () => {
    const city = { ...change, fields: changedFrom('LIMA', 'AKRON') };
    const release = { ...city, date: '2026-11-21', cause: 'release' } as const;
    const WHY = 'A new version of this service reads the State’s data differently. The data is the same.';
    expect(lastChange([{ ...city, withdrawn: true }])).toBeUndefined();
    expect(lastChange([city])).toBe('November 20, 2026: City changed from LIMA to AKRON.');
    expect(lastChange([release, city])).toBe(`November 21, 2026: City changed from LIMA to AKRON. ${WHY}`);
  });

  test('has each fact once', () => {
    const shown = { raw_status: 2, county: 3, 'extra_data.Issue Date': 5 };
    expect(withoutTwins({ status: 1, 'extra_data.County': 4, ...shown })).toEqual(shown);
  });
});
