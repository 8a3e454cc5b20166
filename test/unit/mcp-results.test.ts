import { describe, expect, test } from '@jest/globals';
import type { Origin } from '../../src/answers/origin.ts';
import { type View, viewOf } from '../../src/answers/view.ts';
import type { LicenseRecord } from '../../src/licenses/license.ts';
import type { LookupOutcome, Miss, NotFoundReason } from '../../src/licenses/lookup.ts';
import { type LookupCall, lookupResult, lookupToolResult } from '../../src/mcp/results.ts';
import { times } from '../support/fixtures.ts';
import { ANSWERED_LICENSE, storedLicense } from '../support/records.ts';

const DATE = '2026-11-20';
const SEARCHED = { license_number: 'RN.123456', last_name: 'Example' };
const AUTHORITY =
  'The data is the State of Ohio’s daily dataset, not primary-source verification; the issuing board is the authority.';

const NOT_GIVEN =
  'board_action null is not given by the State: it does not mean that the board has not acted.';

const BY_NUMBER = { by: 'number', number: 'RN 123', businessOnly: false } as const;

/** The result, which is one that the tools' schema allows. */
function result(
  outcome: LookupOutcome,
  call: Partial<LookupCall & Pick<View, 'foundBy'>> = {},
  origin: Partial<Origin> = {},
) {
  const { foundBy, ...rest } = call;
  const from = { publication: 'p', date: DATE, isSampleData: false, today: '2026-11-21', ...origin };
  const answered = lookupToolResult(viewOf(outcome, from, foundBy), {
    ...{ searched: SEARCHED, unusedFilters: ['first_name', 'city'], limit: 100, counts: undefined, ...rest },
  });
  expect(lookupResult.parse(answered)).toEqual(answered);
  expect(answered).toMatchObject({ data_as_of: DATE, data_age_days: 1, searched: rest.searched ?? SEARCHED });
  expect(answered.message.endsWith(AUTHORITY)).toBe(true);
  return answered;
}

function record(fields: Partial<LicenseRecord> = {}) {
  return { outcome: 'found', record: storedLicense(fields) } as const;
}

describe('the tool result for a number that is found', () => {
  test('says that a board action is not given, and keeps attributes that say something else', () => {
    const extra = { County: 'Somewhere', Other: 'FRANKLIN' };
    const fields = { 'License Type': ANSWERED_LICENSE.license_type ?? '', 'Street Address': '1 MAIN ST' };
    const { licenses, message, ...more } = result(record({ extra_data: { ...extra, ...fields } }));
    expect(licenses).toMatchObject([{ board_action: null, county: 'FRANKLIN', street: '1 MAIN ST' }]);
    expect(licenses?.map(({ extra_data }) => extra_data)).toStrictEqual([extra]);
    expect(message).toBe(`${NOT_GIVEN} ${AUTHORITY}`);
    expect(more).toStrictEqual({
      ...{ outcome: 'found', data_as_of: DATE, data_age_days: 1, searched: SEARCHED },
      ...{ count: 1, truncated: false, did_you_mean: [] },
    });
  });

  test.each([
    ['SMITH-JONES, MARY', 'Jones', true],
    ['SMITH-JONES, MARY', 'smith jones', false],
    ['SMITH-JONES, MARY', ' ', false],
    ['SMITH-JONES III, MARY', 'Smith-Jones', false],
    ['ST. JOHN-SMITH, ANN', 'Saint John Smith', false],
    ["O'DELL, KATHLEEN", 'Odell', false],
    ['DE LA CRUZ GARCIA, ANA', 'Garcia', true],
    ['EXAMPLE PHARMACY LLC', 'Example Pharm', false],
  ])(
    'of %s, searched as %s, says whether half of the surname matched: %s',
    (full_name, last_name, isHalf) => {
      const license = record({ full_name, extra_data: { 'Board Action': 'No' } });
      const { message } = result({ ...license, nameMatch: true }, { searched: { last_name } });
      const half = `Matched by one half of the surname: the holder is ${full_name}. `;
      expect(message).toBe(`${isHalf ? half : ''}${AUTHORITY}`);
    },
  );

  test.each([
    [false, 'No license of the Nursing Board has that name. Next, search by the name that was given'],
    [undefined, 'Next, search by the name that was given'],
    [true, 'search by the name.'],
  ])('with another name says what to do next (the name is at the board: %s)', (isNameAtBoard, said) => {
    const sent = { nameMatch: false, ...(isNameAtBoard !== undefined && { isNameAtBoard }) };
    expect(result({ ...record(), ...sent }).message).toContain(said);
  });

  test('has every caution in one message, with the notice about sample data first', () => {
    const license = record({
      ...{ status: 'ACTIVE', raw_status: 'Active - Probation', expiry_date: '2026-11-20' },
      extra_data: { 'Board Action': 'Yes' },
    });
    const outcome = { ...license, nameMatch: false, isNameAtBoard: true };
    const { licenses, message } = result(outcome, { foundBy: 'name' }, { isSampleData: true });
    expect(licenses).toMatchObject([{ name_match: false, name_at_board: true, board_action: 'Yes' }]);
    expect(message).toBe(
      [
        'SAMPLE DATA: generated, no real person or business.',
        'This is the only match: compare the whole name, the city and the type to be sure that it is the right one.',
        'The name given is not the holder’s: the number may be mistyped, so do not assume that it is that person’s license.',
        'Another license of the Nursing Board has that name: search by the name.',
        'Report the full status: Active - Probation.',
        'The State lists it as active although its expiry date has passed: report both.',
        'The board has acted on it. Ask the board for details.',
        AUTHORITY,
      ].join(' '),
    );
  });
});

