import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { tableOf } from '../lookups/report.ts';
import { median } from '../median.ts';
import type { BesideRosters } from './beside-lookups.ts';
import type { CommandRun } from './command.ts';
import {
  NAME_BARE,
  NAME_POSTGRES,
  NAME_ROSTER,
  NUMBER_BARE,
  NUMBER_BARE_MGET,
  NUMBER_POSTGRES,
  NUMBER_ROSTER,
} from './contenders.ts';
import { type Measured, type Results, serverCpu } from './measure.ts';

/** Everything that `npm run bench rosters` measured. */
export interface Report {
  readonly rows: number;
  readonly rounds: number;
  /** `YYYY-MM-DD`. */
  readonly measuredOn: string;
  readonly results: Results;
  readonly beside: BesideRosters;
  readonly command: CommandRun;
  /** MiB of the API with eight rosters of 1,000 names in flight, 20 matches each. */
  readonly memory: number;
}

const FOLDER = join(import.meta.dirname, '../../docs/performance');

function medianOf(results: Results, name: string, of: (measured: Measured) => number): number {
  return median((results.get(name) ?? []).map(of));
}

/** The median over the rounds of one contender's figure divided by the other's. */
function ratio(results: Results, one: string, other: string, of: (measured: Measured) => number): number {
  const others = results.get(other) ?? [];
  return median(
    (results.get(one) ?? []).map((each, round) => {
      const against = others[round];
      return against === undefined ? 0 : of(each) / of(against);
    }),
  );
}

const rateOf = ({ rate }: Measured) => rate;

/** What is compared, the figure, and its target. */
function comparisons({ results, beside, command, memory }: Report): string[][] {
  const times = (one: string, other: string, of = rateOf) => `${ratio(results, one, other, of).toFixed(2)} ×`;
  const { idle, beside: busy } = beside;
  return [
    ['numbers: rosters against bare `_search`, 64 connections', times(NUMBER_ROSTER, NUMBER_BARE), '≥ 3'],
    ['their server CPU against it', times(NUMBER_ROSTER, NUMBER_BARE, serverCpu), '≤ 0.3'],
    ['numbers: rosters against a bare `_mget` of 250', times(NUMBER_ROSTER, NUMBER_BARE_MGET), '≥ 0.4'],
    ['names: rosters against the tuned bare query', times(NAME_ROSTER, NAME_BARE), '≥ 1.6'],
    ['their server CPU against it', times(NAME_ROSTER, NAME_BARE, serverCpu), '≤ 0.6'],
    ['numbers: rosters against PostgreSQL’s single requests', times(NUMBER_ROSTER, NUMBER_POSTGRES), '≥ 2'],
    ['names: rosters against PostgreSQL’s single requests', times(NAME_ROSTER, NAME_POSTGRES), '≥ 2'],
    [
      'p99 of single numbers at 100 a second beside rosters, against idle',
      `${(busy.p99 / idle.p99).toFixed(1)} × (${busy.p99.toFixed(1)} ms, ${idle.p99.toFixed(1)} ms)`,
      '≤ 3',
    ],
    ['p99 of the event loop’s delay beside rosters', `${busy.eventLoopP99.toFixed(1)} ms`, '< 20 ms'],
    [
      '`licenses verify`',
      `${Math.round(command.rows / command.seconds)} rows/s; ${Math.round(command.commandMebibytes)} MiB, the API ${Math.round(command.apiMebibytes)} MiB`,
      '',
    ],
    [
      'memory of the API, eight rosters of 1,000 names, 20 matches each',
      `${Math.round(memory)} MiB`,
      '< 650 MiB',
    ],
  ];
}

function contendersTable({ results }: Report): string {
  const rows = [...results.keys()].map((name) => {
    const value = (of: (measured: Measured) => number, digits = 0) =>
      medianOf(results, name, of).toFixed(digits);
    const servers = Object.keys(results.get(name)?.[0]?.cpu ?? {});
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
  return tableOf(
    ['asked', 'items/s', 'p50 ms of a request', 'p99 ms', 'CPU µs an item', 'bytes an item'],
    rows,
  );
}

/** Writes the tables and the raw numbers into docs/performance, and returns the tables. */
export async function writeReport(report: Report): Promise<string> {
  const [cpu] = cpus();
  const machine =
    `${report.rows.toLocaleString('en-US')} rows; median of ${report.rounds} rounds in turn, ${report.measuredOn}; ` +
    `${cpus().length} cores (${cpu?.model ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB, shared by all servers and ` +
    `the load generator; Node ${process.versions.node}.`;
  const text = [
    '# Rosters\n\n`npm run bench rosters` measured this.',
    machine,
    tableOf(['compared', 'measured', 'target'], comparisons(report)),
    contendersTable(report),
  ].join('\n\n');
  await mkdir(FOLDER, { recursive: true });
  await writeFile(join(FOLDER, 'rosters.md'), `${text}\n`);
  const raw = { ...report, results: Object.fromEntries(report.results) };
  await writeFile(join(FOLDER, 'rosters.json'), `${JSON.stringify(raw, null, 2)}\n`);
  return text;
}
