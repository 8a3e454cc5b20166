import { describe, expect, test } from '@jest/globals';
import { REQUEST_WORDS } from '../../src/answers/words.ts';
import { BadRequestError, readLookup, type TypedName } from '../../src/licenses/lookup.ts';
import { boardOfCode } from '../support/boards.ts';

const NURSING = boardOfCode('NUR');
const NO_FILTERS = { license_type: undefined, status: undefined, city: undefined, county: undefined };

const BOARD_REQUIRED = 'board is required: the exact name of one of the boards at GET /lookup/boards.';
const NOT_AN_OBJECT = 'The body must be a JSON object.';
const NOT_BUSINESS = 'search_type may only be "business"; leave it out to look for a person.';
const ADD_SEARCH_TYPE = 'To search by business_name, add "search_type": "business".';
const NEEDS_BUSINESS = 'A business search needs business_name or license_number.';
const NEEDS_SOMETHING = 'Give license_number, or last_name, or search_type "business" with business_name.';
const NEEDS_LAST_NAME = 'A search by name needs last_name; first_name only narrows it.';

/** The lookup that the REST API reads in a body. */
function verifyRequest(body: unknown) {
  return readLookup(body, REQUEST_WORDS.rest);
}

/** The words with which a body is refused as a bad request. */
function refusal(ask: () => unknown): string {
  try {
    ask();
  } catch (error) {
    if (error instanceof BadRequestError) return error.message;
    throw error;
  }
  throw new Error('The body was not refused.');
}

describe('a body with a number', () => {
  const number = { license_number: 'RN.123456' };
  const business = { ...number, search_type: 'business' };

  test.each<[string, object, boolean, TypedName | undefined]>([
    ['blanks around the number', { license_number: '  RN.123456\t' }, false, undefined],
    ['what nobody sees', { license_number: '\u200eRN.\u00ad123456 \u0000' }, false, undefined],
    ['a board with what nobody sees', { ...number, board: 'Nursing\u200b Board\ufeff' }, false, undefined],
    ['a name that nobody sees', { ...number, last_name: '\u200b' }, false, undefined],
    ['filters, which are ignored', { ...number, license_type: 'RN', city: 'Lima' }, false, undefined],
    ['search_type business', business, true, undefined],
    [
      'a name',
      { ...number, last_name: ' Smith ', first_name: 'Ann' },
      false,
      { lastName: 'Smith', firstName: 'Ann' },
    ],
    ['a last name alone', { ...number, last_name: 'Smith', first_name: ' ' }, false, { lastName: 'Smith' }],
    ['a first name alone', { ...number, first_name: 'Ann' }, false, { firstName: 'Ann' }],
    ["a business's name", { ...business, business_name: 'Acme' }, true, { businessName: 'Acme' }],
    [
      "a business's name and a person's, which is ignored",
      { ...business, first_name: 'Ann', last_name: 'Smith', business_name: 'Acme' },
      true,
      { businessName: 'Acme' },
    ],
    ["a person's name for a business", { ...business, last_name: 'Smith' }, true, { lastName: 'Smith' }],
    [
      'blanks for the rest',
      { ...number, last_name: '', business_name: ' ', search_type: '' },
      false,
      undefined,
    ],
  ])('asks for the number: %s', (_what, fields, businessOnly, name) => {
    expect(verifyRequest({ board: 'Nursing Board', ...fields })).toEqual({
      by: 'number',
      number: 'RN.123456',
      board: NURSING,
      businessOnly,
      name,
    });
  });
});

test.each(['\u200b', ' \ufeff\u00ad ', '\u0000'])(
  'a number that nobody sees counts as absent: %j',
  (number) => {
    const body = { board: 'Nursing Board', license_number: number };
    expect(refusal(() => verifyRequest(body))).toBe(NEEDS_SOMETHING);
    expect(verifyRequest({ ...body, last_name: 'Smi\u200bth' })).toMatchObject({
      by: 'person',
      lastName: 'Smith',
    });
  },
);

