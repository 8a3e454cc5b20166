import { describe, expect, test } from '@jest/globals';
import { BadRequestError } from '../../src/licenses/bad-request.ts';
import type { TypedName } from '../../src/licenses/lookup-request.ts';
import { boardNamed } from '../../src/rest/board-name.ts';
import { verifyRequest } from '../../src/rest/verify-request.ts';
import { boardOfCode } from '../support/boards.ts';

const NURSING = boardOfCode('NUR');
const PHARMACY = boardOfCode('PRX');
const NO_FILTERS = { license_type: undefined, status: undefined, city: undefined, county: undefined };

const BOARD_REQUIRED = 'board is required: the exact name of one of the boards at GET /lookup/boards.';
const NOT_AN_OBJECT = 'The body must be a JSON object.';
const NOT_BUSINESS = 'search_type may only be "business"; leave it out to look for a person.';
const ADD_SEARCH_TYPE = 'To search by business_name, add "search_type": "business".';
const NEEDS_BUSINESS = 'A business search needs business_name or license_number.';
const NEEDS_SOMETHING = 'Give license_number, or last_name, or search_type "business" with business_name.';
const NEEDS_LAST_NAME = 'A search by name needs last_name; first_name only narrows it.';

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

function nearest(name: string): string {
  return `No board has exactly the name given; the nearest is "${name}". GET /lookup/boards lists all.`;
}

describe('a number', () => {
  test.each<[string, object, boolean, TypedName | undefined]>([
    ['with its board', { license_number: 'RN.123456' }, false, undefined],
    ['with blanks around', { license_number: '  RN.123456\t' }, false, undefined],
    [
      'with license_type, as old clients of /lookup/cached send it',
      { license_number: 'RN.123456', license_type: 'RN' },
      false,
      undefined,
    ],
    ['of a business', { license_number: 'RN.123456', search_type: 'business' }, true, undefined],
    [
      'of a business with its name',
      { license_number: 'RN.123456', search_type: 'business', business_name: 'Acme' },
      true,
      { businessName: 'Acme' },
    ],
    [
      'with the name of its holder, and narrowing, which does not touch it',
      {
        license_number: 'RN.123456',
        last_name: 'Smith',
        first_name: 'Ann',
        city: 'Lima',
        county: 'Allen',
        status: 'Active',
      },
      false,
      { lastName: 'Smith', firstName: 'Ann' },
    ],
    [
      'with a last name alone, blanks around it',
      { license_number: 'RN.123456', last_name: ' Smith ', first_name: ' ' },
      false,
      { lastName: 'Smith' },
    ],
    [
      'with a first name alone, blanks around it',
      { license_number: 'RN.123456', first_name: ' Ann ', last_name: ' ' },
      false,
      { firstName: 'Ann' },
    ],
    [
      'of a business with a first name alone',
      { license_number: 'RN.123456', search_type: 'business', first_name: 'Ann' },
      true,
      { firstName: 'Ann' },
    ],
    [
      'of a business with its name and a first name, of which its own counts',
      { license_number: 'RN.123456', search_type: 'business', first_name: 'Ann', business_name: 'Acme' },
      true,
      { businessName: 'Acme' },
    ],
    [
      'of a business with a last name',
      { license_number: 'RN.123456', search_type: 'business', last_name: 'Smith' },
      true,
      { lastName: 'Smith' },
    ],
    [
      'of a business with its name and a last name, of which its own counts',
      { license_number: 'RN.123456', search_type: 'business', last_name: 'Smith', business_name: 'Acme' },
      true,
      { businessName: 'Acme' },
    ],
    [
      'of a business with a blank name and a last name',
      { license_number: 'RN.123456', search_type: 'business', last_name: 'Smith', business_name: ' ' },
      true,
      { lastName: 'Smith' },
    ],
    [
      'with blanks for the rest',
      { license_number: 'RN.123456', last_name: '', first_name: ' ', business_name: ' ', search_type: '' },
      false,
      undefined,
    ],
  ])('is looked up %s', (_what, fields, businessOnly, name) => {
    expect(verifyRequest({ board: 'Nursing Board', ...fields })).toEqual({
      by: 'number',
      number: 'RN.123456',
      board: NURSING,
      businessOnly,
      name,
    });
  });
});

