import { describe, expect, test } from '@jest/globals';
import { REQUEST_WORDS } from '../../src/answers/words.ts';
import { BadRequestError, lookupFields, problemOf, readLookup } from '../../src/licenses/lookup.ts';
import { verifies } from '../support/verifies.ts';

/** The lookup that the REST API reads in a body, as JSON without the board's own fields; or why it is refused. */
function asked(body: unknown): string {
  try {
    const { board, ...lookup } = readLookup(body, REQUEST_WORDS.rest);
    return JSON.stringify({ board: board?.code, ...lookup });
  } catch (error) {
    if (error instanceof BadRequestError) return error.message;
    throw error;
  }
}

const board = 'Nursing Board';
const number = { license_number: 'RN.123456' };
const business = { search_type: 'business' };
const acme = { ...business, business_name: 'Acme' };

const byNumber = { board: 'NUR', by: 'number', number: 'RN.123456', businessOnly: false };
const smith = { board: 'NUR', by: 'person', lastName: 'Smith', filters: {} };
const ofBusiness = { ...byNumber, businessOnly: true };
/** A number with the name that was sent along. */
const named = (name: object, asked: object = byNumber) => ({ ...asked, name });
const filters = { license_type: 'Registered Nurse (RN)', status: 'Active', city: 'Lima', county: 'Allen' };

const ASKED: readonly (readonly [object, object])[] = [
  [{ license_number: '  RN.123456\t' }, byNumber],
  // What nobody sees.
  [{ license_number: '\u200eRN.\u00ad123456 \u0000' }, byNumber],
  [{ ...number, board: 'Nursing\u200b Board\ufeff' }, byNumber],
  [{ ...number, last_name: '\u200b' }, byNumber],
  // Filters are ignored beside a number.
  [{ ...number, license_type: 'RN', city: 'Lima' }, byNumber],
  [{ ...number, last_name: '', business_name: ' ', search_type: '' }, byNumber],
  [{ ...number, ...business }, ofBusiness],
  [{ ...number, last_name: ' Smith ', first_name: 'Ann' }, named({ lastName: 'Smith', firstName: 'Ann' })],
  [{ ...number, last_name: 'Smith', first_name: ' ' }, named({ lastName: 'Smith' })],
  [{ ...number, first_name: 'Ann' }, named({ firstName: 'Ann' })],
  [{ ...number, ...acme }, named({ businessName: 'Acme' }, ofBusiness)],
  [{ ...number, ...acme, last_name: 'X' }, named({ businessName: 'Acme' }, ofBusiness)],
  [{ ...number, ...business, last_name: 'Smith' }, named({ lastName: 'Smith' }, ofBusiness)],
  [{ last_name: "O'Brien" }, { ...smith, lastName: "O'Brien" }],
  [
    { last_name: ' Smith ', first_name: ' Jo ', ...filters, city: ' Lima', county: 'Allen ' },
    { ...smith, firstName: 'Jo', filters },
  ],
  [
    { ...acme, board: 'Board of Pharmacy', last_name: 'Smith', city: 'Lima' },
    { board: 'PRX', by: 'business', name: 'Acme', filters: { city: 'Lima' } },
  ],
  // Blank, null and unknown fields are absent.
  [
    { last_name: 'Smith', license_number: ' ', first_name: '', search_type: '\t', business_name: '\n' },
    smith,
  ],
  [{ last_name: 'Smith', license_number: null, first_name: null, search_type: null, city: null }, smith],
  [{ last_name: 'Smith', cached: true, page: 3, Last_Name: 'Jones', __proto__: { city: 'Lima' } }, smith],
  // A field may have 200 characters.
  [{ last_name: 'x'.repeat(200) }, { ...smith, lastName: 'x'.repeat(200) }],
];

verifies(
  ['NUMBER-06', 'INPUT-02', 'INPUT-03'],
  'a body asks for what it says, with blank, null and unknown fields as absent',
  () => {
    for (const [fields, lookup] of ASKED)
      expect([fields, JSON.parse(asked({ board, ...fields }))]).toEqual([fields, lookup]);
  },
);

