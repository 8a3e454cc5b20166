import { describe, expect, test } from '@jest/globals';
import { boardByName } from '../../src/licenses/boards.ts';
import type { Miss } from '../../src/licenses/lookup.ts';
import { notFoundDetail, notFoundMessage, reasonOf } from '../../src/licenses/not-found.ts';

const DATE = '2026-11-20';
const DATASET = "in the State's dataset of 2026-11-20";
const NURSING = boardByName('Nursing Board');

function number(outcome: Miss['outcome'], fields: Partial<Miss> = {}): Miss {
  const request = { by: 'number', number: 'RN 1', board: NURSING, businessOnly: false } as const;
  return { outcome, request, didYouMean: [], ...fields };
}

const PERSON = { by: 'person', board: NURSING, lastName: 'Bowen', filters: {} } as const;

function name(fields: Partial<Miss> = {}): Miss {
  return { outcome: 'none', request: PERSON, didYouMean: [], ...fields };
}

test('the detail of a miss is its message and the authority', () => {
  const miss = name();
  expect(notFoundDetail(miss, DATE)).toBe(
    `${notFoundMessage(miss, DATE)} The issuing board is the authority; ask it before you conclude anything.`,
  );
});

describe('the message about a number that was not found', () => {
  test.each<[Miss['outcome'], Partial<Miss>, string]>([
    ['none', {}, `No license with the number "RN 1" is ${DATASET}.`],
    [
      'none',
      { didYouMean: ['RN.1', 'RN.01'] },
      `No license with the number "RN 1" is ${DATASET}. Similar numbers that exist: RN.1, RN.01.`,
    ],
    [
      'ambiguous_number',
      {},
      `The number "RN 1", written like this, fits more than one license ${DATASET}. Send it as the board writes it.`,
    ],
    [
      'ambiguous_number',
      { didYouMean: ['RN.1', 'RN.01'] },
      `The number "RN 1", written like this, fits more than one license ${DATASET}. Similar numbers that exist: RN.1, RN.01. Send it as the board writes it.`,
    ],
    [
      'ambiguous_number',
      { didYouMean: ['RN.1'], boards: ['Medical Board', 'Nursing Board'] },
      `More than one board has a license with the number "RN 1" ${DATASET}: the Medical Board and the Nursing Board. Name the board.`,
    ],
    [
      'other_board',
      { boards: ['Dental Board', 'Medical Board'] },
      `The number "RN 1" is not one of the Nursing Board, but one of the Dental Board and the Medical Board ${DATASET}. Ask again with that board.`,
    ],
    [
      'not_a_business',
      {},
      `The number "RN 1" is a person's license ${DATASET}, not a business's. Ask for persons.`,
    ],
  ])('for the outcome %s, %j', (outcome, fields, words) => {
    expect(notFoundMessage(number(outcome, fields), DATE, 'Ask for persons.')).toBe(words);
  });
});

test.each<[Miss['outcome'], string]>([
  ['none', 'unknown'],
  ['ambiguous_number', 'ambiguous'],
  ['other_board', 'other_board'],
  ['not_a_business', 'not_a_business'],
])('the reason that interfaces send for the outcome %s is %s', (outcome, reason) => {
  expect(reasonOf(number(outcome))).toBe(reason);
});

describe('the message about a name that was not found', () => {
  const filters = { city: 'Tolede', status: 'ACTIVE' };
  const su = { ...PERSON, firstName: 'Su' };
  test.each<[string, Partial<Miss>, string]>([
    [
      'that nobody has',
      {},
      `No license of the Nursing Board matches the name "Bowen" ${DATASET}. Check the spelling and the board.`,
    ],
    [
      'at all boards, with filters',
      { request: { by: 'person', lastName: 'Bowen', firstName: 'Su', filters } },
      `No license of any of the 24 boards matches the name "Bowen, Su" with status "ACTIVE" and city "Tolede" ${DATASET}. Check the spelling and the board.`,
    ],
    [
      'whose holders the filters exclude',
      { request: { ...su, filters }, nameExists: true, surnameExists: true },
      `The Nursing Board has licenses of the name "Bowen, Su" ${DATASET}, but none with status "ACTIVE" and city "Tolede". Check the filters, or leave them out.`,
    ],
    [
      'of which only the surname exists',
      { request: su, surnameExists: true },
      `The Nursing Board has licenses of the surname "Bowen" ${DATASET}, but none of the name "Bowen, Su". Check the given name, or leave it out.`,
    ],
    [
      'of a business at all boards',
      { request: { by: 'business', name: 'Acme', filters: { city: 'Lima' } }, nameExists: true },
      `One of the 24 boards has licenses of the name "Acme" ${DATASET}, but none with city "Lima". Check the filters, or leave them out.`,
    ],
  ])('%s', (_which, fields, words) => {
    expect(notFoundMessage(name(fields), DATE)).toBe(words);
  });
});
