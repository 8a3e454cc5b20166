import { z } from 'zod';
import { markdownTable } from '../../scripts/markdown-table.ts';
import { median } from '../median.ts';

/** How fast documents became searchable, and what that cost. */
const loaded = z.object({
  /** Documents a second. */
  rate: z.number(),
  /** OpenSearch's CPU, in microseconds a document. */
  openSearchCpu: z.number(),
});

export type Loaded = z.output<typeof loaded>;

/** What a publication took. */
const published = loaded.extend({
  mebibytes: z.number(),
  seconds: z.number(),
  /** CPU of the worker and its child, in microseconds a document. */
  workerCpu: z.number(),
  /** Seconds of each step. */
  steps: z.record(z.string(), z.number()),
});

export type Published = z.output<typeof published>;

/** How the plain client pushes: megabytes of a body, and how many requests are in flight. */
const setting = z.strictObject({ bodyMegabytes: z.number(), inFlight: z.int() });

export type Setting = z.output<typeof setting>;

/** Everything that `npm run bench publish` measured. */
export const publishReport = z.strictObject({
  rows: z.int(),
  /** The settings of the plain client that were tried over a part of the documents. */
  tried: z.array(z.strictObject({ setting, rate: z.number() })),
  /** The fastest of them. */
  setting,
  ceilings: z.array(loaded),
  publications: z.array(published),
  helper: z.strictObject({ documents: z.int(), rates: z.array(z.number()) }),
});

export type PublishReport = z.output<typeof publishReport>;

const count = (value: number) => Math.round(value).toLocaleString('en-US');

function rangeOf(values: readonly number[], digits: number): string {
  return `${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)}`;
}

/** The table for docs/performance.md. */
export function publishText(report: PublishReport): string {
  const { rows, ceilings, publications, helper, setting, tried } = report;
  const rates = (loads: readonly Loaded[]) => loads.map(({ rate }) => rate);
  const [ours, most] = [median(rates(publications)), median(rates(ceilings))];
  const shares = publications.map(({ rate }, round) => rate / (ceilings[round]?.rate ?? rate));
  const each = (values: readonly number[]) => values.map(count).join('; ');
  const table = markdownTable(
    ['loaded', 'documents/s, median', 'each round', 'publication against it'],
    [
      ['publication, from file to switched alias', count(ours), each(rates(publications)), ''],
      [
        `prepared requests of ${setting.bodyMegabytes} MB, ${setting.inFlight} in flight`,
        count(most),
        each(rates(ceilings)),
        `${median(shares).toFixed(2)} ×`,
      ],
      [
        `helpers.bulk, default mapping, the first ${count(helper.documents)} documents`,
        count(median(helper.rates)),
        each(helper.rates),
        `${(ours / median(helper.rates)).toFixed(2)} ×`,
      ],
    ],
    'numbers',
  );
  const settings = tried.map(
    ({ setting: each, rate }) => `${each.bodyMegabytes} MB × ${each.inFlight}: ${count(rate)}`,
  );
  const seconds = publications.map((published) => published.seconds);
  return [
    `${count(rows)} rows, ${publications.length} rounds in changing order. The plain client tried these bodies and numbers of requests in flight over a part of the documents (documents/s): ${settings.join(', ')}.`,
    table,
    `A publication took ${rangeOf(seconds, 0)} s. A document cost ${rangeOf(
      publications.map(({ openSearchCpu }) => openSearchCpu),
      0,
    )} µs of OpenSearch's CPU and ${rangeOf(
      publications.map(({ workerCpu }) => workerCpu),
      0,
    )} µs of the worker's. Worker and child process together used at most ${Math.round(
      Math.max(...publications.map(({ mebibytes }) => mebibytes)),
    )} MiB.`,
  ].join('\n\n');
}
