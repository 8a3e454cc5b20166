import { z } from 'zod';
import { markdownTable } from '../../scripts/markdown-table.ts';
import {
  BYTES,
  type Column,
  figure,
  introduction,
  type Measured,
  measuredRounds,
  medianOf,
  P50,
  P99,
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

/** Everything that `npm run bench lookups` measured. */
export const lookupsReport = z.strictObject({
  rows: z.int(),
  results: measuredRounds,
  /** The same rate for all: half of the most that REST answers. */
  halfRate: z.strictObject({ rate: z.number(), results: measuredRounds }),
  /** Resident MiB of the API at full rate, one reading after the other. */
  memory: z.array(z.number()),
  /** Over a tenth of the rows. */
  fewer: measuredRounds,
});

export type LookupsReport = z.output<typeof lookupsReport>;

/** Everything that `npm run bench mcp` measured. */
export const mcpReport = z.strictObject({
  rows: z.int(),
  results: measuredRounds,
  /** For a contender, the one that asks REST the same. */
  comparedWith: z.record(z.string(), z.string()),
});

export type McpReport = z.output<typeof mcpReport>;

/** Microseconds of a server's CPU for a lookup. */
export const cpuOf =
  (server: string) =>
  ({ cpu }: Measured) =>
    cpu[server] ?? 0;

/** How many of the machine's cores were busy. */
function coresInUse(measured: Measured): number {
  return (measured.rate * (serverCpu(measured) + (measured.generatorCpu ?? 0))) / 1e6;
}

/** What is compared, the figure, and its target. */
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
    ['numbers: REST against `_search` with whole hits', rate(N.number, N.numberBareWhole), ''],
    ['numbers: REST against `GET _doc/{id}`', rate(N.number, N.numberGet), ''],
    ['numbers: REST against `_mget` of 1', rate(N.number, N.numberMget), ''],
    ['numbers: REST against `_mget` of 32', rate(N.number, N.numberMget32), ''],
    ['numbers: server CPU of REST against `_search`', cpu(N.number, N.numberBare), ''],
    ['numbers: server CPU of REST against `GET _doc/{id}`', cpu(N.number, N.numberGet), ''],
    ['numbers: server CPU of REST against `_mget` of 32', cpu(N.number, N.numberMget32), ''],
    ['names: REST against the tuned query', rate(N.name, N.nameBare), '≥ 0.7'],
    ['names: REST against the tuned query with whole hits', rate(N.name, N.nameBareWhole), ''],
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
  ...['OpenSearch', 'API', 'Redis'].map((name) => figure(`CPU µs ${name}`, cpuOf(name))),
  figure('CPU µs generator', ({ generatorCpu }) => generatorCpu ?? 0),
  figure('cores', coresInUse, 2),
  BYTES,
];

/** The tables for docs/generated/performance.md. */
export function lookupsText(report: LookupsReport): string {
  const { rows, results, halfRate } = report;
  return [
    introduction(rows, results),
    markdownTable(['compared', 'measured', 'target'], comparisons(report), 'numbers'),
    'At full rate, with 64 lookups in flight ("cores": how many of the machine\'s were busy):',
    roundsTable('asked', results, COLUMNS),
    `At ${Math.round(halfRate.rate).toLocaleString('en-US')} lookups a second, half of the most that REST answers:`,
    roundsTable('asked', halfRate.results, COLUMNS),
  ].join('\n\n');
}

/** The table for docs/generated/performance.md. */
export function mcpText({ rows, results, comparedWith }: McpReport): string {
  const table = roundsTable('asked', results, [
    figure('calls a second', rateOf),
    P50,
    P99,
    ...['API', 'OpenSearch'].map((name) => figure(`CPU µs ${name}`, cpuOf(name))),
    BYTES,
    rateColumn('rate against REST', (name) => comparedWith[name]),
  ]);
  return [introduction(rows, results), table].join('\n\n');
}

/** What the measured CPU allows, for docs/generated/performance.md. */
export function capacityText({ results }: LookupsReport): string {
  const micros = (server: string) => medianOf(results, LOOKUPS.number, cpuOf(server));
  const [openSearch, redis, api] = [micros('OpenSearch'), micros('Redis'), micros('API')];
  const perSecond = (cores: number, each: number) =>
    (Math.floor((cores * 1e6) / each / 100) * 100).toLocaleString('en-US');
  return (
    `**Calculated, not measured**: a number lookup costs OpenSearch ${openSearch.toFixed(0)} µs, Redis ${redis.toFixed(0)} µs and the API ` +
    `${api.toFixed(0)} µs of CPU (median). Two cores that do nothing else could answer at most ` +
    `${perSecond(2, openSearch + redis + api)} lookups a second. Three such machines have six cores: ` +
    `at most ${perSecond(6, openSearch + redis + api)}, or ${perSecond(6, api)} if the six cores only run the API. In the measurement, fewer cores ` +
    `were busy, and the load generator used some of them. Coordination between OpenSearch nodes, which one machine can't show, costs more.`
  );
}
