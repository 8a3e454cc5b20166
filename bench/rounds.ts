import { z } from 'zod';
import { markdownTable } from '../scripts/markdown-table.ts';

/** The measurements of a contender in one round. */
export const measured = z.object({
  seconds: z.number(),
  /** The number of responses without the expected status or text. */
  wrong: z.int(),
  /** The latency of a request in milliseconds. */
  p50: z.number(),
  p99: z.number(),
  bytes: z.int(),
  /** The number of licenses that were looked up. */
  items: z.int(),
  /** Items per second. */
  rate: z.number(),
  /** The CPU of each server per item, in microseconds. */
  cpu: z.record(z.string(), z.number()),
  /** The CPU of the load generator per item. Some results of 2026-11-24 lack it. */
  generatorCpu: z.number().optional(),
});

export type Measured = z.output<typeof measured>;

/** The measurements of each contender, by its name and in the order of rounds. */
export type Rounds<Each = Measured> = Readonly<Record<string, readonly Each[]>>;

export const measuredRounds = z.record(z.string(), z.array(measured).readonly()).readonly();

export const rateOf = ({ rate }: Measured) => rate;

/** The CPU of all servers together per item, in microseconds. */
export function serverCpu({ cpu }: Measured): number {
  return Object.values(cpu).reduce((sum, each) => sum + each, 0);
}

/** The median. For an even count, the higher of the two middle numbers; 0 if there are no numbers. */
export function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0;
}

/** The median over a contender's rounds. */
export function medianOf<Each>(rounds: Rounds<Each>, name: string, of: (measured: Each) => number): number {
  return median((rounds[name] ?? []).map(of));
}

/** The median and range of the ratio of two contenders' figures in the same round: `0.88 × (0.83 to 1.09)`. */
export function ratio(
  rounds: Rounds,
  [one, other]: readonly [string, string],
  of: (measured: Measured) => number,
): string {
  const others = rounds[other] ?? [];
  const ratios = (rounds[one] ?? []).flatMap((each, round) => {
    const against = others[round];
    return against === undefined ? [] : [of(each) / of(against)];
  });
  return `${median(ratios).toFixed(2)} × (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`;
}

/**
 * The order of contenders in a round. It changes from round to round, so that no contender always comes first or always
 * follows the same other one.
 */
export function turnsOf<Each>(contenders: readonly Each[], round: number): Each[] {
  const first = contenders.length === 0 ? 0 : (round * 2) % contenders.length;
  const rotated = [...contenders.slice(first), ...contenders.slice(0, first)];
  return round % 2 === 0 ? rotated : rotated.toReversed();
}

/** A column of a table with one row per contender: its title, and a function for its cells. */
export type Column = readonly [title: string, cell: (results: Rounds, name: string) => string];

/** A column with the median of a figure. */
export function figure(title: string, of: (measured: Measured) => number, digits = 0): Column {
  return [title, (results, name) => medianOf(results, name, of).toFixed(digits)];
}

export const P50 = figure('p50 ms', ({ p50 }) => p50, 1);
export const P99 = figure('p99 ms', ({ p99 }) => p99, 1);

/** A column with the CPU of all servers together and of each server. */
export const cpuColumn = (title: string): Column => [
  title,
  (results, name) => {
    const micros = (of: (measured: Measured) => number) => medianOf(results, name, of).toFixed(0);
    const servers = Object.keys(results[name]?.[0]?.cpu ?? {});
    const parts = servers.map((server) => `${server} ${micros(({ cpu }) => cpu[server] ?? 0)}`);
    return `${micros(serverCpu)} (${parts.join(', ')})`;
  },
];

/** A column with the ratio of each contender's rate to another's; empty if it is compared with none. */
export function rateColumn(title: string, otherOf: (name: string) => string | undefined): Column {
  return [
    title,
    (results, name) => {
      const other = otherOf(name);
      return other === undefined ? '' : ratio(results, [name, other], rateOf);
    },
  ];
}

/** A table of the contenders' measurements. */
export function roundsTable(title: string, results: Rounds, columns: readonly Column[]): string {
  const rows = Object.keys(results).map((name) => [name, ...columns.map(([, cell]) => cell(results, name))]);
  return markdownTable([title, ...columns.map(([header]) => header)], rows, 'numbers');
}

/** Says how many rows and rounds the tables are based on. */
export function introduction(rows: number, results: Rounds): string {
  const [first = []] = Object.values(results);
  return `${rows.toLocaleString('en-US')} rows, ${first.length} rounds.`;
}
