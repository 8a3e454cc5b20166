import { readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { median } from '../median.ts';
import {
  MISS_BUSY,
  MISS_REST,
  NAME_BARE,
  NAME_BARE_WHOLE,
  NAME_FIRST,
  NAME_REST,
  NUMBER_BARE,
  NUMBER_BARE_WHOLE,
  NUMBER_MCP,
  NUMBER_REST,
} from './contenders.ts';
import type { LoadResult } from './load.ts';

/** A load, and what it cost. */
export interface Measured extends LoadResult {
  /** Lookups a second. */
  readonly rate: number;
  /** Microseconds of CPU for each lookup. */
  readonly cpu: Readonly<Record<'openSearch' | 'api' | 'redis' | 'generator', number>>;
}

/** Of each contender, its rounds. */
export type Results = ReadonlyMap<string, readonly Measured[]>;

export interface Report {
  readonly rows: number;
  readonly rounds: number;
  readonly results: Results;
  /** Numbers at half of the rate at which REST answers as many as it can, by REST and by bare OpenSearch. */
  readonly halfRate: { readonly rest: Measured; readonly bare: Measured };
  /** Resident MiB of the API, one reading after the other. */
  readonly memory: readonly number[];
  /** The same over a tenth of the rows. */
  readonly fewer: Results;
}

const DOCS = join(import.meta.dirname, '../../docs');
const START = '<!-- measured: start -->';
const END = '<!-- measured: end -->';

/** The median of a contender's rounds. */
export function medianOf(results: Results, name: string, of: (measured: Measured) => number): number {
  return median((results.get(name) ?? []).map(of));
}

/** How many times the other's rate one contender's is, round by round. */
export function ratios(results: Results, one: string, other: string): number[] {
  const others = results.get(other) ?? [];
  return (results.get(one) ?? []).map(({ rate }, round) => rate / (others[round]?.rate ?? 0));
}

function ratio(results: Results, one: string, other: string): number {
  return median(ratios(results, one, other));
}

/** What OpenSearch, the API and Redis spend on a lookup together. */
function serverCpu({ cpu }: Measured): number {
  return cpu.openSearch + cpu.api + cpu.redis;
}

function cpuRatio(one: Results, name: string, other: Results, otherName: string): number {
  return medianOf(one, name, serverCpu) / medianOf(other, otherName, serverCpu);
}

/** Each bar: what is compared, the figure, and what it has to be. */
function bars({ results, halfRate, memory, fewer }: Report): [string, string, string][] {
  const times = (value: number) => `${value.toFixed(2)} ×`;
  const settled = memory.slice(Math.floor(memory.length / 5));
  const [least, most] = [Math.min(...settled), Math.max(...settled)];
  return [
    ['numbers: REST against bare `_search`', times(ratio(results, NUMBER_REST, NUMBER_BARE)), '≥ 1'],
    ['the same against `_search` with whole hits', times(ratio(results, NUMBER_REST, NUMBER_BARE_WHOLE)), ''],
    [
      'server CPU of a number by REST against bare `_search`',
      times(cpuRatio(results, NUMBER_REST, results, NUMBER_BARE)),
      '',
    ],
    ['names: REST against the tuned query, bare', times(ratio(results, NAME_REST, NAME_BARE)), '≥ 0.7'],
    ['the same against it with whole hits', times(ratio(results, NAME_REST, NAME_BARE_WHOLE)), ''],
    ['names: REST against the query first written', times(ratio(results, NAME_REST, NAME_FIRST)), '≥ 2'],
    ['numbers: MCP against REST', times(ratio(results, NUMBER_MCP, NUMBER_REST)), '≥ 0.35'],
    [
      'CPU of a miss without suggestions against a hit',
      times(cpuRatio(results, MISS_BUSY, results, NUMBER_REST)),
      '≤ 1',
    ],
    [
      'CPU of a miss with suggestions against a hit',
      times(cpuRatio(results, MISS_REST, results, NUMBER_REST)),
      '≤ 3',
    ],
    [
      'CPU of a number against that over a tenth of the rows',
      times(cpuRatio(results, NUMBER_REST, fewer, NUMBER_REST)),
      '≤ 1.25',
    ],
    [
      'CPU of a name against that over a tenth of the rows',
      times(cpuRatio(results, NAME_REST, fewer, NAME_REST)),
      'by matches',
    ],
    ['p99 of numbers at half rate', `${halfRate.rest.p99.toFixed(1)} ms`, '< 15 ms'],
    ['the same of bare `_search` at that rate', `${halfRate.bare.p99.toFixed(1)} ms`, ''],
    ['memory of the API at full rate', `${least.toFixed(0)} to ${most.toFixed(0)} MiB`, 'flat'],
  ];
}

/** A table in Markdown. */
export function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, at) => (at === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n');
}

