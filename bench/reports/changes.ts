import { z } from 'zod';
import { markdownTable } from '../../scripts/markdown-table.ts';
import { median } from '../median.ts';

const version = z.array(
  z.object({ seconds: z.number(), mebibytes: z.number(), workerCpu: z.number(), openSearchCpu: z.number() }),
);

/** Everything that `npm run bench changes` measured: publications of two versions in pairs. */
export const changesReport = z.strictObject({
  rows: z.int(),
  /** The share of licenses that differ between the two days. */
  changed: z.number(),
  withComparison: version,
  without: version,
});

export type ChangesReport = z.output<typeof changesReport>;
type Publication = z.output<typeof version>[number];

/** The table for docs/performance.md. */
export function changesText({ rows, changed, withComparison, without }: ChangesReport): string {
  const row = (name: string, of: (publication: Publication) => number) => {
    const ratios = withComparison.map((each, pair) => of(each) / of(without[pair] ?? each));
    return [name, `${median(ratios).toFixed(2)} ×`, ratios.map((ratio) => ratio.toFixed(2)).join(', ')];
  };
  const most = (publications: readonly Publication[]) =>
    Math.round(Math.max(...publications.map(({ mebibytes }) => mebibytes)));
  return [
    `${rows.toLocaleString('en-US')} rows, ${(changed * 100).toFixed(1)} % changed, ${withComparison.length} pairs in changing order.`,
    markdownTable(
      ['measured', 'with the comparison, against without', 'each pair'],
      [
        row('time', ({ seconds }) => seconds),
        row('CPU of the worker and its child', ({ workerCpu }) => workerCpu),
        row('CPU of OpenSearch', ({ openSearchCpu }) => openSearchCpu),
      ],
      'numbers',
    ),
    `Worker and child together used at most ${most(withComparison)} MiB, without the comparison ${most(without)} MiB.`,
  ].join('\n\n');
}
