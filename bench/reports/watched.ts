import { z } from 'zod';
import { markdownTable } from '../../scripts/markdown-table.ts';

/** Everything that `npm run bench watched` measured. */
export const watchedReport = z.strictObject({
  subscriptions: z.int(),
  /** Of one publication. */
  changes: z.int(),
  pages: z.array(
    z.strictObject({
      name: z.string(),
      /** How many changes each page has. */
      found: z.int(),
      /** How long each page took, in ascending order. */
      ms: z.array(z.number()),
      /** Milliseconds of CPU for a page, by server. */
      cpu: z.record(z.string(), z.number()),
    }),
  ),
});

export type WatchedReport = z.output<typeof watchedReport>;

/** The table for docs/generated/performance.md. */
export function watchedText({ subscriptions, changes, pages }: WatchedReport): string {
  const at = (ms: readonly number[], share: number) => (ms[Math.ceil(ms.length * share) - 1] ?? 0).toFixed(0);
  const cells = pages.map(({ name, found, ms, cpu }) => [
    name,
    String(found),
    at(ms, 0.5),
    at(ms, 0.99),
    Object.entries(cpu)
      .map(([server, each]) => `${server} ${each.toFixed(0)}`)
      .join(', '),
  ]);
  const grouped = (count: number) => count.toLocaleString('en-US');
  return [
    `${grouped(changes)} changes of one publication, an account with ${grouped(subscriptions)} subscriptions and one with a hundred; each page was read ${pages[0]?.ms.length ?? 0} times.`,
    markdownTable(['page', 'changes in it', 'p50 ms', 'p99 ms', 'CPU ms'], cells, 'numbers'),
  ].join('\n\n');
}
