import { join, resolve } from 'node:path';
import { writeSampleData } from '../sample-data/write-sample-data.ts';
import { type TestEnvironment, testEnvironment } from '../scripts/environment.ts';
import { startScript, startWorker } from '../scripts/licenses-processes.ts';
import { print } from '../scripts/processes.ts';
import { prepareIndices } from '../src/storage/templates.ts';
import { ALL_ROWS, number, optionsOf, text } from './options.ts';
import { publication } from './publish/publication.ts';
import type { DayFiles } from './published.ts';
import { type ChangesReport, changesText } from './reports/publish.ts';
import { writeResult } from './result.ts';
import { DATE, REQUEST_MS, withEnvironment } from './service.ts';

const { rows, pairs, changed, other } = optionsOf({
  rows: number(ALL_ROWS),
  pairs: number(5),
  changed: number(0.003),
  /** A checkout of a version without the feed of changes. */
  other: text,
});

const SEED = 5;

/** One version of the service: its worker, an installation of its own, and what was measured. */
interface Version {
  readonly name: string;
  readonly environment: TestEnvironment;
  readonly start: typeof startWorker;
  readonly measured: ChangesReport['without'];
}

/** Publishes two days alternately with both versions, in changing order: one stores what changed, the other does not. */
async function measurePairs(versions: readonly [Version, Version], days: readonly DayFiles[]): Promise<void> {
  for (let pair = 0; pair <= pairs; pair += 1) {
    const files = days[pair % days.length];
    if (files === undefined) throw new Error('There are no files.');
    for (const { name, environment, start, measured } of pair % 2 === 0 ? versions : versions.toReversed()) {
      const title = `${pair === 0 ? 'first' : `pair ${pair}`}, ${name}`;
      const took = await publication(environment, files, title, start);
      // The first publication has nothing to compare with.
      if (pair > 0) measured.push(took);
    }
  }
  const [withComparison, without] = versions;
  const report: ChangesReport = {
    ...{ rows, changed },
    withComparison: withComparison.measured,
    without: without.measured,
  };
  await writeResult('changes', report, withComparison.environment.client);
  print(changesText(report));
}

async function main(checkout: string): Promise<void> {
  await withEnvironment(async (environment) => {
    const common = { rows, seed: SEED, date: DATE };
    const days = [
      await writeSampleData({ ...common, directory: join(environment.folder, '1') }),
      await writeSampleData({ ...common, directory: join(environment.folder, '2'), changed }),
    ];
    const otherEnvironment = await testEnvironment({}, { requestMs: REQUEST_MS });
    const startOther: typeof startWorker = async (variables) => {
      const worker = startScript(resolve(checkout, 'workers/main.ts'), variables);
      await worker.printed('worker ready');
      return worker;
    };
    try {
      await prepareIndices(otherEnvironment.store);
      await measurePairs(
        [
          { name: 'with changes', environment, start: startWorker, measured: [] },
          { name: 'without', environment: otherEnvironment, start: startOther, measured: [] },
        ],
        days,
      );
    } finally {
      await otherEnvironment.cleanUp();
    }
  });
}

if (other === undefined) {
  process.stderr.write('npm run bench changes -- --other FOLDER, a checkout of a version without changes.\n');
  process.exitCode = 1;
} else {
  await main(other);
}
