import { z } from 'zod';
import { markdownTable } from '../../scripts/markdown-table.ts';
import { median } from '../median.ts';
import { ratiosOf, times } from '../results/rounds.ts';
import { type Measured, measured, serverCpu } from './rosters.ts';

/** The name of the rival that the others are compared with. */
export const THIS_SERVICE = 'this service';

const rival = z.strictObject({
  name: z.string(),
  loadSeconds: z.number(),
  /** On disk. */
  bytes: z.number(),
  /** Memory of the processes that is not backed by files, and the page cache that holds the data files, in MiB. */
  memory: z.strictObject({ processes: z.number(), pageCache: z.number() }),
  rounds: z.strictObject({ number: z.array(measured), name: z.array(measured) }),
});

export type RivalResult = z.output<typeof rival>;

/** Everything that `npm run bench rivals` measured. */
export const rivalsReport = z.strictObject({ rows: z.int(), rivals: z.array(rival) });

export type RivalsReport = z.output<typeof rivalsReport>;

function medianOf(rounds: readonly Measured[], of: (round: Measured) => number, digits = 0): string {
  return median(rounds.map(of)).toFixed(digits);
}

/** Rates and times by kind of lookup. */
function speedTable({ rivals }: RivalsReport, kind: 'number' | 'name'): string {
  const byName = Object.fromEntries(rivals.map(({ name, rounds }) => [name, rounds[kind]]));
  const rows = rivals.map(({ name, rounds: { [kind]: rounds } }) => {
    const servers = Object.keys(rounds[0]?.cpu ?? {});
    const parts = servers.map((server) => `${server} ${medianOf(rounds, ({ cpu }) => cpu[server] ?? 0)}`);
    return [
      name,
      medianOf(rounds, ({ rate }) => rate),
      name === THIS_SERVICE ? '' : times(ratiosOf(byName, [name, THIS_SERVICE], ({ rate }) => rate)),
      medianOf(rounds, ({ p50 }) => p50, 1),
      medianOf(rounds, ({ p99 }) => p99, 1),
      `${medianOf(rounds, serverCpu)} (${parts.join(', ')})`,
    ];
  });
  const header = [`${kind}s`, 'a second', 'of the service’s rate', 'p50 ms', 'p99 ms', 'CPU µs a lookup'];
  return markdownTable(header, rows, 'numbers');
}

function sizeTable({ rivals }: RivalsReport): string {
  const rows = rivals.map(({ name, loadSeconds, bytes, memory }) => [
    name,
    loadSeconds.toFixed(0),
    (bytes / 1e6).toFixed(0),
    memory.processes.toFixed(0),
    memory.pageCache.toFixed(0),
  ]);
  const header = ['size', 'load s', 'MB on disk', 'MiB of processes', 'MiB of page cache'];
  return markdownTable(header, rows, 'numbers');
}

/** The tables for docs/performance.md. */
export function rivalsText(report: RivalsReport): string {
  const rounds = report.rivals[0]?.rounds.number.length ?? 0;
  return [
    `${report.rows.toLocaleString('en-US')} rows. Each figure is the median of ${rounds} rounds in changing order.`,
    speedTable(report, 'number'),
    speedTable(report, 'name'),
    sizeTable(report),
  ].join('\n\n');
}
