import { describe, expect, test } from '@jest/globals';
import {
  BOARDS,
  boardByLabel,
  boardByName,
  boardByText,
  isLicenseTypeOf,
} from '../../src/licenses/boards.ts';
import { boardOfCode } from '../support/boards.ts';

describe('the catalog of boards', () => {
  test('has 24 boards, each with its own name and code', () => {
    expect(BOARDS).toHaveLength(24);
    expect(new Set(BOARDS.map(({ name }) => name)).size).toBe(24);
    expect(new Set(BOARDS.map(({ code }) => code)).size).toBe(24);
  });

  test('maps each name and each alias to its board', () => {
    for (const board of BOARDS) {
      for (const label of [board.name, ...board.aliases]) expect(boardByLabel(label)).toBe(board);
    }
  });

  test('has no license type of a board twice', () => {
    for (const { license_types: types } of BOARDS) {
      const names = types.map(({ name }) => name);
      expect(names).toEqual([...new Set(names)]);
    }
  });

  test('lets only types of the same board that are no endorsements themselves be endorsed', () => {
    const endorsements = BOARDS.flatMap((board) =>
      board.license_types.flatMap((type) => (type.endorses === undefined ? [] : [{ board, ...type }])),
    );
    expect(endorsements.map(({ prefix }) => prefix)).toEqual([
      'APRN.CNP.',
      'APRN.CNS.',
      'APRN.CNM.',
      'APRN.CRNA.',
      'ACUP-',
    ]);
    for (const { board, endorses } of endorsements) {
      const endorsed = board.license_types.find(({ name }) => name === endorses);
      expect(endorsed).toBeDefined();
      expect(endorsed?.endorses).toBeUndefined();
    }
  });

  test.each([
    ['NUR', 'Nursing Board'],
    ['COS', 'Cosmetology and Barber Board'],
    ['MED', 'Medical Board'],
    ['PRX', 'Board of Pharmacy'],
    ['PEP', 'Engineers and Surveyors Board'],
    ['DBH', 'Department of Behavioral Health'],
    ['SHP', 'Speech and Hearing Professionals Board'],
    ['ARC', 'Architects Board'],
    ['PSY', 'Psychology Board'],
    ['ELV', 'Div. of Industrial Compliance: Elevator'],
    ['MFH', 'Department of Commerce - Manufactured Homes Program'],
    ['MVR', 'Motor Vehicle Repair Board'],
  ])('calls %s as the BOARD column does: %s', (code, name) => {
    expect(boardOfCode(code).name).toBe(name);
  });
});

describe('the board of a name', () => {
  test('is found by exactly its name', () => {
    expect(boardByName('Nursing Board')).toBe(boardOfCode('NUR'));
  });

  test.each([
    'nursing board',
    'NURSING BOARD',
    'Nursing  Board',
    'Nursing Board ',
    'Board of Nursing',
    'NUR',
    '',
  ])('is not found by %j', (name) => {
    expect(boardByName(name)).toBeUndefined();
  });

  test.each(['constructor', '__proto__', 'toString'])(
    'is not found by %j, a property of every object',
    (name) => {
      expect(boardByName(name)).toBeUndefined();
      expect(boardByLabel(name)).toBeUndefined();
    },
  );
});

describe('the board of a label', () => {
  test.each([
    ['NURSING BOARD', 'NUR'],
    ['nursing-board', 'NUR'],
    [' Board of  Nursing ', 'NUR'],
    ['COUNSELOR, SOCIAL WORKER & MARRIAGE AND FAMILY THERAPIST BOARD', 'CSW'],
    ['Occupational Therapy Physical Therapy and Athletic Trainers Board', 'OPA'],
    ['Div of Industrial Compliance - Elevator', 'ELV'],
  ])('of %j is %s, whatever the case and punctuation', (label, code) => {
    expect(boardByLabel(label)?.code).toBe(code);
  });

  test.each(['', '???', 'Nursing', 'Board', 'Plumbing Board'])('of %j does not exist', (label) => {
    expect(boardByLabel(label)).toBeUndefined();
  });
});

describe('whether a license type is one of a board', () => {
  test.each([
    ['NUR', 'Registered Nurse (RN)', true],
    ['NUR', 'registered nurse (rn)', false],
    ['NUR', 'RN', false],
    ['NUR', '', false],
    ['MED', 'Registered Nurse (RN)', false],
  ])('is answered for %s and %j with %s', (code, licenseType, expected) => {
    expect(isLicenseTypeOf(boardOfCode(code), licenseType)).toBe(expected);
  });

  test('is false for a board that is not in the catalog', () => {
    const unknown = { ...boardOfCode('NUR'), code: 'XXX' };
    expect(isLicenseTypeOf(unknown, 'Registered Nurse (RN)')).toBe(false);
  });
});

describe('the board that a person writes', () => {
  test.each([
    ['NUR', ['NUR', ' nur ', 'Nursing', 'nursing board', 'Ohio Board of Nursing', 'State of Ohio nursing']],
    ['NUR', ['\u200bNUR', 'Nurs\u00ading', 'Nursing\ufeff Board\u0000']],
    ['MED', ['Medical', 'medical board', 'State Medical Board of Ohio']],
    ['VET', ['Veterinary', 'veterinary medical']],
    ['OPA', ['Physical Therapy', 'athletic trainers']],
    ['CSW', ['Counselor', 'Social Worker']],
    [undefined, ['', 'Ohio', 'Board', 'pharmcy', 'constructor', 'Wizards', 'x'.repeat(10_000)]],
  ])('is %s', (code, texts) => {
    expect(texts.map((text) => [text, boardByText(text)?.code])).toEqual(texts.map((text) => [text, code]));
  });
});
