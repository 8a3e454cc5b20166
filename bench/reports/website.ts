import { z } from 'zod';
import { markdownTable } from '../../scripts/markdown-table.ts';
import { median } from '../rounds.ts';

/** Everything that `npm run bench website` measured. */
export const websiteReport = z.strictObject({
  rows: z.int(),
  /** Microseconds of the API's CPU for a request. */
  micros: z.record(z.string(), z.array(z.number())),
  /** A page of results, in bytes. */
  page: z.strictObject({ html: z.int(), brotli: z.int() }),
});

export type WebsiteReport = z.output<typeof websiteReport>;

/** The table for docs/generated/performance.md. */
export function websiteText({ rows, micros, page }: WebsiteReport): string {
  const cells = Object.entries(micros).map(([name, each]) => [
    name,
    String(Math.round(median(each))),
    each.map(Math.round).join(', '),
  ]);
  const kilobytes = (bytes: number) => (bytes / 1000).toFixed(1);
  return [
    `${rows.toLocaleString('en-US')} rows.`,
    markdownTable(['request', 'CPU of the API, µs, median', 'each round'], cells, 'numbers'),
    `A page of results for a common surname has ${kilobytes(page.html)} KB of HTML, ${kilobytes(page.brotli)} KB with Brotli.`,
  ].join('\n\n');
}
