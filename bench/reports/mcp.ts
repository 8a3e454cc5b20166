import { z } from 'zod';
import { markdownTable } from '../../scripts/markdown-table.ts';
import { medianOf, ratiosOf, roundsOf, times } from '../results/rounds.ts';
import { type Measured, measured } from './lookups.ts';

/** Everything that `npm run bench mcp` measured. */
export const mcpReport = z.strictObject({
  rows: z.int(),
  results: roundsOf(measured),
  /** For a contender, the one that asks REST the same. */
  comparedWith: z.record(z.string(), z.string()),
});

export type McpReport = z.output<typeof mcpReport>;

/** The table for docs/performance.md. */
export function mcpText({ rows, results, comparedWith }: McpReport): string {
  const cells = Object.keys(results).map((name) => {
    const value = (of: (measured: Measured) => number, digits = 0) =>
      medianOf(results, name, of).toFixed(digits);
    const rest = comparedWith[name];
    return [
      name,
      value(({ rate }) => rate),
      value(({ p50 }) => p50, 1),
      value(({ p99 }) => p99, 1),
      value(({ cpu }) => cpu.api),
      value(({ cpu }) => cpu.openSearch),
      value(({ bytes, lookups }) => bytes / lookups),
      rest === undefined ? '' : times(ratiosOf(results, [name, rest], ({ rate }) => rate)),
    ];
  });
  const header = ['asked', 'calls a second', 'p50 ms', 'p99 ms', 'CPU µs API', 'CPU µs OpenSearch'];
  const [first = []] = Object.values(results);
  return [
    `${rows.toLocaleString('en-US')} rows. Each figure is the median of ${first.length} rounds; ratios are of the same round, with the lowest and highest in brackets.`,
    markdownTable([...header, 'bytes', 'rate against REST'], cells, 'numbers'),
  ].join('\n\n');
}
