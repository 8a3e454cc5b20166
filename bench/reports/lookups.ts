import { z } from 'zod';
import { markdownTable } from '../../scripts/markdown-table.ts';
import { loadResult } from '../lookups/load.ts';
import {
  MISS_BUSY,
  MISS_REST,
  NAME_BARE,
  NAME_BARE_WHOLE,
  NAME_FIRST,
  NAME_REST,
  NUMBER_BARE,
  NUMBER_BARE_WHOLE,
  NUMBER_GET,
  NUMBER_MCP,
  NUMBER_MGET,
  NUMBER_MGET_32,
  NUMBER_REST,
} from '../lookups/names.ts';
import { medianOf, type Rounds, ratiosOf, roundsOf, times } from '../results/rounds.ts';

/** A load, and what it cost. */
export const measured = loadResult.extend({
  lookups: z.int(),
  /** Lookups a second. */
  rate: z.number(),
  /** Microseconds of CPU for each lookup. */
  cpu: z.object({ openSearch: z.number(), api: z.number(), redis: z.number(), generator: z.number() }),
});

export type Measured = z.output<typeof measured>;

const rounds = roundsOf(measured);

/** Everything that `npm run bench lookups` measured. */
export const lookupsReport = z.strictObject({
  rows: z.int(),
  results: rounds,
  /** The same rate for all: half of the most that REST answers. */
  halfRate: z.strictObject({ rate: z.number(), results: rounds }),
  /** Resident MiB of the API at full rate, one reading after the other. */
  memory: z.array(z.number()),
  /** Over a tenth of the rows. */
  fewer: rounds,
});

export type LookupsReport = z.output<typeof lookupsReport>;

const rateOf = ({ rate }: Measured) => rate;

/** CPU of OpenSearch, the API and Redis together. */
function serverCpu({ cpu }: Measured): number {
  return cpu.openSearch + cpu.api + cpu.redis;
}

/** How many of the machine's cores were busy. */
function coresInUse(measured: Measured): number {
  return (measured.rate * (serverCpu(measured) + measured.cpu.generator)) / 1e6;
}

/** What is compared, the figure, and its target. */
function comparisons({ results, halfRate, memory, fewer }: LookupsReport): string[][] {
  const rate = (one: string, other: string) => times(ratiosOf(results, [one, other], rateOf));
  const cpu = (one: string, other: string) => times(ratiosOf(results, [one, other], serverCpu));
  const growth = (name: string) =>
    `${(medianOf(results, name, serverCpu) / medianOf(fewer, name, serverCpu)).toFixed(2)} ×`;
  const settled = memory.slice(Math.floor(memory.length / 5));
  const p99 = medianOf(halfRate.results, NUMBER_REST, (each) => each.p99);
  return [
    ['numbers: REST against bare `_search`', rate(NUMBER_REST, NUMBER_BARE), '≥ 1'],
    ['numbers: REST against `_search` with whole hits', rate(NUMBER_REST, NUMBER_BARE_WHOLE), ''],
    ['numbers: REST against `GET _doc/{id}`', rate(NUMBER_REST, NUMBER_GET), ''],
    ['numbers: REST against `_mget` of 1', rate(NUMBER_REST, NUMBER_MGET), ''],
    ['numbers: REST against `_mget` of 32', rate(NUMBER_REST, NUMBER_MGET_32), ''],
    ['numbers: server CPU of REST against `_search`', cpu(NUMBER_REST, NUMBER_BARE), ''],
    ['numbers: server CPU of REST against `GET _doc/{id}`', cpu(NUMBER_REST, NUMBER_GET), ''],
    ['numbers: server CPU of REST against `_mget` of 32', cpu(NUMBER_REST, NUMBER_MGET_32), ''],
    ['names: REST against the tuned query', rate(NAME_REST, NAME_BARE), '≥ 0.7'],
    ['names: REST against the tuned query with whole hits', rate(NAME_REST, NAME_BARE_WHOLE), ''],
    ['names: REST against the query first written', rate(NAME_REST, NAME_FIRST), '≥ 2'],
    ['numbers: MCP against REST', rate(NUMBER_MCP, NUMBER_REST), '≥ 0.35'],
    ['server CPU of a miss without suggestions against a hit', cpu(MISS_BUSY, NUMBER_REST), '≤ 1'],
    ['server CPU of a miss with suggestions against a hit', cpu(MISS_REST, NUMBER_REST), '≤ 3'],
    ['server CPU of a number against a tenth of the rows', growth(NUMBER_REST), '≤ 1.25'],
    ['server CPU of a name against a tenth of the rows', growth(NAME_REST), 'by matches'],
    ['p99 of numbers by REST at half rate', `${p99.toFixed(1)} ms`, '< 15 ms'],
    [
      'memory of the API at full rate',
      `${Math.min(...settled).toFixed(0)} to ${Math.max(...settled).toFixed(0)} MiB`,
      'flat',
    ],
  ];
}