describe('a body with a name', () => {
  test('asks for a person by last name', () => {
    expect(verifyRequest({ board: 'Nursing Board', last_name: "O'Brien" })).toEqual({
      by: 'person',
      board: NURSING,
      lastName: "O'Brien",
      firstName: undefined,
      filters: NO_FILTERS,
    });
  });

  test('asks for a person by names and filters, without the blanks around them', () => {
    expect(
      verifyRequest({
        board: 'Nursing Board',
        last_name: ' Smith ',
        first_name: ' Jo ',
        license_type: 'Registered Nurse (RN)',
        status: 'Active',
        city: ' Lima',
        county: 'Allen ',
      }),
    ).toEqual({
      by: 'person',
      board: NURSING,
      lastName: 'Smith',
      firstName: 'Jo',
      filters: { license_type: 'Registered Nurse (RN)', status: 'Active', city: 'Lima', county: 'Allen' },
    });
  });

  test.each<[string, object]>([
    [
      'blank',
      { license_number: ' ', first_name: '', search_type: '\t', business_name: '\n', status: '', city: ' ' },
    ],
    ['null', { license_number: null, first_name: null, search_type: null, business_name: null, city: null }],
    ['unknown', { cached: true, page: 3, Last_Name: 'Jones', __proto__: { city: 'Lima' } }],
  ])('is read as if fields were absent that are %s', (_what, ignored) => {
    const body = { board: 'Nursing Board', last_name: 'Smith' };
    expect(verifyRequest({ ...body, ...ignored })).toEqual(verifyRequest(body));
  });

  test('asks for a business by name and filters if search_type is business', () => {
    expect(
      verifyRequest({
        board: 'Board of Pharmacy',
        search_type: 'business',
        business_name: 'Acme',
        last_name: 'Smith',
        city: 'Lima',
      }),
    ).toEqual({
      by: 'business',
      board: boardOfCode('PRX'),
      name: 'Acme',
      filters: { ...NO_FILTERS, city: 'Lima' },
    });
  });
});

describe('a body is refused', () => {
  const board = 'Nursing Board';

  test.each<[string, unknown, string]>([
    ['that is absent', undefined, NOT_AN_OBJECT],
    ['that is null', null, NOT_AN_OBJECT],
    ['that is a list', [{ board }], NOT_AN_OBJECT],
    ['that is a string', 'Nursing Board', NOT_AN_OBJECT],
    ['without a board', { license_number: 'RN.1' }, BOARD_REQUIRED],
    ['with a board that is null', { board: null, license_number: 'RN.1' }, BOARD_REQUIRED],
    ['with a blank board', { board: ' ', license_number: 'RN.1' }, BOARD_REQUIRED],
    ['with nothing but a board', { board }, NEEDS_SOMETHING],
    ['with blanks beside the board', { board, license_number: '', last_name: ' ' }, NEEDS_SOMETHING],
    ['with null beside the board', { board, license_number: null, last_name: null }, NEEDS_SOMETHING],
    ['with filters alone', { board, city: 'Lima' }, NEEDS_SOMETHING],
    ['with a first name alone', { board, first_name: 'Ann', last_name: ' ' }, NEEDS_LAST_NAME],
    [
      'with a business name and a blank search type',
      { board, business_name: 'Acme', search_type: ' ' },
      ADD_SEARCH_TYPE,
    ],
    [
      'with a business name beside a number, without search type',
      { board, business_name: 'Acme', license_number: 'RN.1' },
      ADD_SEARCH_TYPE,
    ],
    [
      'with a business search for blanks',
      { board, search_type: 'business', business_name: ' ', license_number: '' },
      NEEDS_BUSINESS,
    ],
    [
      'with a business search for a person',
      { board, search_type: 'business', last_name: 'Smith' },
      NEEDS_BUSINESS,
    ],
    ['with another search type', { board, search_type: 'individual', last_name: 'Smith' }, NOT_BUSINESS],
    [
      'with a search type in upper case',
      { board, search_type: 'BUSINESS', business_name: 'A' },
      NOT_BUSINESS,
    ],
  ])('%s', (_what, body, words) => {
    expect(refusal(() => verifyRequest(body))).toBe(words);
  });

  test.each([
    ['nursing board', 'Nursing Board'],
    ['Nursing Board ', 'Nursing Board'],
    ['Board of Pharmcy', 'Board of Pharmacy'],
  ])('with a board that is not exactly the name of one, and the nearest is named: %j', (label, nearest) => {
    expect(refusal(() => verifyRequest({ board: label, license_number: 'RN.1' }))).toBe(
      `No board has exactly the name given; the nearest is "${nearest}". GET /lookup/boards lists all.`,
    );
  });

  test('without repeating the board given, which may be anything', () => {
    const script = '<script>alert(1)</script>';
    expect(refusal(() => verifyRequest({ board: script, license_number: 'RN.1' }))).not.toContain('script');
  });

  test.each([
    'board',
    'license_number',
    'last_name',
    'first_name',
    'search_type',
    'business_name',
    'license_type',
    'status',
    'city',
    'county',
  ])('with a %s that is no string or has more than 200 characters', (field) => {
    const body = { board, license_number: 'RN.1' };
    for (const value of [1, true, ['x'], { x: 'y' }]) {
      expect(refusal(() => verifyRequest({ ...body, [field]: value }))).toBe(`${field} must be a string.`);
    }
    expect(refusal(() => verifyRequest({ ...body, [field]: 'x'.repeat(201) }))).toBe(
      `${field} must have at most 200 characters.`,
    );
  });
});

test('fields of 200 characters are accepted', () => {
  const long = 'x'.repeat(200);
  expect(verifyRequest({ board: 'Nursing Board', last_name: long, city: long })).toMatchObject({
    lastName: long,
    filters: { city: long },
  });
});
