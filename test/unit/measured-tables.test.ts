import { readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { generatedFiles } from '../../bench/reports/documents.ts';
import { turnsOf } from '../../bench/rounds.ts';
import { DOCUMENTS, documentText } from '../support/documented.ts';

const ROOT = resolve(import.meta.dirname, '../..');

test('the tables and charts of the documents are what npm run bench report makes of the raw results', async () => {
  for (const [path, text] of await generatedFiles()) {
    expect([relative(ROOT, path), readFileSync(path, 'utf8')]).toEqual([relative(ROOT, path), text]);
  }
});

test('every block of measured tables in a document is one that the report makes', async () => {
  const generated = new Set([...(await generatedFiles()).keys()].map((path) => relative(ROOT, path)));
  const withBlocks = DOCUMENTS.filter((file) => documentText(file).includes('<!-- measured:'));
  expect(withBlocks.filter((file) => !generated.has(file))).toEqual([]);
});

test.each([
  [2, 4],
  [3, 3],
  [5, 5],
  [13, 5],
])('of %d contenders in %d rounds, none always comes first or follows the same other', (count, rounds) => {
  const contenders = Array.from({ length: count }, (_, at) => at);
  const orders = Array.from({ length: rounds }, (_, round) => turnsOf(contenders, round));
  for (const order of orders) expect(order.toSorted((one, other) => one - other)).toEqual(contenders);
  for (const contender of contenders) {
    const before = new Set(orders.map((order) => order[order.indexOf(contender) - 1] ?? 'first'));
    expect(before.size).toBeGreaterThan(1);
  }
});
