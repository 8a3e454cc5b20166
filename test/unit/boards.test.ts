import { describe, expect, test } from '@jest/globals';
import {
  BOARDS,
  boardByLabel,
  boardByName,
  boardByText,
  isLicenseTypeOf,
  nearestBoards,
} from '../../src/licenses/boards.ts';
import mistypedBoards from '../fixtures/mistyped-boards.json' with { type: 'json' };
import { boardOfCode } from '../support/boards.ts';

test('the catalog of boards has 24 boards, each with its own name and code', () => {
  expect([BOARDS.length, new Set(BOARDS.map(({ name }) => name)).size]).toEqual([24, 24]);
  expect(new Set(BOARDS.map(({ code }) => code)).size).toBe(24);
});

test('the catalog of boards maps each name and each alias to its board', () => {
  for (const board of BOARDS)
    for (const label of [board.name, ...board.aliases]) expect(boardByLabel(label)).toBe(board);
});

test('the catalog of boards has no license type of a board twice', () => {
  for (const { license_types: types } of BOARDS) {
    const names = types.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
  }
});

test('the catalog of boards lets only types of the same board that are no endorsements themselves be endorsed', () => {
  const endorsements = BOARDS.flatMap((board) =>
    board.license_types.flatMap((type) => (type.endorses === undefined ? [] : [{ board, ...type }])),
  );
  expect(endorsements.map(({ prefix }) => prefix)).toEqual([
    ...'APRN.CNP. APRN.CNS. APRN.CNM. APRN.CRNA. ACUP-'.split(' '),
  ]);
  for (const { board, endorses } of endorsements) {
    const endorsed = board.license_types.find(({ name }) => name === endorses);
    expect(endorsed).toBeDefined();
    expect(endorsed?.endorses).toBeUndefined();
  }
});

test('the board of a name is found by exactly its name, and by no other text', () => {
  expect(boardByName('Nursing Board')).toBe(boardOfCode('NUR'));
  const texts = ['nursing board', 'Nursing  Board', 'Nursing Board ', 'Board of Nursing', 'NUR', ''];
  // The last are properties of every object.
  const names = [...texts, 'constructor', '__proto__', 'toString'];
  expect(names.map(boardByName)).toEqual(names.map(() => undefined));
  expect(names.slice(-3).map(boardByLabel)).toEqual([undefined, undefined, undefined]);
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

test('whether a license type is one of a board is answered by its exact name', () => {
  const NURSE = 'Registered Nurse (RN)';
  const isOf = (code: string, type: string) => isLicenseTypeOf(boardOfCode(code), type);
  expect(isOf('NUR', NURSE)).toBe(true);
  for (const other of [NURSE.toLowerCase(), 'RN', '']) expect(isOf('NUR', other)).toBe(false);
  expect(isOf('MED', NURSE)).toBe(false);
});

test.each([
  ['NUR', ['NUR', ' nur ', 'Nursing', 'nursing board', 'Ohio Board of Nursing', 'State of Ohio nursing']],
  ['NUR', ['\u200bNUR', 'Nurs\u00ading', 'Nursing\ufeff Board\u0000']],
  ['MED', ['Medical', 'medical board', 'State Medical Board of Ohio']],
  ['VET', ['Veterinary', 'veterinary medical']],
  ['OPA', ['Physical Therapy', 'athletic trainers']],
  ['CSW', ['Counselor', 'Social Worker']],
  [undefined, ['', 'Ohio', 'Board', 'pharmcy', 'constructor', 'Wizards', 'x'.repeat(10_000)]],
])('the board that a person writes is %s', (code, texts) => {
  expect(texts.map((text) => [text, boardByText(text)?.code])).toEqual(texts.map((text) => [text, code]));
});

const codes = (label: string) => nearestBoards(label).map(({ code }) => code);

describe('the nearest boards', () => {
  const { mistyped, written_otherwise: written } = mistypedBoards;

  test.each(Object.entries({ ...mistyped, ...written }))('of %j begin with the %s', (label, nearest) => {
    expect(nearestBoards(label)[0].name).toBe(nearest);
  });

  test.each([
    // Mistyped or shortened names
    ['NUR', ['Ohio Board of Nursng', 'State Board of Nursing of Ohio', 'nusre']],
    ['PRX', ['pharmcy board', 'Pharm']],
    ['PSY', ['Psycology Board', 'Psych']],
    ['DEN', ['Dntal']],
    // No word of it is near to any: the name that is spelled most like it
    ['MED', ['Mdcl Brd', 'State Medical Board of Ohio']],
    // What other States, or people, call them
    ['COS', ['Board of Cosmetology', 'Barber Board', 'hair salon']],
    ['CSW', ['Social Work Board', 'CSWMFT Board']],
    ['VIS', ['Optometry Board']],
    ['FUN', ['Funeral Board']],
    ['VET', ['Veterinary Board']],
    ['MVR', ['Auto repair']],
    ['ELV', ['Elevators']],
    // Professions
    ['NUR', ['nurse', 'LPN']],
    ['MED', ['doctor', 'physicians']],
    ['DEN', ['dentists']],
    ['ACC', ['CPA']],
    ['AGR', ['auctioneers']],
    ['PRX', ['wholesale']],
  ])('are only %s of %j', (code, labels) => {
    expect(labels.map(codes)).toEqual(labels.map(() => [code]));
  });

  test.each([
    ['nursing home administrators', ['LTS', 'NUR']],
    ['Athletic', ['ATH', 'OPA']],
    ['Health', ['ENV', 'DBH']],
    // Four boards have such a license type
    ['Assistant', ['OPA', 'DEN', 'DBH']],
    ['Medical Boards', ['MED', 'VET']],
  ])('of %j, which may mean several, are %j', (label, expected) => {
    expect(codes(label)).toEqual(expected);
  });

  test.each([
    ['LPM', 'NUR'],
    ['nrse', 'NUR'],
    ['CPX', 'ACC'],
  ])('of %j, which is too short to be misspelled, do not include %s', (label, code) => {
    expect(codes(label)).not.toContain(code);
  });

  test.each(['', '***', 'of the', 'x'.repeat(100_000)])('of %.20j are one board of the catalog', (label) => {
    const [nearest, ...others] = nearestBoards(label);
    expect(BOARDS).toContain(nearest);
    expect(others).toEqual([]);
  });
});
