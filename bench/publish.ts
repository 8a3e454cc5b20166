import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeSampleData } from '../sample-data/write-sample-data.ts';
import { print } from '../scripts/terminal.ts';
import { type Bench, DATE } from './publish/bench.ts';
import { writeBodies } from './publish/bodies.ts';
import { bulkHelper, HELPER_DOCUMENTS } from './publish/bulk-helper.ts';
import { ceiling, tunedSetting } from './publish/ceiling.ts';
import { publication } from './publish/publication.ts';
import { type PublishReport, publishText, type Setting } from './reports/publish.ts';
import { writeResult } from './results/result.ts';
import { turnsOf } from './results/turns.ts';
import { withEnvironment } from './service.ts';

const SEED = 5;

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    rows: { type: 'string', default: '2600000' },
    rounds: { type: 'string', default: '3' },
  },
});
const rows = Number(values.rows);
const rounds = Number(values.rounds);

type Loads = Pick<PublishReport, 'ceilings' | 'publications' | 'helper'>;

async function pushPrepared(bench: Bench, setting: Setting, { ceilings }: Loads): Promise<void> {
  const pushed = await ceiling(bench, setting, bench.bodies.parts);
  print(
    `prepared requests: ${Math.round(pushed.rate)} documents/s, CPU of OpenSearch ${pushed.openSearchCpu.toFixed(1)} µs`,
  );
  ceilings.push(pushed);
}

async function publishFiles(bench: Bench, { publications }: Loads): Promise<void> {
  const each = await publication(bench);
  const steps = Object.entries(each.steps).map(([step, took]) => `${step} ${took} s`);
  print(
    `publication: ${Math.round(each.rate)} documents/s in ${each.seconds.toFixed(1)} s, ${Math.round(each.mebibytes)} MiB, ` +
      `CPU of OpenSearch ${each.openSearchCpu.toFixed(1)} µs, of the worker ${each.workerCpu.toFixed(1)} µs a document; ${steps.join(', ')}`,
  );
  publications.push(each);
}

async function loadByHelper(bench: Bench, { helper }: Loads): Promise<void> {
  const rate = await bulkHelper(bench);
  print(`helpers.bulk: ${Math.round(rate)} documents/s`);
  helper.rates.push(rate);
}

/** Prepared requests, a publication and the bulk helper in changing order. */
async function measure(bench: Bench): Promise<void> {
  const { tried, setting } = await tunedSetting(bench);
  const loads: Loads = {
    ceilings: [],
    publications: [],
    helper: { documents: Math.min(HELPER_DOCUMENTS, bench.rows), rates: [] },
  };
  const contenders = [
    () => pushPrepared(bench, setting, loads),
    () => publishFiles(bench, loads),
    () => loadByHelper(bench, loads),
  ];
  for (let round = 0; round < rounds; round += 1) {
    print(`round ${round + 1}`);
    for (const load of turnsOf(contenders, round)) await load();
  }
  const report: PublishReport = { rows, tried, setting, ...loads };
  await writeResult('publish', report, bench.environment.client);
  print(publishText(report));
}

await withEnvironment(async (environment) => {
  const { folder } = environment;
  const files = await writeSampleData({ directory: folder, rows, seed: SEED, date: DATE });
  const path = join(folder, 'bodies.ndjson');
  await measure({ environment, files, rows, bodies: { path, parts: await writeBodies(files, path) } });
});