describe('a person', () => {
  test('is looked up by last name', () => {
    expect(verifyRequest({ board: 'Nursing Board', last_name: "O'Brien" })).toEqual({
      by: 'person',
      board: NURSING,
      lastName: "O'Brien",
      firstName: undefined,
      filters: NO_FILTERS,
    });
  });

  test('is looked up by names and narrowing', () => {
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

  test('is looked up by what is not blank', () => {
    const blank = {
      license_number: ' ',
      first_name: '',
      search_type: '\t',
      business_name: '\n',
      status: '',
      city: ' ',
    };
    expect(verifyRequest({ board: 'Nursing Board', last_name: 'Smith', ...blank })).toEqual(
      verifyRequest({ board: 'Nursing Board', last_name: 'Smith' }),
    );
  });

  test('is looked up by what is not null', () => {
    const absent = {
      license_number: null,
      first_name: null,
      search_type: null,
      business_name: null,
      city: null,
    };
    expect(verifyRequest({ board: 'Nursing Board', last_name: 'Smith', ...absent })).toEqual(
      verifyRequest({ board: 'Nursing Board', last_name: 'Smith' }),
    );
  });

  test('is looked up whatever else the body has', () => {
    const more = { cached: true, page: 3, Last_Name: 'Jones', __proto__: { city: 'Lima' } };
    expect(verifyRequest({ board: 'Nursing Board', last_name: 'Smith', ...more })).toMatchObject({
      lastName: 'Smith',
      filters: NO_FILTERS,
    });
  });
});

describe('a business', () => {
  test('is looked up by name and narrowing', () => {
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
      board: PHARMACY,
      name: 'Acme',
      filters: { ...NO_FILTERS, city: 'Lima' },
    });
  });
});

