import { z } from 'zod';
import { markdownTable } from '../../scripts/markdown-table.ts';
import { median } from '../rounds.ts';

/** How fast documents became searchable, and the CPU it took. */
const loaded = z.object({
  /** Documents per second. */
  rate: z.number(),
  /** OpenSearch's CPU per document, in microseconds. */
  openSearchCpu: z.number(),
});

export type Loaded = z.output<typeof loaded>;

/** The measurements of one publication. */
const published = loaded.extend({
  mebibytes: z.number(),
  seconds: z.number(),
  /** The CPU of the worker and its child per document, in microseconds. */
  workerCpu: z.number(),
  /** The seconds of each step. */
  steps: z.record(z.string(), z.number()),
});

export type Published = z.output<typeof published>;

/** Settings of the plain client: the size of a request body in megabytes, and the number of parallel requests. */
const setting = z.strictObject({ bodyMegabytes: z.number(), inFlight: z.int() });

export type Setting = z.output<typeof setting>;

/** The result of `npm run bench publish`. */
export const publishReport = z.strictObject({
  rows: z.int(),
  /** The settings of the plain client that were tried with a part of the documents. */
  tried: z.array(z.strictObject({ setting, rate: z.number() })),
  /** The fastest setting. */
  setting,
  ceilings: z.array(loaded),
  publications: z.array(published),
  helper: z.strictObject({ documents: z.int(), rates: z.array(z.number()) }),
});

export type PublishReport = z.output<typeof publishReport>;

const count = (value: number) => Math.round(value).toLocaleString('en-US');

/** The table for docs/generated/performance.md. */
export function publishText(report: PublishReport): string {
  const { rows, ceilings, publications, helper, setting, tried } = report;
  const rates = (loads: readonly Loaded[]) => loads.map(({ rate }) => rate);
  const shares = publications.map(({ rate }, round) => rate / (ceilings[round]?.rate ?? rate));
  const row = (name: string, values: readonly number[], ratio: string) => [
    name,
    count(median(values)),
    values.map(count).join('; '),
    ratio,
  ];
  const table = markdownTable(
    ['loaded', 'documents/s, median', 'each round', 'publication against it'],
    [
      row('publication, from file to switched alias', rates(publications), ''),
      row(
        `prepared requests of ${setting.bodyMegabytes} MB, ${setting.inFlight} in flight`,
        rates(ceilings),
        `${median(shares).toFixed(2)} ×`,
      ),
      row(
        `helpers.bulk, default mapping, the first ${count(helper.documents)} documents`,
        helper.rates,
        `${(median(rates(publications)) / median(helper.rates)).toFixed(2)} ×`,
      ),
    ],
    'numbers',
  );
  const range = (of: (publication: Published) => number) => {
    const values = publications.map(of);
    return `${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)}`;
  };
  const most = Math.max(...publications.map(({ mebibytes }) => mebibytes));
  return [
    `${count(rows)} rows, ${publications.length} rounds. The prepared requests have the fastest of ${tried.length} settings; \`helpers.bulk\` is the OpenSearch client's own loader.`,
    table,
    `A publication took ${range(({ seconds }) => seconds)} s. A document cost ${range(({ openSearchCpu }) => openSearchCpu)} µs of OpenSearch's CPU ` +
      `and ${range(({ workerCpu }) => workerCpu)} µs of the worker's. Worker and child process together used at most ${Math.round(most)} MiB.`,
  ].join('\n\n');
}

/** The result of `npm run bench changes`: publications with and without the comparison, in pairs. */
export const changesReport = z.strictObject({
  rows: z.int(),
  /** The share of licenses that differ between the two days. */
  changed: z.number(),
  withComparison: z.array(published),
  without: z.array(published),
});

export type ChangesReport = z.output<typeof changesReport>;

/** The table for docs/generated/performance.md. */
export function changesText({ rows, changed, withComparison, without }: ChangesReport): string {
  const row = (name: string, of: (publication: Published) => number) => {
    const ratios = withComparison.map((each, pair) => of(each) / of(without[pair] ?? each));
    return [name, `${median(ratios).toFixed(2)} ×`, ratios.map((ratio) => ratio.toFixed(2)).join(', ')];
  };
  const most = (publications: readonly Published[]) =>
    Math.round(Math.max(...publications.map(({ mebibytes }) => mebibytes)));
  return [
    `${rows.toLocaleString('en-US')} rows, ${(changed * 100).toFixed(1)} % changed, ${withComparison.length} pairs.`,
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
