import { join, resolve } from 'node:path';
import { writeSampleData } from '../sample-data/write-sample-data.ts';
import { type TestEnvironment, testEnvironment } from '../scripts/environment.ts';
import { startWorker } from '../scripts/licenses-processes.ts';
import { print } from '../scripts/processes.ts';
import { prepareIndices } from '../src/storage/templates.ts';
import { ALL_ROWS, number, optionsOf } from './options.ts';
import { publication } from './publish/publication.ts';
import type { DayFiles } from './published.ts';
import { type ChangesReport, changesText } from './reports/publish.ts';
import { writeResult } from './result.ts';
import { DATE, REQUEST_MS, withEnvironment } from './service.ts';

const { rows, pairs, changed } = optionsOf({
  rows: number(ALL_ROWS),
  pairs: number(3),
  changed: number(0.003),
});

const SEED = 5;

const WITHOUT_COMPARISON = resolve(import.meta.dirname, 'publish/without-comparison.ts');

/** A kind of worker, with or without the comparison of publications. Each has its own installation. */
interface Version {
  readonly name: string;
  readonly environment: TestEnvironment;
  readonly start: typeof startWorker;
  readonly measured: ChangesReport['without'];
}

/** Publishes two days alternately with both kinds of workers, in changing order, and measures each publication. */
async function measurePairs(versions: readonly [Version, Version], days: readonly DayFiles[]): Promise<void> {
  for (let pair = 0; pair <= pairs; pair += 1) {
    const files = days[pair % days.length];
    if (files === undefined) throw new Error('There are no files.');
    for (const { name, environment, start, measured } of pair % 2 === 0 ? versions : versions.toReversed()) {
      const title = `${pair === 0 ? 'first' : `pair ${pair}`}, ${name}`;
      const took = await publication(environment, files, title, start);
      // The first publication has no earlier one to compare with.
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

await withEnvironment(async (environment) => {
  const common = { rows, seed: SEED, date: DATE };
  const days = [
    await writeSampleData({ ...common, directory: join(environment.folder, '1') }),
    await writeSampleData({ ...common, directory: join(environment.folder, '2'), changed }),
  ];
  const otherEnvironment = await testEnvironment({}, { requestMs: REQUEST_MS });
  const startOther = (variables: Record<string, string>) =>
    startWorker({ ...variables, NODE_OPTIONS: `--import=${WITHOUT_COMPARISON}` });
  try {
    await prepareIndices(otherEnvironment.store);
    await measurePairs(
      [
        { name: 'with the comparison', environment, start: startWorker, measured: [] },
        { name: 'without', environment: otherEnvironment, start: startOther, measured: [] },
      ],
      days,
    );
  } finally {
    await otherEnvironment.cleanUp();
  }
});
