import { z } from 'zod';
import { markdownTable } from '../scripts/markdown-table.ts';

/** What a contender did in one round. */
export const measured = z.object({
  seconds: z.number(),
  /** Answers without the status or the text expected. */
  wrong: z.int(),
  /** Milliseconds of a request. */
  p50: z.number(),
  p99: z.number(),
  bytes: z.int(),
  /** How many licenses were asked for. */
  items: z.int(),
  /** Items a second. */
  rate: z.number(),
  /** Microseconds of CPU of each server for an item. */
  cpu: z.record(z.string(), z.number()),
  /** The same of the load generator; some results of 2026-11-24 do not have it. */
  generatorCpu: z.number().optional(),
});

export type Measured = z.output<typeof measured>;

/** What each contender measured, round by round. */
export type Rounds<Each = Measured> = Readonly<Record<string, readonly Each[]>>;

/** The schema of rounds. */
export const measuredRounds = z.record(z.string(), z.array(measured).readonly()).readonly();

export const rateOf = ({ rate }: Measured) => rate;

/** Microseconds of CPU of all servers together for an item. */
export function serverCpu({ cpu }: Measured): number {
  return Object.values(cpu).reduce((sum, each) => sum + each, 0);
}

/** The middle one; of an even count the higher of the two; 0 of none. */
export function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0;
}

/** The median of a contender's rounds. */
export function medianOf<Each>(rounds: Rounds<Each>, name: string, of: (measured: Each) => number): number {
  return median((rounds[name] ?? []).map(of));
}

/** The median of one contender's figure divided by the other's in the same round, and its range: `0.88 × (0.83 to 1.09)`. */
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
 * The order in which contenders take their turns in a round. It changes from round to round, so that none always
 * follows the same other or always comes first.
 */
export function turnsOf<Each>(contenders: readonly Each[], round: number): Each[] {
  const first = contenders.length === 0 ? 0 : (round * 2) % contenders.length;
  const rotated = [...contenders.slice(first), ...contenders.slice(0, first)];
  return round % 2 === 0 ? rotated : rotated.toReversed();
}

/** A column of a table with a row for each contender: its title, and what a cell has. */
export type Column = readonly [title: string, cell: (results: Rounds, name: string) => string];

/** A column with the median of a figure. */
export function figure(title: string, of: (measured: Measured) => number, digits = 0): Column {
  return [title, (results, name) => medianOf(results, name, of).toFixed(digits)];
}

export const P50 = figure('p50 ms', ({ p50 }) => p50, 1);
export const P99 = figure('p99 ms', ({ p99 }) => p99, 1);

/** CPU of all servers together, and of each. */
export const cpuColumn = (title: string): Column => [
  title,
  (results, name) => {
    const micros = (of: (measured: Measured) => number) => medianOf(results, name, of).toFixed(0);
    const servers = Object.keys(results[name]?.[0]?.cpu ?? {});
    const parts = servers.map((server) => `${server} ${micros(({ cpu }) => cpu[server] ?? 0)}`);
    return `${micros(serverCpu)} (${parts.join(', ')})`;
  },
];

/** A column with each contender's rate against another's; empty where there is none. */
export function rateColumn(title: string, otherOf: (name: string) => string | undefined): Column {
  return [
    title,
    (results, name) => {
      const other = otherOf(name);
      return other === undefined ? '' : ratio(results, [name, other], rateOf);
    },
  ];
}

/** A table of what the contenders measured. */
export function roundsTable(title: string, results: Rounds, columns: readonly Column[]): string {
  const rows = Object.keys(results).map((name) => [name, ...columns.map(([, cell]) => cell(results, name))]);
  return markdownTable([title, ...columns.map(([header]) => header)], rows, 'numbers');
}

/** How many rows and rounds the figures of the tables are from. */
export function introduction(rows: number, results: Rounds): string {
  const [first = []] = Object.values(results);
  return `${rows.toLocaleString('en-US')} rows, ${first.length} rounds.`;
}
