import { join } from 'node:path';
import { writeSampleData } from '../sample-data/write-sample-data.ts';
import { print } from '../scripts/processes.ts';
import { ALL_ROWS, number, optionsOf } from './options.ts';
import { type Bench, writeBodies } from './publish/bodies.ts';
import { bulkHelper, ceiling, HELPER_DOCUMENTS, tunedSetting } from './publish/plain-clients.ts';
import { publication } from './publish/publication.ts';
import { type PublishReport, publishText } from './reports/publish.ts';
import { writeResult } from './result.ts';
import { turnsOf } from './rounds.ts';
import { DATE, withEnvironment } from './service.ts';

const SEED = 5;

const { rows, rounds } = optionsOf({ rows: number(ALL_ROWS), rounds: number(3) });

/** Measures prepared requests, a publication and the bulk helper in changing order. */
async function measure(bench: Bench): Promise<void> {
  const { tried, setting } = await tunedSetting(bench);
  const documents = Math.min(HELPER_DOCUMENTS, bench.rows);
  const report: PublishReport = {
    ...{ rows, tried, setting },
    ...{ ceilings: [], publications: [], helper: { documents, rates: [] } },
  };
  const contenders = [
    async () => {
      const pushed = await ceiling(bench, setting, bench.bodies.parts);
      const { rate, openSearchCpu } = pushed;
      print(
        `prepared requests: ${Math.round(rate)} documents/s, CPU of OpenSearch ${openSearchCpu.toFixed(1)} µs`,
      );
      report.ceilings.push(pushed);
    },
    async () => {
      report.publications.push(await publication(bench.environment, bench.files, 'publication'));
    },
    async () => {
      const rate = await bulkHelper(bench);
      print(`helpers.bulk: ${Math.round(rate)} documents/s`);
      report.helper.rates.push(rate);
    },
  ];
  for (let round = 0; round < rounds; round += 1) {
    print(`round ${round + 1}`);
    for (const load of turnsOf(contenders, round)) await load();
  }
  await writeResult('publish', report, bench.environment.client);
  print(publishText(report));
}

await withEnvironment(async (environment) => {
  const { folder } = environment;
  const files = await writeSampleData({ directory: folder, rows, seed: SEED, date: DATE });
  const path = join(folder, 'bodies.ndjson');
  await measure({ environment, files, rows, bodies: { path, parts: await writeBodies(files, path) } });
});
