import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { BOARDS } from '../../src/licenses/boards.ts';
import { BadRequestError } from '../../src/licenses/lookup.ts';
import {
  businessParameters,
  historyParameters,
  numberParameters,
  objectSchema,
  personParameters,
  readParameters,
  rosterItemParameters,
} from '../../src/mcp/parameters.ts';
import { refusalOf } from '../support/refusal.ts';

const PERSON = { board: 'Nursing Board', last_name: 'Smith' };

const read = (given: Record<string, unknown>) => readParameters(personParameters, given);
const refusal = (given: Record<string, unknown>) => refusalOf(BadRequestError, () => read(given));

describe('the parameters of a tool', () => {
  test('are read without the blanks around them', () => {
    const given = { ...PERSON, last_name: '  de la Cruz ', limit: 5, status: 'ACTIVE' };
    expect(read(given)).toEqual({ values: { ...given, last_name: 'de la Cruz' }, note: '' });
  });

  test('are read without what nobody sees', () => {
    const given = { board: 'Nursing\u200b Board', last_name: '\ufeffSmi\u00adth' };
    expect(read(given)).toEqual({ values: PERSON, note: '' });
  });

  test.each([null, '', '   ', '\u200b\ufeff '])('count as absent if they are %j', (blank) => {
    const given = { ...PERSON, first_name: blank, limit: blank, city: blank };
    expect(read(given)).toEqual({ values: PERSON, note: '' });
    expect(refusal({ ...PERSON, last_name: blank })).toMatch(/^last_name is missing\./);
  });

  test('with unknown names are ignored, and a note says so and lists the known ones', () => {
    const { values, note } = read({ ...PERSON, zip: '43215', 'na"me': 'x' });
    expect(values).toEqual(PERSON);
    expect(note).toBe(
      'Unknown parameters are ignored. This tool has: board, last_name, first_name, license_type, status, city, county, limit.',
    );
    expect(refusalOf(BadRequestError, () => readParameters(numberParameters, { number: 'RN.1' }))).toMatch(
      /^license_number is missing\. Send: .*, e\.g\. "RN\.987654321"\. Unknown parameters/,
    );
  });

  test.each<[Record<string, unknown>, RegExp]>([
    [
      { board: undefined },
      /^board is missing\. Send the exact name of a board; list_ohio_boards lists all\.$/,
    ],
    [{ board: 7 }, /^board must be text\./],
    [{ board: 'nursing board' }, /^board is not the exact name of a board\. The nearest: "Nursing Board";/],
    [{ board: 'Athletic' }, /The nearest: "Athletic Commission", "Occupational Therapy, Physical Therapy, /],
    [{ last_name: 7 }, /^last_name must be text\. Send: the whole surname/i],
    [{ last_name: ['Smith'] }, /^last_name must be text\./],
    [{ last_name: { $ne: '' } }, /^last_name must be text\./],
    [{ last_name: 'x'.repeat(201) }, /^last_name must have at most 200 characters\./],
    [{ city: 7 }, /^city must be text\. Send: only holders in this city, e\.g\. "Columbus"\.$/i],
    [{ limit: 0 }, /^limit must be a whole number from 1 to 100\.$/],
    [{ limit: 101 }, /^limit must be/],
    [{ limit: 2.5 }, /^limit must be/],
    [{ limit: '5' }, /^limit must be/],
  ])('that are invalid are refused with what to send instead: %j', (wrong, message) => {
    expect(refusal({ ...PERSON, ...wrong })).toMatch(message);
  });

  test.each(['__proto__', 'constructor', 'toString'])('named %s are ignored', (name) => {
    const given = JSON.parse(
      `{"board": "Nursing Board", "last_name": "Smith", ${JSON.stringify(name)}: {"limit": 1}}`,
    );
    expect(read(given).values).toEqual(PERSON);
  });
});

const ALL = {
  ...{ numberParameters, historyParameters, personParameters },
  ...{ businessParameters, rosterItemParameters },
};
const propertiesOf = (parameters: z.ZodType) =>
  z
    .object({ type: z.literal('object'), properties: z.record(z.string(), z.looseObject({})) })
    .parse(objectSchema(parameters, 'input')).properties;

test('the input schema of a tool lists the 24 boards where a lookup often needs one', () => {
  const listed = Object.entries(ALL).flatMap(([name, parameters]) => {
    const { enum: names } = propertiesOf(parameters).board ?? {};
    if (names !== undefined) expect(names).toEqual(BOARDS.map((board) => board.name));
    return names === undefined ? [] : [name];
  });
  expect(listed).toEqual(['personParameters', 'businessParameters', 'rosterItemParameters']);
});

test('the input schema of a tool describes every parameter in plain JSON Schema, with an example unless it is the board', () => {
  for (const parameters of Object.values(ALL))
    for (const [name, property] of Object.entries(propertiesOf(parameters)))
      expect([name, property]).toEqual([
        name,
        expect.objectContaining({
          type: expect.stringMatching(/^(string|integer)$/),
          description: expect.stringMatching(/.{10}/),
          ...(name === 'board' ? {} : { examples: expect.any(Array) }),
        }),
      ]);
});
