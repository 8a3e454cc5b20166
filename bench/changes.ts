import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { writeSampleData } from '../sample-data/write-sample-data.ts';
import { type TestEnvironment, testEnvironment } from '../scripts/environment.ts';
import { startScript, startWorker } from '../scripts/licenses-processes.ts';
import type { RunningProcess } from '../scripts/processes.ts';
import { print } from '../scripts/terminal.ts';
import { prepareIndices } from '../src/storage/templates.ts';
import { DATE } from './publish/bench.ts';
import { publication } from './publish/publication.ts';
import type { DayFiles } from './published.ts';
import { type ChangesReport, changesText } from './reports/changes.ts';
import type { Published } from './reports/publish.ts';
import { writeResult } from './results/result.ts';
import { REQUEST_MS, withEnvironment } from './service.ts';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    /** A checkout of a version without the feed of changes. */
    other: { type: 'string' },
    rows: { type: 'string', default: '2600000' },
    pairs: { type: 'string', default: '5' },
    changed: { type: 'string', default: '0.003' },
  },
});

const SEED = 5;

/** One version of the service: its worker and an installation of its own. */
interface Version {
  readonly name: string;
  readonly environment: TestEnvironment;
  readonly start: (variables: Record<string, string>) => Promise<RunningProcess>;
}

/** Publishes two days by turns with both versions, in changing order: one stores what changed, the other does not. */
async function measurePairs(versions: readonly [Version, Version], days: readonly DayFiles[]): Promise<void> {
  const measured = new Map<Version, Published[]>(versions.map((version) => [version, []]));
  for (let pair = 0; pair <= Number(values.pairs); pair += 1) {
    const files = days[pair % days.length];
    if (files === undefined) throw new Error('There are no files.');
    for (const version of pair % 2 === 0 ? versions : versions.toReversed()) {
      const { environment, start, name } = version;
      const found = await publication({ environment, files }, start);
      const steps = Object.entries(found.steps).map(([step, took]) => `${step} ${took} s`);
      print(`${pair === 0 ? 'first' : `pair ${pair}`}, ${name}: ${described(found)}; ${steps.join(', ')}`);
      // The first publication has nothing to compare with.
      if (pair > 0) measured.get(version)?.push(found);
    }
  }
  const [withComparison, without] = versions;
  const report: ChangesReport = {
    rows: Number(values.rows),
    changed: Number(values.changed),
    withComparison: measured.get(withComparison) ?? [],
    without: measured.get(without) ?? [],
  };
  await writeResult('changes', report, withComparison.environment.client);
  print(changesText(report));
}

function described({ seconds, mebibytes, workerCpu, openSearchCpu }: Published): string {
  return (
    `${seconds.toFixed(1)} s, ${Math.round(mebibytes)} MiB, ` +
    `CPU of a document: worker ${workerCpu.toFixed(1)} µs, OpenSearch ${openSearchCpu.toFixed(1)} µs`
  );
}

async function main(other: string): Promise<void> {
  await withEnvironment(async (environment) => {
    const directory = (day: string) => join(environment.folder, day);
    const rows = Number(values.rows);
    const days = [
      await writeSampleData({ directory: directory('1'), rows, seed: SEED, date: DATE }),
      await writeSampleData({
        directory: directory('2'),
        rows,
        seed: SEED,
        date: DATE,
        changed: Number(values.changed),
      }),
    ];
    const otherEnvironment = await testEnvironment({}, { requestMs: REQUEST_MS });
    try {
      await prepareIndices(otherEnvironment.store);
      await measurePairs(
        [
          { name: 'with changes', environment, start: startWorker },
          {
            name: 'without',
            environment: otherEnvironment,
            start: async (variables) => {
              const worker = startScript(resolve(other, 'workers/main.ts'), variables);
              await worker.printed('worker ready');
              return worker;
            },
          },
        ],
        days,
      );
    } finally {
      await otherEnvironment.cleanUp();
    }
  });
}

if (values.other === undefined) {
  process.stderr.write('npm run bench changes -- --other FOLDER, a checkout of a version without changes.\n');
  process.exitCode = 1;
} else {
  await main(values.other);
}
