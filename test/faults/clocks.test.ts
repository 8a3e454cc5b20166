import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { z } from 'zod';
import { writeSampleData } from '../../src/dataset/sample-data.ts';
import { publicationHistory } from '../../src/publications/history.ts';
import { readEvents } from '../../src/publications/ledger.ts';
import { licensesIndices } from '../../src/publications/metadata.ts';
import { childrenOf } from '../support/children.ts';
import { expectOneCompletePublication, livePublished } from '../support/complete-publication.ts';
import { type TestEnvironment, testEnvironment } from '../support/environment.ts';
import { faultTest, inForm } from '../support/fault-form.ts';
import { licenses, startWorker } from '../support/processes.ts';
import { publisher } from '../support/publisher.ts';
import { untilLoaded } from '../support/random-moments.ts';

const HOUR_MS = 3_600_000;
const ROWS = 1000;
const KILLED_ROWS = 60_000;

/** What is done, and by how many hours the clock of the process that does it is ahead. */
type Step = readonly ['publish' | 'roll back', number];

const STEPS: readonly Step[] = [
  ['publish', 1],
  ['publish', -1],
  ['roll back', -1],
  ['publish', -1],
  ['roll back', 1],
  ['publish', 1],
  ['publish', -1],
  ['roll back', 1],
  ['publish', -1],
  ['publish', 1],
  ['publish', -1],
  ['roll back', -1],
  ['roll back', 1],
  ['publish', -1],
];
const DONE = inForm({ short: STEPS.slice(0, 5), full: STEPS });

let environment: TestEnvironment;

beforeAll(async () => {
  environment = await testEnvironment();
});
afterAll(() => environment.cleanUp());

function clock(hours: number): Record<string, string> {
  return {
    NODE_OPTIONS: `--import=${resolve(import.meta.dirname, '../support/shifted-clock.ts')}`,
    CLOCK_SHIFT_MS: String(hours * HOUR_MS),
  };
}

function withClock(hours: number): Record<string, string> {
  return { ...environment.variables, ...clock(hours) };
}

const publishResult = z.object({ state: z.literal('live'), publication: z.string() });
const rollbackResult = z.object({
  from: z.object({ publication: z.string() }),
  to: z.object({ publication: z.string() }),
});

/** Publishes files that no other step has, by a worker with this clock. */
async function publishWithClock(step: number, hours: number): Promise<string> {
  const directory = join(environment.folder, String(step));
  const files = await writeSampleData({ directory, rows: ROWS, seed: step, date: '2026-11-20' });
  const worker = await startWorker(withClock(hours));
  try {
    const { code, stdout } = await licenses(
      withClock(hours),
      ...['publish', '--individual', files.individual, '--business', files.business, '--json'],
    );
    expect({ step, code }).toEqual({ step, code: 0 });
    return publishResult.parse(JSON.parse(stdout)).publication;
  } finally {
    await worker.stop();
  }
}

async function rollBackWithClock(step: number, hours: number): Promise<z.output<typeof rollbackResult>> {
  const { code, stdout } = await licenses(withClock(hours), 'rollback', '--json');
  expect({ step, code }).toEqual({ step, code: 0 });
  return rollbackResult.parse(JSON.parse(stdout));
}

/** What ought to be: every publication in the order in which they went live first, and what became of them. */
interface Expected {
  readonly published: string[];
  readonly rolledBack: Set<string>;
  kept: string[];
  live: string;
}

function afterPublishing(expected: Expected, publication: string): void {
  expected.published.push(publication);
  expected.live = publication;
  expected.kept = [...expected.kept.slice(1 - environment.config.KEEP_PUBLICATIONS), publication];
}

/** The latest before the live one that nobody has rolled back. */
function targetOf({ kept, live, rolledBack }: Expected): string | undefined {
  return kept.slice(0, kept.indexOf(live)).findLast((publication) => !rolledBack.has(publication));
}

async function expectLedger({ published, live, kept }: Expected): Promise<void> {
  const { client, config } = environment;
  const history = await publicationHistory(client, config.INDEX_PREFIX);
  expect(history.live?.publication).toBe(live);
  expect(history.publications.map(({ publication }) => publication).toReversed()).toEqual(published);
  const indices = await licensesIndices(client, config.INDEX_PREFIX);
  expect(indices.map(({ metadata }) => metadata.publication)).toEqual(kept);
  const epochs = (await readEvents(client, config.INDEX_PREFIX)).flatMap(({ epoch }) => epoch ?? []);
  expect(epochs).toEqual(epochs.toSorted((one, other) => one - other));
}

faultTest(
  'a worker an hour behind and one an hour ahead in turn, with rollbacks',
  `${DONE.length} steps`,
  async () => {
    const expected: Expected = { published: [], rolledBack: new Set(), kept: [], live: '' };
    for (const [step, [does, hours]] of DONE.entries()) {
      if (does === 'publish') afterPublishing(expected, await publishWithClock(step, hours));
      else {
        const target = targetOf(expected);
        const { from, to } = await rollBackWithClock(step, hours);
        expect({ step, from: from.publication, to: to.publication }).toEqual({
          step,
          from: expected.live,
          to: target,
        });
        expected.rolledBack.add(from.publication);
        expected.live = to.publication;
      }
      await expectLedger(expected);
    }
    await expectOneCompletePublication(environment, await livePublished(environment));
    return { outcome: 'ledger, live, rollback targets and what is kept in the order of the steps' };
  },
  180_000,
);

for (const [one, other] of inForm<readonly (readonly [number, number])[]>({
  short: [],
  full: [
    [1, -1],
    [-1, 1],
  ],
})) {
  faultTest(
    "two workers at once whose clocks differ by two hours, the publication's own process killed (SIGKILL)",
    `${one} and ${other}`,
    async () => {
      const publications = await publisher({ rows: KILLED_ROWS });
      const second = await startWorker({ ...publications.environment.variables, ...clock(other) });
      try {
        const first = await publications.startWorker(clock(one));
        const takenAt = Date.now();
        const ended = publications.publish('large');
        await untilLoaded({ share: 0.5, name: '' }, { takenAt, ended }, publications);
        for (const { child } of [first, second]) {
          for (const id of await childrenOf(child.pid ?? 0)) process.kill(id, 'SIGKILL');
        }
        expect((await ended).code).toBe(0);
        const seconds = (Date.now() - takenAt) / 1000;
        await second.stop();
        await publications.expectRecovered('large');
        return { seconds, outcome: 'one of them starts it again; live' };
      } finally {
        await second.stop();
        await publications.stop();
      }
    },
    180_000,
  );
}