describe('a body is refused', () => {
  test.each<[string, unknown, string]>([
    ['that is absent', undefined, NOT_AN_OBJECT],
    ['that is null', null, NOT_AN_OBJECT],
    ['that is a list', [{ board: 'Nursing Board' }], NOT_AN_OBJECT],
    ['that is a string', 'Nursing Board', NOT_AN_OBJECT],
    ['that is a number', 1, NOT_AN_OBJECT],
    ['that is empty', {}, BOARD_REQUIRED],
    ['without a board', { license_number: 'RN.1' }, BOARD_REQUIRED],
    ['with a board that is null', { board: null, license_number: 'RN.1' }, BOARD_REQUIRED],
    [
      'with null beside the board',
      { board: 'Nursing Board', license_number: null, last_name: null, search_type: null },
      NEEDS_SOMETHING,
    ],
    ['with a blank board', { board: ' ', license_number: 'RN.1' }, BOARD_REQUIRED],
    ['with nothing but a board', { board: 'Nursing Board' }, NEEDS_SOMETHING],
    [
      'with blanks beside the board',
      { board: 'Nursing Board', license_number: '', last_name: ' ' },
      NEEDS_SOMETHING,
    ],
    ['with narrowing alone', { board: 'Nursing Board', city: 'Lima' }, NEEDS_SOMETHING],
    ['with a first name alone', { board: 'Nursing Board', first_name: 'Ann' }, NEEDS_LAST_NAME],
    [
      'with a first name and a blank last name',
      { board: 'Nursing Board', first_name: 'Ann', last_name: ' ' },
      NEEDS_LAST_NAME,
    ],
    ['with a business name alone', { board: 'Nursing Board', business_name: 'Acme' }, ADD_SEARCH_TYPE],
    [
      'with a business name and a blank search type',
      { board: 'Nursing Board', business_name: 'Acme', search_type: ' ' },
      ADD_SEARCH_TYPE,
    ],
    [
      'with a business name beside a number',
      { board: 'Nursing Board', business_name: 'Acme', license_number: 'RN.1' },
      ADD_SEARCH_TYPE,
    ],
    [
      'with a business name beside a last name',
      { board: 'Nursing Board', business_name: 'Acme', last_name: 'Smith' },
      ADD_SEARCH_TYPE,
    ],
    [
      'with a business search for nothing',
      { board: 'Nursing Board', search_type: 'business' },
      NEEDS_BUSINESS,
    ],
    [
      'with a business search for blanks',
      { board: 'Nursing Board', search_type: 'business', business_name: ' ', license_number: '' },
      NEEDS_BUSINESS,
    ],
    [
      'with a business search for a person',
      { board: 'Nursing Board', search_type: 'business', last_name: 'Smith' },
      NEEDS_BUSINESS,
    ],
    [
      'with another search type',
      { board: 'Nursing Board', search_type: 'individual', last_name: 'Smith' },
      NOT_BUSINESS,
    ],
    [
      'with a search type in upper case',
      { board: 'Nursing Board', search_type: 'BUSINESS', business_name: 'A' },
      NOT_BUSINESS,
    ],
  ])('%s', (_what, body, words) => {
    expect(refusal(() => verifyRequest(body))).toBe(words);
  });

  test.each([
    ['nursing board', 'Nursing Board'],
    ['NURSING BOARD', 'Nursing Board'],
    ['Nursing Bord', 'Nursing Board'],
    ['Nursing Board ', 'Nursing Board'],
    [' Nursing Board', 'Nursing Board'],
    ['Nursing  Board', 'Nursing Board'],
    ['Board of Nursing', 'Nursing Board'],
    ['Pharmacy Board', 'Board of Pharmacy'],
    ['Board of Pharmcy', 'Board of Pharmacy'],
    ['State Medical Board', 'Medical Board'],
  ])('with the board %j, and the nearest is named', (board, name) => {
    expect(refusal(() => verifyRequest({ board, license_number: 'RN.1' }))).toBe(nearest(name));
  });

  test("with a board's code in place of its name", () => {
    expect(refusal(() => verifyRequest({ board: 'NUR', license_number: 'RN.1' }))).toMatch(
      /^No board has exactly the name given; the nearest is ".+"\./,
    );
  });

  test('without repeating the board given, which may be anything', () => {
    const board = '<script>alert(1)</script>';
    expect(refusal(() => verifyRequest({ board, license_number: 'RN.1' }))).not.toContain('script');
  });

  const FIELDS = [
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
  ];

  test.each(FIELDS)('with a %s that is no string', (field) => {
    const body = { board: 'Nursing Board', license_number: 'RN.1' };
    for (const value of [1, true, ['x'], { x: 'y' }]) {
      expect(refusal(() => verifyRequest({ ...body, [field]: value }))).toBe(`${field} must be a string.`);
    }
  });

  test.each(FIELDS)('with a %s of more than 200 characters', (field) => {
    const body = { board: 'Nursing Board', license_number: 'RN.1', [field]: 'x'.repeat(201) };
    expect(refusal(() => verifyRequest(body))).toBe(`${field} must have at most 200 characters.`);
  });

  test('not with fields of 200 characters', () => {
    const long = 'x'.repeat(200);
    expect(verifyRequest({ board: 'Nursing Board', last_name: long, city: long })).toMatchObject({
      lastName: long,
      filters: { city: long },
    });
  });
});

describe('boardNamed', () => {
  test('is the board of exactly the name', () => {
    expect(boardNamed('Board of Pharmacy')).toBe(PHARMACY);
  });

  test.each(['board of pharmacy', 'Board of Pharmacy ', 'Pharmacy Board'])(
    'refuses %j and names the nearest',
    (name) => {
      expect(refusal(() => boardNamed(name))).toBe(nearest('Board of Pharmacy'));
    },
  );
});
