import { describe, expect, test } from '@jest/globals';
import { BOARDS, boardByLabel, boardByName, isLicenseTypeOf } from '../../src/licenses/boards.ts';
import { boardOfCode } from '../support/boards.ts';

describe('the catalog', () => {
  test('has 24 boards, each with a name and a code of its own', () => {
    expect(BOARDS).toHaveLength(24);
    expect(new Set(BOARDS.map(({ name }) => name)).size).toBe(24);
    expect(new Set(BOARDS.map(({ code }) => code)).size).toBe(24);
  });

  test('leads each name and each alias to its own board', () => {
    for (const board of BOARDS) {
      for (const label of [board.name, ...board.aliases]) expect(boardByLabel(label)).toBe(board);
    }
  });

  test('names each license type of a board once', () => {
    for (const { license_types: types } of BOARDS) {
      const names = types.map(({ name }) => name);
      expect(names).toEqual([...new Set(names)]);
    }
  });

  test('names as endorsed only a type of the same board that is no endorsement itself', () => {
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
  ])('calls %s by the label read literally in the BOARD column: %s', (code, name) => {
    expect(boardOfCode(code).name).toBe(name);
  });
});

describe('boardByName', () => {
  test('finds the board of exactly the name', () => {
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
  ])('does not find %j', (name) => {
    expect(boardByName(name)).toBeUndefined();
  });

  test.each(['constructor', '__proto__', 'toString'])('does not find %j, which every object has', (name) => {
    expect(boardByName(name)).toBeUndefined();
    expect(boardByLabel(name)).toBeUndefined();
  });
});

describe('boardByLabel', () => {
  test.each([
    ['NURSING BOARD', 'NUR'],
    ['nursing-board', 'NUR'],
    [' Board of  Nursing ', 'NUR'],
    ['COUNSELOR, SOCIAL WORKER & MARRIAGE AND FAMILY THERAPIST BOARD', 'CSW'],
    ['Occupational Therapy Physical Therapy and Athletic Trainers Board', 'OPA'],
    ['Div of Industrial Compliance - Elevator', 'ELV'],
  ])('understands %j as the board %s', (label, code) => {
    expect(boardByLabel(label)?.code).toBe(code);
  });

  test.each(['', '???', 'Nursing', 'Board', 'Plumbing Board'])('knows no board called %j', (label) => {
    expect(boardByLabel(label)).toBeUndefined();
  });
});

describe('isLicenseTypeOf', () => {
  test.each([
    ['NUR', 'Registered Nurse (RN)', true],
    ['NUR', 'registered nurse (rn)', false],
    ['NUR', 'RN', false],
    ['NUR', '', false],
    ['MED', 'Registered Nurse (RN)', false],
  ])('of the board %s and %j is %s', (code, licenseType, expected) => {
    expect(isLicenseTypeOf(boardOfCode(code), licenseType)).toBe(expected);
  });

  test('of a board that the catalog does not have is false', () => {
    const unknown = { ...boardOfCode('NUR'), code: 'XXX' };
    expect(isLicenseTypeOf(unknown, 'Registered Nurse (RN)')).toBe(false);
  });
});
