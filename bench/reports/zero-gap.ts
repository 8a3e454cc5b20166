import { z } from 'zod';
import { markdownTable } from '../../scripts/markdown-table.ts';

/** What one kind of reading took, and what went wrong. */
const readings = z.strictObject({
  milliseconds: z.array(z.number()),
  failed: z.int(),
  /** Answers with parts of two days. */
  mixed: z.int(),
});

export type Readings = z.output<typeof readings>;

const byKind = z.record(z.string(), readings);

/** Everything that `npm run bench zero-gap` measured. */
export const zeroGapReport = z.strictObject({
  rows: z.int(),
  /** Requests a second, each kind a quarter of them. */
  rate: z.number(),
  idle: byKind,
  publishing: byKind,
  publicationSeconds: z.number(),
});

export type ZeroGapReport = z.output<typeof zeroGapReport>;

function percentile(sorted: readonly number[], share: number): string {
  const value = sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
  return value === undefined ? '' : value.toFixed(1);
}

function cellsOf(when: string, kind: string, all: readonly Readings[]): string[] {
  const sorted = all.flatMap(({ milliseconds }) => milliseconds).toSorted((one, other) => one - other);
  const sum = (of: 'failed' | 'mixed') => all.reduce((total, each) => total + each[of], 0);
  return [
    ...[when, kind, String(sorted.length), String(sum('failed')), String(sum('mixed'))],
    ...[0.5, 0.99, 1].map((share) => percentile(sorted, share)),
  ];
}

/** The table for docs/generated/performance.md. */
export function zeroGapText({ rows, rate, idle, publishing, publicationSeconds }: ZeroGapReport): string {
  const cells = Object.entries({ idle, publishing }).flatMap(([when, measured]) => [
    ...Object.entries(measured).map(([kind, each]) => cellsOf(when, kind, [each])),
    cellsOf(when, 'all', Object.values(measured)),
  ]);
  const header = ['while', 'lookup', 'answers', 'failed', 'mixing two days', 'p50 ms', 'p99 ms', 'most ms'];
  return [
    `${rate} lookups a second, a quarter of each kind, while ${rows.toLocaleString('en-US')} rows are published (${publicationSeconds.toFixed(0)} s).`,
    markdownTable(header, cells, 'numbers'),
  ].join('\n\n');
}
