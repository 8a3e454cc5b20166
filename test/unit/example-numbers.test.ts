import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
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
  expect(issuableNumbers('RN.124396, aprn/cnp 14484, 0212345678, DC-01234')).toHaveLength(4);
  const found = FILES.map((file) => ({ file, numbers: issuableNumbers(documentText(file)) }));
  expect(found.filter(({ numbers }) => numbers.length > 0)).toEqual([]);
});

test('no number of the sample data has as many digits as an example', () => {
  for (const { last, widths } of Object.values(numbering))
    expect(Math.max(String(last).length, ...widths)).toBeLessThanOrEqual(MAX_DIGITS);
});
