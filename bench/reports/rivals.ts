import { z } from 'zod';
import { markdownTable } from '../../scripts/markdown-table.ts';
import {
  cpuColumn,
  figure,
  introduction,
  measuredRounds,
  P50,
  P99,
  rateColumn,
  rateOf,
  roundsTable,
} from '../rounds.ts';

/** The names of the contenders, in the order of the report. */
export const RIVALS = {
  service: 'this service',
  postgres: 'PostgreSQL, thin API',
  batched: 'PostgreSQL, thin API, batched',
} as const;

/** Everything that `npm run bench rivals` measured. */
export const rivalsReport = z.strictObject({
  rows: z.int(),
  sizes: z.array(
    z.strictObject({
      name: z.string(),
      loadSeconds: z.number(),
      /** On disk. */
      bytes: z.number(),
      /** Anonymous and shared memory of the processes, without cached file pages. */
      mebibytes: z.number(),
    }),
  ),
  numbers: measuredRounds,
  names: measuredRounds,
});

export type RivalsReport = z.output<typeof rivalsReport>;

/** The tables for docs/generated/performance.md. */
export function rivalsText({ rows, sizes, numbers, names }: RivalsReport): string {
  const columns = [
    figure('a second', rateOf),
    rateColumn('of the service’s rate', (name) => (name === RIVALS.service ? undefined : RIVALS.service)),
    P50,
    P99,
    cpuColumn('CPU µs a lookup'),
  ];
  const cells = sizes.map(({ name, loadSeconds, bytes, mebibytes }) => [
    name,
    ...[loadSeconds, bytes / 1e6, mebibytes].map((value) => value.toFixed(0)),
  ]);
  return [
    introduction(rows, numbers),
    roundsTable('numbers', numbers, columns),
    roundsTable('names', names, columns),
    markdownTable(['size', 'load s', 'MB on disk', 'MiB of processes'], cells, 'numbers'),
  ].join('\n\n');
}