function contendersTable({ results }: Report): string {
  const rows = [...results.keys()].map((name) => {
    const value = (of: (measured: Measured) => number, digits = 0) =>
      medianOf(results, name, of).toFixed(digits);
    return [
      name,
      value(({ rate }) => rate),
      value(({ p50 }) => p50, 1),
      value(({ p99 }) => p99, 1),
      value(({ cpu }) => cpu.openSearch),
      value(({ cpu }) => cpu.api),
      value(({ cpu }) => cpu.redis),
      value(({ cpu }) => cpu.generator),
      value(({ bytes, answers }) => bytes / answers),
    ];
  });
  const micro = ['OpenSearch', 'API', 'Redis', 'generator'].map((name) => `CPU µs ${name}`);
  return tableOf(['asked', 'a second', 'p50 ms', 'p99 ms', ...micro, 'bytes'], rows);
}

function machine({ rows, rounds }: Report): string {
  const [cpu] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return (
    `${rows.toLocaleString('en')} rows, 64 connections, median of ${rounds} rounds in turn; ${cpus().length} cores ` +
    `(${cpu?.model ?? 'unknown'}), ${memory} GiB, shared by OpenSearch, Redis, the API and the load generator; ` +
    `Node ${process.versions.node}.`
  );
}

/** Bars of lookups a second. */
function chart({ results }: Report): string {
  const entries = [...results.keys()].map(
    (name) => [name, medianOf(results, name, ({ rate }) => rate)] as const,
  );
  const most = Math.max(...entries.map(([, rate]) => rate));
  const [left, width, height] = [330, 420, 28];
  const rows = entries.map(([name, rate], at) => {
    const y = at * height + 8;
    const length = ((rate / most) * width).toFixed(0);
    return (
      `<text x="${left - 10}" y="${y + 14}" text-anchor="end">${name}</text>` +
      `<rect x="${left}" y="${y}" width="${length}" height="20" fill="#3b6ea5"/>` +
      `<text x="${left + Number(length) + 6}" y="${y + 14}">${Math.round(rate).toLocaleString('en')}/s</text>`
    );
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + width + 90}" height="${entries.length * height + 16}" ` +
    `font-family="sans-serif" font-size="13">\n<title>Lookups a second</title>\n${rows.join('\n')}\n</svg>\n`
  );
}

/** Writes the table, the chart and the raw numbers into docs/, and returns the table. */
export async function writeReport(report: Report): Promise<string> {
  const text = [
    machine(report),
    tableOf(['bar', 'measured', 'to be'], bars(report)),
    contendersTable(report),
  ].join('\n\n');
  const page = join(DOCS, 'performance.md');
  const before = await readFile(page, 'utf8');
  const [start = before, rest = ''] = before.split(START);
  const [, end = ''] = rest.split(END);
  await writeFile(page, `${start}${START}\n\n${text}\n\n${END}${end}`);
  await writeFile(join(DOCS, 'performance.svg'), chart(report));
  const raw = {
    ...report,
    results: Object.fromEntries(report.results),
    fewer: Object.fromEntries(report.fewer),
  };
  await writeFile(join(DOCS, 'performance.json'), `${JSON.stringify(raw, null, 2)}\n`);
  return text;
}