const miss = (fields: Partial<Miss>) =>
  result({ ...{ outcome: 'none', reason: 'unknown', request: BY_NUMBER, didYouMean: [] }, ...fields });

test('the tool result for nothing found by number does not suggest the number that was asked for', () => {
  const ofTheName = ['RN.0123456'];
  const didYouMean = ['RN.123456', ...ofTheName];
  expect(miss({ reason: 'other_board', didYouMean, ofTheName, boards: ['Nursing Board'] })).toMatchObject({
    did_you_mean: ofTheName,
    did_you_mean_name_match: [true],
  });
});

test('the tool result for nothing found by number says whose the similar numbers are, if a name was sent', () => {
  const answered = miss({ didYouMean: ['RN.123', 'RN.0123'], ofTheName: ['RN.0123'] });
  expect(answered.did_you_mean_name_match).toEqual([false, true]);
  expect(answered.message).toContain('RN.0123 is under that name.');
});

const SEARCH = 'Next, search by name: search_licenses_by_name, or verify_business_license for a business.';
test.each<[NotFoundReason, 'not_found' | 'ambiguous', string]>([
  ['unknown', 'not_found', `Similar numbers that exist: RN.123, RN.0123. ${SEARCH}`],
  ['ambiguous', 'ambiguous', 'Send it as the board writes it.'],
  ['other_board', 'not_found', 'Look it up there.'],
  ['not_a_business', 'not_found', 'verify_license looks it up.'],
])('a miss by number (%s) is %s, and says what to do', (reason, outcome, advice) => {
  const didYouMean = ['RN.123', 'RN.0123'];
  const { message, ...answered } = miss({ reason, didYouMean, boards: ['Nursing Board', 'Medical Board'] });
  expect(answered).toMatchObject({ outcome, reason, count: 0, licenses: [], did_you_mean: didYouMean });
  expect(message).toContain(`${advice} not_found never means that somebody is unlicensed. ${AUTHORITY}`);
});

test.each([{ licenses: [{}] }, { groups: [{}] }])('the schema of results does not allow %j', (part) => {
  expect(() => lookupResult.parse({ ...miss({}), ...part })).toThrow();
});

