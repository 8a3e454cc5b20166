import { expect, test } from '@jest/globals';
import { generatedFiles } from '../../bench/reports/documents.ts';
import { turnsOf } from '../../bench/rounds.ts';
import { documentText } from '../support/documented.ts';

test('the measured tables and charts are what npm run bench report makes of the raw results', async () => {
  for (const [path, text] of await generatedFiles()) expect([path, documentText(path)]).toEqual([path, text]);
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
