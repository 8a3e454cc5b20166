import { z } from 'zod';
import { markdownTable } from '../../scripts/markdown-table.ts';
import {
  type Column,
  figure,
  introduction,
  type Measured,
  measuredRounds,
  medianOf,
  P50,
  P99,
  type Rounds,
  rateColumn,
  rateOf,
  ratio,
  roundsTable,
  serverCpu,
} from '../rounds.ts';

/** The names of the contenders, in the order of the report. */
export const LOOKUPS = {
  numberBare: 'number, bare `_search`',
  numberBareWhole: 'number, bare `_search`, whole hits',
  numberGet: 'number, bare `GET _doc/{id}`',
  numberMget: 'number, bare `_mget` of 1',
  numberMget32: 'number, bare `_mget` of 32, two clients',
  number: 'number, REST',
  numberMcp: 'number, MCP',
  nameBare: 'name, bare, tuned',
  nameBareWhole: 'name, bare, tuned, whole hits',
  name: 'name, REST',
  missed: 'number missed, REST',
  missedBusy: 'number missed, REST, too busy for suggestions',
} as const;

/** The result of `npm run bench lookups`. */
export const lookupsReport = z.strictObject({
  rows: z.int(),
  results: measuredRounds,
  /** All contenders at the same rate, which is half of the maximum of REST. */
  halfRate: z.strictObject({ rate: z.number(), results: measuredRounds }),
  /** The API's resident memory at full rate, in MiB, over time. */
  memory: z.array(z.number()),
  /** The rounds with a tenth of the rows. */
  fewer: measuredRounds,
});

export type LookupsReport = z.output<typeof lookupsReport>;

/** The result of `npm run bench mcp`. */
export const mcpReport = z.strictObject({
  rows: z.int(),
  results: measuredRounds,
  /** For each contender, the name of the one that asks the same over REST. */
  comparedWith: z.record(z.string(), z.string()),
});

export type McpReport = z.output<typeof mcpReport>;

/** A server's CPU per lookup, in microseconds. */
export const cpuOf =
  (server: string) =>
  ({ cpu }: Measured) =>
    cpu[server] ?? 0;

/** The number of busy cores. */
function coresInUse(measured: Measured): number {
  return (measured.rate * (serverCpu(measured) + (measured.generatorCpu ?? 0))) / 1e6;
}

/** The rows of a table: what is compared, the figure, and its target. */
function comparisons({ results, halfRate, memory, fewer }: LookupsReport): string[][] {
  const N = LOOKUPS;
  const rate = (one: string, other: string) => ratio(results, [one, other], rateOf);
  const cpu = (one: string, other: string) => ratio(results, [one, other], serverCpu);
  const growth = (name: string) =>
    `${(medianOf(results, name, serverCpu) / medianOf(fewer, name, serverCpu)).toFixed(2)} ×`;
  const settled = memory.slice(Math.floor(memory.length / 5));
  const p99 = medianOf(halfRate.results, N.number, (each) => each.p99);
  return [
    ['numbers: REST against bare `_search`', rate(N.number, N.numberBare), '≥ 1'],
    ['numbers: REST against `GET _doc/{id}`', rate(N.number, N.numberGet), ''],
    ['numbers: server CPU of REST against `_search`', cpu(N.number, N.numberBare), ''],
    ['names: REST against the tuned query', rate(N.name, N.nameBare), '≥ 0.7'],
    ['numbers: MCP against REST', rate(N.numberMcp, N.number), '≥ 0.35'],
    ['server CPU of a miss without suggestions against a hit', cpu(N.missedBusy, N.number), '≤ 1'],
    ['server CPU of a miss with suggestions against a hit', cpu(N.missed, N.number), '≤ 3'],
    ['server CPU of a number against a tenth of the rows', growth(N.number), '≤ 1.25'],
    ['server CPU of a name against a tenth of the rows', growth(N.name), 'by matches'],
    ['p99 of numbers by REST at half rate', `${p99.toFixed(1)} ms`, '< 15 ms'],
    [
      'memory of the API at full rate',
      `${Math.min(...settled).toFixed(0)} to ${Math.max(...settled).toFixed(0)} MiB`,
      'flat',
    ],
  ];
}

const COLUMNS: readonly Column[] = [
  figure('a second', rateOf),
  P50,
  P99,
  ...['OpenSearch', 'API'].map((name) => figure(`CPU µs ${name}`, cpuOf(name))),
  figure('cores', coresInUse, 2),
];

/** The contenders in the table. Contenders that differ little from another one are left out. */
const SHOWN = [
  LOOKUPS.numberBare,
  LOOKUPS.numberGet,
  LOOKUPS.numberMget32,
  LOOKUPS.number,
  LOOKUPS.nameBare,
  LOOKUPS.name,
  LOOKUPS.missed,
  LOOKUPS.missedBusy,
];

/** The results of these contenders. */
function only(results: Rounds, names: readonly string[]): Rounds {
  return Object.fromEntries(Object.entries(results).filter(([name]) => names.includes(name)));
}

/** The tables for docs/generated/performance.md. */
export function lookupsText(report: LookupsReport): string {
  const { rows, results, halfRate } = report;
  const milliseconds = (name: string) =>
    `${medianOf(halfRate.results, name, ({ p50 }) => p50).toFixed(1)} and ${medianOf(halfRate.results, name, ({ p99 }) => p99).toFixed(1)} ms`;
  return [
    introduction(rows, results),
    markdownTable(['compared', 'measured', 'target'], comparisons(report), 'numbers'),
    'At full rate, with 64 lookups in flight:',
    roundsTable('asked', only(results, SHOWN), COLUMNS),
    `At ${Math.round(halfRate.rate).toLocaleString('en-US')} lookups of a number a second, half of the most that REST answers, p50 and p99 are ` +
      `${milliseconds(LOOKUPS.number)}, of bare \`_search\` ${milliseconds(LOOKUPS.numberBare)}.`,
  ].join('\n\n');
}

/** The table for docs/generated/performance.md. */
export function mcpText({ rows, results, comparedWith }: McpReport): string {
  // Calls in the protocol of 2025 cost less, so they are left out.
  const names = Object.keys(results).filter((name) => !name.endsWith('MCP 2025'));
  const table = roundsTable('asked', only(results, names), [
    figure('calls a second', rateOf),
    P99,
    figure('CPU µs API', cpuOf('API')),
    rateColumn('rate against REST', (name) => comparedWith[name]),
  ]);
  return [introduction(rows, results), table].join('\n\n');
}

/** The capacity that follows from the measured CPU, for docs/generated/performance.md. */
export function capacityText({ results }: LookupsReport): string {
  const micros = (server: string) => medianOf(results, LOOKUPS.number, cpuOf(server));
  const [openSearch, redis, api] = [micros('OpenSearch'), micros('Redis'), micros('API')];
  const perSecond = (cores: number, each: number) =>
    (Math.floor((cores * 1e6) / each / 100) * 100).toLocaleString('en-US');
  return (
    `**Calculated, not measured**: a number lookup costs OpenSearch ${openSearch.toFixed(0)} µs, Redis ${redis.toFixed(0)} µs and the API ` +
    `${api.toFixed(0)} µs of CPU (median). Two cores that do nothing else could answer at most ` +
    `${perSecond(2, openSearch + redis + api)} lookups a second; three such machines at most ` +
    `${perSecond(6, openSearch + redis + api)}. Coordination between OpenSearch nodes, which one machine can't show, costs more.`
  );
}