const CPU_COLUMNS = ['OpenSearch', 'API', 'Redis', 'generator'].map((name) => `CPU µs ${name}`);

function contendersTable(results: Rounds<Measured>): string {
  const rows = Object.keys(results).map((name) => {
    const value = (of: (measured: Measured) => number, digits = 0) =>
      medianOf(results, name, of).toFixed(digits);
    return [
      name,
      value(rateOf),
      value(({ p50 }) => p50, 1),
      value(({ p99 }) => p99, 1),
      value(({ cpu }) => cpu.openSearch),
      value(({ cpu }) => cpu.api),
      value(({ cpu }) => cpu.redis),
      value(({ cpu }) => cpu.generator),
      value(coresInUse, 2),
      value(({ bytes, lookups }) => bytes / lookups),
    ];
  });
  const header = ['asked', 'a second', 'p50 ms', 'p99 ms', ...CPU_COLUMNS, 'cores', 'bytes'];
  return markdownTable(header, rows, 'numbers');
}

/** The tables for docs/performance.md. */
export function lookupsText(report: LookupsReport): string {
  const { rows, results, halfRate } = report;
  const [first = []] = Object.values(results);
  return [
    `${rows.toLocaleString('en-US')} rows. Each figure is the median of ${first.length} rounds; ratios are of the same round, with the lowest and highest in brackets.`,
    markdownTable(['compared', 'measured', 'target'], comparisons(report), 'numbers'),
    'At full rate, with 64 lookups in flight ("cores": how many of the machine\'s were busy):',
    contendersTable(results),
    `At ${Math.round(halfRate.rate).toLocaleString('en-US')} lookups a second, half of the most that REST answers:`,
    contendersTable(halfRate.results),
  ].join('\n\n');
}

/** What the measured CPU allows, for docs/deployment.md. */
export function capacityText({ results }: LookupsReport): string {
  const micros = (part: keyof Measured['cpu']) => medianOf(results, NUMBER_REST, ({ cpu }) => cpu[part]);
  const [openSearch, redis, api] = [micros('openSearch'), micros('redis'), micros('api')];
  const perSecond = (cores: number, each: number) =>
    (Math.floor((cores * 1e6) / each / 100) * 100).toLocaleString('en-US');
  return (
    `**Calculated, not measured**: a number lookup costs OpenSearch ${openSearch.toFixed(0)} µs, Redis ${redis.toFixed(0)} µs and the API ` +
    `${api.toFixed(0)} µs of CPU ([performance](performance.md)). Two cores that do nothing else could answer at most ` +
    `${perSecond(2, openSearch + redis + api)} lookups a second. Three such machines have six cores: ` +
    `at most ${perSecond(6, openSearch + redis + api)}, or ${perSecond(6, api)} if the six cores only run the API. In the measurement, fewer cores ` +
    `were busy, and the load generator used some of them. Coordination between OpenSearch nodes, which one machine can't show, costs more.`
  );
}

/** A chart of lookups a second, as SVG. */
export function lookupsChart({ results }: LookupsReport): string {
  const entries = Object.keys(results).map(
    (name) => [name.replaceAll('`', ''), medianOf(results, name, rateOf)] as const,
  );
  const most = Math.max(...entries.map(([, rate]) => rate));
  const [left, width, height] = [330, 420, 28];
  const rows = entries.map(([name, rate], at) => {
    const y = at * height + 8;
    const length = ((rate / most) * width).toFixed(0);
    return (
      `<text x="${left - 10}" y="${y + 14}" text-anchor="end">${name}</text>` +
      `<rect x="${left}" y="${y}" width="${length}" height="20" fill="#3b6ea5"/>` +
      `<text x="${left + Number(length) + 6}" y="${y + 14}">${Math.round(rate).toLocaleString('en-US')}/s</text>`
    );
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + width + 90}" height="${entries.length * height + 16}" ` +
    `font-family="sans-serif" font-size="13">\n<title>Lookups a second</title>\n${rows.join('\n')}\n</svg>\n`
  );
}
