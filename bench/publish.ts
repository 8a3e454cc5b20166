import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeSampleData } from '../sample-data/write-sample-data.ts';
import { print } from '../scripts/terminal.ts';
import { median } from './median.ts';
import { type Bench, DATE, type Loaded } from './publish/bench.ts';
import { writeBodies } from './publish/bodies.ts';
import { bulkHelper } from './publish/bulk-helper.ts';
import { ceiling, tunedInFlight } from './publish/ceiling.ts';
import { type Published, publication } from './publish/publication.ts';
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

/** Ceiling and publication in turn, and the bulk helper once. */
async function measure(bench: Bench): Promise<void> {
  const inFlight = await tunedInFlight(bench);
  const ceilings: Loaded[] = [];
  const publications: Published[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const pushed = await ceiling(bench, inFlight, bench.bodies.parts);
    ceilings.push(pushed);
    print(
      `round ${round}: ceiling ${Math.round(pushed.rate)} documents/s, CPU of OpenSearch ${pushed.openSearchCpu.toFixed(1)} µs`,
    );
    const each = await publication(bench);
    publications.push(each);
    print(
      `round ${round}: publication ${Math.round(each.rate)} documents/s in ${each.seconds.toFixed(1)} s, ${Math.round(each.mebibytes)} MiB, ` +
        `CPU of OpenSearch ${each.openSearchCpu.toFixed(1)} µs, of the worker ${each.workerCpu.toFixed(1)} µs a document; ` +
        Object.entries(each.steps)
          .map(([step, took]) => `${step} ${took} s`)
          .join(', '),
    );
  }
  const helper = await bulkHelper(bench);
  const [most, ours] = [
    median(ceilings.map(({ rate }) => rate)),
    median(publications.map(({ rate }) => rate)),
  ];
  const mebibytes = Math.max(...publications.map((each) => each.mebibytes));
  print(
    `\n| ${rows} rows, median of ${rounds} | documents/s | publication is |\n| --- | ---: | ---: |\n` +
      `| publication, file to flipped alias | ${Math.round(ours)} | 1 |\n` +
      `| ceiling: ready-made bodies, ${inFlight} in flight | ${Math.round(most)} | ${(ours / most).toFixed(2)} of it |\n` +
      `| helpers.bulk, default mapping | ${Math.round(helper)} | ${(ours / helper).toFixed(2)} times it |\n` +
      `\nWorker and child process together: ${Math.round(mebibytes)} MiB resident at the most.`,
  );
}

await withEnvironment(async (environment) => {
  const { folder } = environment;
  const files = await writeSampleData({ directory: folder, rows, seed: SEED, date: DATE });
  const path = join(folder, 'bodies.ndjson');
  await measure({ environment, files, rows, bodies: { path, parts: await writeBodies(files, path) } });
});
