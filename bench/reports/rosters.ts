import { z } from 'zod';
import { markdownTable } from '../../scripts/markdown-table.ts';
import {
  cpuColumn,
  figure,
  introduction,
  measuredRounds,
  P99,
  rateOf,
  ratio,
  roundsTable,
  serverCpu,
} from '../rounds.ts';

/** The names of the contenders, in the order of the report. */
export const ROSTERS = {
  numberBare: 'numbers, bare `_search`, 64 connections',
  numberMget: 'numbers, bare `_mget` of 250, two clients',
  nameBare: 'names, bare, tuned, 64 connections',
  number: 'numbers, REST, 64 connections',
  numbers: 'numbers, rosters of 1,000, two clients',
  name: 'names, REST, 64 connections',
  names: 'names, rosters of 1,000, two clients',
  mixed: 'mixed rosters of 1,000, two clients',
} as const;

const latency = z.strictObject({
  /** Milliseconds. */
  p50: z.number(),
  p99: z.number(),
  /** The delay of the event loop in milliseconds. */
  eventLoopP99: z.number(),
});

export type Latency = z.output<typeof latency>;

/** The result of `npm run bench rosters`. */
export const rostersReport = z.strictObject({
  rows: z.int(),
  results: measuredRounds,
  /** The latency of single lookups on an idle service, and while two clients send rosters without pause. */
  beside: z.strictObject({ idle: latency, beside: latency }),
  /** The time of `licenses verify` for a CSV file, and the peak resident memory of the command and of the API. */
  verifyCommand: z.strictObject({
    rows: z.int(),
    seconds: z.number(),
    commandMebibytes: z.number(),
    apiMebibytes: z.number(),
  }),
  /** The API's memory in MiB with eight parallel rosters of 1,000 names, with 20 matches each. */
  memory: z.number(),
});

export type RostersReport = z.output<typeof rostersReport>;

/** The rows of a table: what is compared, the figure, and its target. */
function comparisons({ results, beside, verifyCommand, memory }: RostersReport): string[][] {
  const N = ROSTERS;
  const rate = (one: string, other: string) => ratio(results, [one, other], rateOf);
  const cpu = (one: string, other: string) => ratio(results, [one, other], serverCpu);
  const { idle, beside: busy } = beside;
  return [
    ['numbers: rosters against bare `_search`, 64 connections', rate(N.numbers, N.numberBare), '≥ 3'],
    ['their server CPU against it', cpu(N.numbers, N.numberBare), '≤ 0.3'],
    ['numbers: rosters against a bare `_mget` of 250', rate(N.numbers, N.numberMget), '≥ 0.4'],
    ['names: rosters against the tuned bare query', rate(N.names, N.nameBare), '≥ 1.6'],
    ['their server CPU against it', cpu(N.names, N.nameBare), '≤ 0.6'],
    [
      'p99 of single numbers at 100 a second beside rosters, against idle',
      `${(busy.p99 / idle.p99).toFixed(1)} × (${busy.p99.toFixed(1)} ms, ${idle.p99.toFixed(1)} ms)`,
      '≤ 3',
    ],
    ["p99 of the event loop's delay beside rosters", `${busy.eventLoopP99.toFixed(1)} ms`, '< 20 ms'],
    [
      '`licenses verify`',
      `${Math.round(verifyCommand.rows / verifyCommand.seconds)} rows/s; ${Math.round(verifyCommand.commandMebibytes)} MiB, the API ${Math.round(verifyCommand.apiMebibytes)} MiB`,
      '',
    ],
    [
      'memory of the API, eight rosters of 1,000 names, 20 matches each',
      `${Math.round(memory)} MiB`,
      '< 650 MiB',
    ],
  ];
}

/** The tables for docs/generated/performance.md. */
export function rostersText(report: RostersReport): string {
  const { rows, results } = report;
  const columns = [figure('items/s', rateOf), P99, cpuColumn('CPU µs an item')];
  return [
    introduction(rows, results),
    markdownTable(['compared', 'measured', 'target'], comparisons(report), 'numbers'),
    roundsTable('asked', results, columns),
  ].join('\n\n');
}