describe('the tool result for several matches', () => {
  const extra_data = { 'Board Action': 'No', 'Street Address': '1 MAIN ST' };
  const records = times(57, (number) =>
    storedLicense({ license_number: `RN.${number}`, city: number === 9 ? 'DAYTON' : 'COLUMBUS', extra_data }),
  );
  const several = { outcome: 'several', records, truncated: false } as const;
  const counts = { total: 57, byStatus: new Map([['ACTIVE', 57]]) };
  const publicUrl = 'https://licenses.example';

  test('lists the fields that distinguish licenses, what all have in common once, and no addresses', () => {
    const { licenses, count, truncated, message, ...more } = result(several, { counts }, { publicUrl });
    expect([licenses?.length, count, truncated]).toEqual([57, 57, false]);
    expect(more).toMatchObject({ total: 57, by_status: { ACTIVE: 57 } });
    expect(licenses?.slice(7, 9)).toStrictEqual([
      { license_number: 'RN.8', full_name: 'EXAMPLE, JANE Q', city: 'COLUMBUS' },
      { license_number: 'RN.9', full_name: 'EXAMPLE, JANE Q', city: 'DAYTON' },
    ]);
    const { board, license_type, status, raw_status, expiry_date, state, county } = ANSWERED_LICENSE;
    expect(more.in_common).toStrictEqual({
      ...{ board, license_type, status, raw_status, expiry_date, state, county },
      ...{ cautions: [], notes: [], board_action: 'No', street: '1 MAIN ST' },
    });
    expect(message).toBe(
      `57 licenses match: check which one is meant, and ask if that is not clear. verify_license with its number gives the whole record. ${AUTHORITY}`,
    );
  });

  const drawn = (from: readonly string[], number: number, step: number) =>
    from[(number * step) % from.length] ?? '';
  /** The fields of a drawn status. */
  const statusOf = (raw_status: string) => ({
    raw_status,
    status: raw_status.split(' - ')[0]?.toUpperCase() ?? null,
  });
  const bytesOfBothForms = (content: object) => {
    const text = JSON.stringify(content);
    return Buffer.byteLength(
      JSON.stringify({ content: [{ type: 'text', text }], structuredContent: content }),
    );
  };

  test.each([
    ['WESTON CARE LLC', 'street'],
    ['WESTON HEALTH SERVICES OF OHIO LLC D.B.A CARE', 'street, state'],
  ])('of %s at several boards come as a table without %s, in less than 30 KB', (name, omitted) => {
    const BOARDS = ['Board of Pharmacy', 'Cosmetology and Barber Board', 'Motor Vehicle Repair Board'];
    const TYPES = ['Terminal Distributor of Dangerous Drugs', 'Salon', null];
    const shops = times(100, (number) =>
      storedLicense({
        license_number: `02${9_000_000 + number * 977}`,
        full_name: `${name} #${number}`,
        ...{ board: drawn(BOARDS, number, 1), license_type: TYPES[number % 3] ?? null },
        ...statusOf(drawn(['Active', 'Inactive - Expired', 'Closed', 'Active - Probation'], number, 3)),
        expiry_date: `20${10 + (number % 20)}-09-30`,
        ...{ city: drawn(['WASHINGTON COURT HOUSE', 'LIMA'], number, 1), state: number % 9 ? 'OH' : 'MI' },
        county: drawn(['FAYETTE', 'ALLEN'], number, 1),
        extra_data: { 'Board Action': 'No', 'Street Address': `${number} NORTH MAIN STREET SUITE 200` },
      }),
    );
    const { message, ...answered } = result(
      { outcome: 'several', records: shops, truncated: true },
      { counts },
    );
    const columns = ['license_number', 'full_name', 'expiry_date', 'city', 'state', 'county', 'street'];
    expect(answered.columns).toEqual(columns.filter((column) => !omitted.includes(column)));
    expect(message).toContain(`The rows omit ${omitted}: verify_license has them.`);
    const withoutType = answered.groups?.flatMap(
      ({ types }) => types['Not given by the State, Motor Vehicle Repair Board'] ?? [],
    );
    expect(withoutType?.map(([license_number]) => license_number).toSorted()).toEqual(
      shops.filter(({ license_type }) => license_type === null).map(({ license_number }) => license_number),
    );
    expect(bytesOfBothForms({ ...answered, message })).toBeLessThan(30_000);
  });

  test('with little in common come as a table that loses no field, in less than 30 KB with both forms', () => {
    const TYPES =
      'Registered Nurse (RN)|Licensed Practical Nurse (LPN)|Dialysis Technician|Community Health Worker';
    const STATUSES =
      'Active|Inactive - Lapsed|Inactive - Expired|Closed|Active - Probation|Inactive|In Review';
    const PLACES = 'Cincinnati|Broadview Heights|Olmsted Falls|Columbus|Kalamazoo|Wilmington|East Palestine';
    const mixed = times(100, (number) =>
      storedLicense({
        license_number: `RN.${100_000 + number}`,
        full_name: `SMITH, ${drawn(['MATTHEW', 'JENNIFER VIRGINIA', 'KIM A'], number, 1)} ${number}`,
        license_type: drawn(TYPES.split('|'), number, 1),
        ...statusOf(drawn(STATUSES.split('|'), number, 3)),
        expiry_date: number === 7 ? null : `20${10 + (number % 20)}-0${1 + (number % 9)}-15`,
        city: drawn(PLACES.split('|'), number, 2),
        county: drawn(['Hamilton', 'Franklin', 'Kalamazoo'], number, 1),
        state: number % 9 === 0 ? 'MI' : 'OH',
        extra_data: { 'Board Action': number % 13 === 0 ? 'Yes' : 'No' },
      }),
    );
    const outcome = { outcome: 'several', records: mixed, truncated: false } as const;
    const { licenses, columns = [], groups = [], in_common, ...more } = result(outcome, { counts });
    expect([licenses, more.count]).toEqual([undefined, 100]);
    expect(columns).toEqual(['license_number', 'full_name', 'expiry_date', 'city', 'state', 'county']);
    expect(more.message).toContain(`98 have cautions: tell them with the license. ${AUTHORITY}`);
    const rows = groups.flatMap(({ types, ...standing }) =>
      Object.entries(types).flatMap(([license_type, cells]) =>
        cells.map((row) => ({
          ...{ ...in_common, ...standing, license_type },
          ...Object.fromEntries(row.map((cell, at) => [columns[at], cell])),
        })),
      ),
    );
    const each = mixed.map((record) => {
      const [license = {}] = result({ outcome: 'found', record }).licenses ?? [];
      const { days_until_expiry: _days, issue_date: _issued, extra_data: _extra, ...fields } = license;
      return fields;
    });
    expect([rows.length, rows]).toEqual([100, expect.arrayContaining(each)]);
    expect(bytesOfBothForms({ columns, groups, in_common, ...more })).toBeLessThan(30_000);
  });

  test('has no field in common that some do not have', () => {
    const shops = [{}, { 'Street Address': '9 ELM ST' }].map((extra) => storedLicense({ extra_data: extra }));
    const answered = result({ outcome: 'several', records: shops, truncated: false }, { counts });
    expect(answered.in_common).not.toHaveProperty('street');
    expect(answered.licenses?.map((each) => Object.keys(each).slice(2))).toEqual([[], ['street']]);
    expect(answered.message).toContain(NOT_GIVEN);
  });

  test('says how many matched by one half of the surname', () => {
    const named = ['SMITH, A', 'SMITH-JONES, B'].map((full_name) => storedLicense({ full_name, extra_data }));
    const smiths = { outcome: 'several', records: named, truncated: false } as const;
    expect(result(smiths, { counts, searched: { last_name: 'Smith' } }).message).toContain(
      'Matched by one half of the surname in 1 of those listed.',
    );
  });

  test.each([
    [false, 57, 10],
    [true, 342, 57],
    [true, 342, 50],
  ])(
    'counts all, and lists as many as the limit (cut off: %s, %s match, %s listed)',
    (isCutOff, total, limit) => {
      const all = { total, byStatus: new Map([['ACTIVE', total]]) };
      const answered = result(
        { ...several, truncated: isCutOff },
        { limit: isCutOff && limit === 57 ? 100 : limit, counts: all },
      );
      expect(answered).toMatchObject({ count: limit, total, by_status: { ACTIVE: total }, truncated: true });
      expect(answered.licenses?.map((each) => each.license_number)).toEqual(
        records.slice(0, limit).map(({ license_number }) => license_number),
      );
      const higher = limit === 57 ? '' : ' A higher limit (up to 100) lists more.';
      expect(answered.message).toBe(
        `${total} licenses match (${limit} listed, exact names first); narrow the search by first_name, city.${higher} ${AUTHORITY}`,
      );
    },
  );

  test('does not advise to narrow the search if all filters are used', () => {
    const { message } = result({ ...several, truncated: true }, { unusedFilters: [], counts });
    expect(message).toBe(`57 licenses match (57 listed, exact names first). ${AUTHORITY}`);
  });
});
