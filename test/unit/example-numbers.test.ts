import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import numbering from '../../sample-data/data/numbers.json' with { type: 'json' };
import { DOCUMENTS, documentText } from '../support/documented.ts';
import { issuableNumbers, MAX_DIGITS } from '../support/issuable-numbers.ts';

const FILES = [
  ...DOCUMENTS,
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  ...globSync(['src/**/*.ts', 'scripts/**/*.ts', 'examples/*', 'examples/*/*'], {
    cwd: resolve(import.meta.dirname, '../..'),
    exclude: ['**/package-lock.json', '**/node_modules'],
  }).filter((file) => /\.\w+$/.test(file)),
];

// With the State's data such a number may be a real person's, and the example says something of that person.
test('no document, example or source file has a license number that a board could issue', () => {
  const found = FILES.map((file) => ({ file, numbers: issuableNumbers(documentText(file)) }));
  expect(found.filter(({ numbers }) => numbers.length > 0)).toEqual([]);
});

test('no number of the sample data has as many digits as an example', () => {
  for (const { last, widths } of Object.values(numbering)) {
    expect(Math.max(String(last).length, ...widths)).toBeLessThanOrEqual(MAX_DIGITS);
  }
});

describe('a license number in a text', () => {
  test.each([
    ['"RN.124396"', ['RN.124396']],
    ['rn 124396, RN/124396 and RN124396', ['rn 124396', 'RN/124396', 'RN124396']],
    ['APRN.CNP.0014484 or aprn/cnp 14484', ['APRN.CNP.0014484', 'aprn/cnp 14484']],
    ['E.1234567-SUPV', ['E.1234567']],
    ['0212345678,03-123456', ['0212345678', '03-123456']],
    ['DC-01234 35.012345', ['DC-01234', '35.012345']],
    ['SP.4567?', ['SP.4567']],
    ["'\\nRN.124396\\n'", ['RN.124396']],
  ])('%s is found', (text, numbers) => {
    expect(issuableNumbers(text)).toEqual(numbers);
  });

  test.each([
    'RN.987654321',
    '02987654321',
    '2026-01-03',
    'at 2000 rows',
    '30.4855 ms',
    'a 2025 and 0.35.1',
    '0123456789ABC',
  ])('%s has none that a board could issue', (text) => {
    expect(issuableNumbers(text)).toEqual([]);
  });
});
