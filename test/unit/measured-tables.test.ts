import { readdirSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { generatedFiles } from '../../bench/reports/documents.ts';
import { readResult } from '../../bench/results/result.ts';
import { turnsOf } from '../../bench/results/turns.ts';
import { DOCUMENTS, documentText } from '../support/documented.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const RESULTS = readdirSync(resolve(ROOT, 'docs/performance')).filter((name) => name.endsWith('.json'));

test('the tables and charts of the documents are what npm run bench report makes of the raw results', async () => {
  for (const [path, text] of await generatedFiles()) {
    expect([relative(ROOT, path), readFileSync(path, 'utf8')]).toEqual([relative(ROOT, path), text]);
  }
});

test('a change in a raw result changes a document', async () => {
  const { origin } = await readResult('lookups');
  const performance = [...(await generatedFiles())].find(([path]) => path.endsWith('docs/performance.md'));
  expect(performance?.[1]).toContain(`Measured on ${origin.measuredOn} with \`${origin.command}\``);
});

test.each(RESULTS)('the raw result %s has a date, a command and a machine', async (name) => {
  const { origin } = await readResult(name.replace('.json', ''));
  expect(origin.measuredOn).toMatch(/^\d{4}-\d\d-\d\d$/);
  expect(origin.command).toMatch(/^npm run bench /);
  expect(origin.javaOptions).toContainEqual(expect.stringMatching(/^-Xmx/));
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
])(
  'with %d contenders in %d rounds, none is always first or always after the same other',
  (count, rounds) => {
    const contenders = Array.from({ length: count }, (_, at) => at);
    const orders = Array.from({ length: rounds }, (_, round) => turnsOf(contenders, round));
    for (const order of orders) expect(order.toSorted((one, other) => one - other)).toEqual(contenders);
    for (const contender of contenders) {
      const before = new Set(orders.map((order) => order[order.indexOf(contender) - 1] ?? 'first'));
      expect(before.size).toBeGreaterThan(1);
    }
  },
);
