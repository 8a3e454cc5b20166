import { describe, expect, test } from '@jest/globals';
import { canSkipChecks, checkedFields } from '../../src/dataset/row-to-licenses.ts';

describe("the checks of a row's fields", () => {
  const common = {
    name: 'EXAMPLE, JANE Q',
    board: 'Nursing Board',
    number: 'RN.123456',
    issueDate: '2015-06-01',
    expirationDate: '',
    runDate: '2026-11-20',
  };

  test.each<[boolean, Partial<typeof common>]>([
    [true, {}],
    [true, { number: 'E.1234567-SUPV' }],
    [true, { issueDate: '', runDate: '' }],
    [true, { expirationDate: '2024-02-29' }],
    [true, { name: 'A'.repeat(1000) }],
    [true, { board: 'B'.repeat(200) }],
    [true, { number: 'A'.repeat(100) }],
    [true, { number: '9' }],
    [false, { number: 'RN.1x' }],
    [false, { number: '.RN1' }],
    [false, { issueDate: '6/1/2015' }],
    [false, { name: '' }],
    [false, { name: 'A'.repeat(1001) }],
    [false, { board: '' }],
    [false, { board: 'B'.repeat(201) }],
    [false, { number: '' }],
    [false, { number: '.-' }],
    [false, { number: 'RN 1' }],
    [false, { number: 'A'.repeat(101) }],
    [false, { expirationDate: '2023-02-29' }],
    [false, { expirationDate: '10/31/2027' }],
    [false, { runDate: '2026-11-20 04:00:00' }],
  ])('can be skipped: %s, with %j', (expected, changed) => {
    expect(canSkipChecks({ ...common, ...changed })).toBe(expected);
  });

  test.each([
    {},
    { number: 'E.1234567-SUPV' },
    { issueDate: '', runDate: '' },
    { expirationDate: '2024-02-29' },
  ])('would change nothing if they can be skipped: %j', (changed) => {
    const fields = { ...common, ...changed };
    const dates = {
      issueDate: fields.issueDate || null,
      expirationDate: fields.expirationDate || null,
      runDate: fields.runDate || null,
    };
    expect(canSkipChecks(fields)).toBe(true);
    expect(checkedFields.parse(fields)).toEqual({ ...fields, ...dates });
  });
});
