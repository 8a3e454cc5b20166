import { z } from 'zod';
import { markdownTable } from '../../scripts/markdown-table.ts';
import { medianOf, ratiosOf, roundsOf, times } from '../results/rounds.ts';
import {
  NAME_BARE,
  NAME_POSTGRES,
  NAME_ROSTER,
  NUMBER_BARE,
  NUMBER_BARE_MGET,
  NUMBER_POSTGRES,
  NUMBER_ROSTER,
} from '../rosters/names.ts';

/** What a contender did in one round. */
export const measured = z.object({
  seconds: z.number(),
  wrong: z.int(),
  /** Milliseconds of a request. */
  p50: z.number(),
  p99: z.number(),
  bytes: z.int(),
  items: z.int(),
  /** Items a second. */
  rate: z.number(),
  /** Microseconds of CPU of each server for an item. */
  cpu: z.record(z.string(), z.number()),
});

export type Measured = z.output<typeof measured>;

const latency = z.strictObject({
  /** Milliseconds. */
  p50: z.number(),
  p99: z.number(),
  /** The event loop's delay in milliseconds. */
  eventLoopP99: z.number(),
});

/** What single lookups take while nothing else happens, and while two clients send rosters without pause. */
const besideRosters = z.strictObject({ idle: latency, beside: latency });

export type Latency = z.output<typeof latency>;
export type BesideRosters = z.output<typeof besideRosters>;

/** What `licenses verify` did with a CSV file. */
const commandRun = z.strictObject({
  rows: z.int(),
  seconds: z.number(),
  /** The most resident memory in MiB. */
  commandMebibytes: z.number(),
  apiMebibytes: z.number(),
});

export type CommandRun = z.output<typeof commandRun>;

/** Everything that `npm run bench rosters` measured. */
export const rostersReport = z.strictObject({
  rows: z.int(),
  results: roundsOf(measured),
  beside: besideRosters,
  verifyCommand: commandRun,
  /** MiB of the API with eight rosters of 1,000 names in flight, 20 matches each. */
  memory: z.number(),
});

export type RostersReport = z.output<typeof rostersReport>;

const rateOf = ({ rate }: Measured) => rate;

/** Microseconds of CPU of all servers together for an item. */
export function serverCpu({ cpu }: Measured): number {
  return Object.values(cpu).reduce((sum, each) => sum + each, 0);
}

/** What is compared, the figure, and its target. */
function comparisons({ results, beside, verifyCommand, memory }: RostersReport): string[][] {
  const rate = (one: string, other: string) => times(ratiosOf(results, [one, other], rateOf));
  const cpu = (one: string, other: string) => times(ratiosOf(results, [one, other], serverCpu));
  const { idle, beside: busy } = beside;
  return [
    ['numbers: rosters against bare `_search`, 64 connections', rate(NUMBER_ROSTER, NUMBER_BARE), '≥ 3'],
    ['their server CPU against it', cpu(NUMBER_ROSTER, NUMBER_BARE), '≤ 0.3'],
    ['numbers: rosters against a bare `_mget` of 250', rate(NUMBER_ROSTER, NUMBER_BARE_MGET), '≥ 0.4'],
    ['names: rosters against the tuned bare query', rate(NAME_ROSTER, NAME_BARE), '≥ 1.6'],
    ['their server CPU against it', cpu(NAME_ROSTER, NAME_BARE), '≤ 0.6'],
    ['numbers: rosters against single requests of PostgreSQL', rate(NUMBER_ROSTER, NUMBER_POSTGRES), '≥ 2'],
    ['names: rosters against single requests of PostgreSQL', rate(NAME_ROSTER, NAME_POSTGRES), '≥ 2'],
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

function contendersTable({ results }: RostersReport): string {
  const rows = Object.keys(results).map((name) => {
    const value = (of: (measured: Measured) => number, digits = 0) =>
      medianOf(results, name, of).toFixed(digits);
    const servers = Object.keys(results[name]?.[0]?.cpu ?? {});
    const parts = servers.map((server) => `${server} ${value(({ cpu }) => cpu[server] ?? 0)}`);
    return [
      name,
      value(rateOf),
      value(({ p50 }) => p50, 1),
      value(({ p99 }) => p99, 1),
      `${value(serverCpu)} (${parts.join(', ')})`,
      value(({ bytes, items }) => bytes / items),
    ];
  });
  return markdownTable(
    ['asked', 'items/s', 'p50 ms of a request', 'p99 ms', 'CPU µs an item', 'bytes an item'],
    rows,
    'numbers',
  );
}

/** The tables for docs/performance/rosters.md. */
export function rostersText(report: RostersReport): string {
  const [first = []] = Object.values(report.results);
  return [
    `${report.rows.toLocaleString('en-US')} rows. Each figure is the median of ${first.length} rounds in changing order; ratios are of the same round, with the lowest and highest in brackets.`,
    markdownTable(['compared', 'measured', 'target'], comparisons(report), 'numbers'),
    contendersTable(report),
  ].join('\n\n');
}

/** The figures that docs/performance.md repeats. */
export function rostersSummary({ results }: RostersReport): string {
  const cpu = (name: string) => Math.round(medianOf(results, name, serverCpu));
  return (
    `A roster of 1,000 numbers costs ${cpu(NUMBER_ROSTER)} µs of CPU a number, a roster of names ${cpu(NAME_ROSTER)} µs a name. ` +
    `Bare OpenSearch needs ${cpu(NUMBER_BARE)} µs for a \`_search\` by number and ${cpu(NAME_BARE)} µs for the tuned query by name. ` +
    '[All figures](performance/rosters.md), with OpenSearch alone and PostgreSQL beside them.'
  );
}