describe('a body is refused', () => {
  const NO_OBJECT = 'The body must be a JSON object.';
  const NO_BOARD = 'board is required: the exact name of one';
  const NO_NAME = 'Give license_number, or last_name,';
  const NO_BUSINESS = 'A business search needs business_name';
  const NO_TYPE = 'To search by business_name, add';
  const nearest = (name: string) => `No board has exactly the name given; the nearest is "${name}".`;
  const ONLY_BUSINESS = 'search_type may only be "business";';

  const REFUSED: readonly (readonly [unknown, string])[] = [
    [undefined, NO_OBJECT],
    [null, NO_OBJECT],
    [[{ board }], NO_OBJECT],
    ['Nursing Board', NO_OBJECT],
    [number, NO_BOARD],
    [{ ...number, board: null }, NO_BOARD],
    [{ ...number, board: ' ' }, NO_BOARD],
    [{ board }, NO_NAME],
    [{ board, license_number: '', last_name: ' ' }, NO_NAME],
    [{ board, license_number: null, last_name: null }, NO_NAME],
    [{ board, city: 'Lima' }, NO_NAME],
    [{ board, first_name: 'Ann', last_name: ' ' }, 'A search by name needs last_name;'],
    [{ board, business_name: 'Acme', search_type: ' ' }, NO_TYPE],
    [{ board, ...number, business_name: 'Acme' }, NO_TYPE],
    [{ board, ...business, business_name: ' ', license_number: '' }, NO_BUSINESS],
    [{ board, ...business, last_name: 'Smith' }, NO_BUSINESS],
    [{ board, search_type: 'individual', last_name: 'Smith' }, ONLY_BUSINESS],
    [{ board, search_type: 'BUSINESS', business_name: 'A' }, ONLY_BUSINESS],
    [{ ...number, board: 'nursing board' }, nearest('Nursing Board')],
    [{ ...number, board: 'Nursing Board ' }, nearest('Nursing Board')],
    [{ ...number, board: 'Board of Pharmcy' }, nearest('Board of Pharmacy')],
  ];

  verifies(
    ['LOOKUP-01', 'LOOKUP-04', 'LOOKUP-08', 'LOOKUP-09', 'BUSINESS-03', 'INPUT-04'],
    'if it is no lookup, saying what it must have',
    () => {
      for (const [body, words] of REFUSED)
        expect([body, asked(body).slice(0, words.length)]).toEqual([body, words]);
    },
  );

  test('without repeating the board given, which may be anything', () => {
    expect(asked({ ...number, board: '<script>alert(1)</script>' })).not.toContain('script');
  });

  test.each(lookupFields.keyof().options)(
    'with a %s that is no string or has more than 200 characters',
    (field) => {
      for (const value of [1, true, ['x'], { x: 'y' }])
        expect(asked({ board, ...number, [field]: value })).toBe(`${field} must be a string.`);
      const tooLong = `${field} must have at most 200 characters.`;
      expect(asked({ board, ...number, [field]: 'x'.repeat(201) })).toBe(tooLong);
    },
  );
});

const TYPES = new Map([
  ['Nursing Board', ['Registered Nurse (RN)']],
  ['Medical Board', ['Massage Therapist (MT)']],
]);
const NO_LETTER = 'must have a letter or a digit.';
const NO_SUCH_TYPE = 'The Nursing Board has no such license type. It has: Registered';

const PROBLEMS: readonly (readonly [object, string | undefined])[] = [
  [{ last_name: 'Smith', license_type: 'rn' }, undefined],
  [{ last_name: 'Smith', license_type: 'MT' }, NO_SUCH_TYPE],
  [{ last_name: '***' }, `last_name ${NO_LETTER}`],
  [{ last_name: 'Smith', first_name: '\u2122' }, `first_name ${NO_LETTER}`],
  [{ ...acme, city: '-' }, `city ${NO_LETTER}`],
  [{ ...acme, business_name: '&' }, `business_name ${NO_LETTER}`],
  [{ license_number: '-' }, undefined],
  [{ board: undefined, ...acme, license_type: 'Lemonade Stand' }, 'No board has this license type.'],
];

verifies(['INPUT-05', 'FILTERS-02'], 'a lookup can be made, or it is said what is wrong', () => {
  for (const [fields, problem] of PROBLEMS) {
    const read = readLookup({ board, ...fields }, { ...REQUEST_WORDS.rest, noBoard: () => undefined });
    expect([fields, problemOf(read, TYPES)?.slice(0, problem?.length)]).toEqual([fields, problem]);
  }
});
