import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { writeSampleData } from '../../src/dataset/sample-data.ts';
import { indicesUnderAlias } from '../../src/publications/alias.ts';
import { publicationHistory } from '../../src/publications/history.ts';
import { licensesIndices } from '../../src/publications/metadata.ts';
import { childrenOf } from '../support/children.ts';
import { type TestEnvironment, testEnvironment } from '../support/environment.ts';
import { licenses, type RunningProcess, startWorker } from '../support/processes.ts';

const ROWS = 40_000;

let environment: TestEnvironment;
let worker: RunningProcess;

beforeAll(async () => {
  environment = await testEnvironment();
  await writeSampleData({
    directory: join(environment.folder, 'one'),
    rows: 2000,
    seed: 1,
    date: '2026-11-20',
  });
  await writeSampleData({
    directory: join(environment.folder, 'two'),
    rows: ROWS,
    seed: 2,
    date: '2026-11-21',
  });
  worker = await startWorker(environment.variables);
  const first = await publish('one');
  expect(first.code).toBe(0);
}, 120_000);
afterEach(() => worker.stop());
afterAll(() => environment.cleanUp());

function publish(day: string) {
  const directory = join(environment.folder, day);
  return licenses(
    environment.variables,
    ...['publish', '--individual', join(directory, 'individual.csv')],
    ...['--business', join(directory, 'business.csv'), '--json'],
  );
}

const liveResult = z.object({ state: z.literal('live'), index: z.string(), rows: z.int() });

async function live(): Promise<string[]> {
  return indicesUnderAlias(environment.client, environment.config.INDEX_PREFIX);
}

/** Waits until an index that is not live holds some documents. */
async function untilLoading(): Promise<string> {
  const { client, config } = environment;
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline) {
    const before = await live();
    const building = (await licensesIndices(client, config.INDEX_PREFIX)).find(
      ({ index }) => !before.includes(index),
    );
    if (building !== undefined) {
      await client.indices.refresh({ index: building.index }).catch(() => undefined);
      const { body } = await client.count({ index: building.index }).catch(() => ({ body: { count: 0 } }));
      if (body.count > 0) return building.index;
    }
    await sleep(20);
  }
  throw new Error('No load began within a minute.');
}

async function expectCompleteAndClean(output: string, brokenOff: string): Promise<void> {
  const { client, config } = environment;
  const { index, rows } = liveResult.parse(JSON.parse(output));
  expect(rows).toBe(ROWS);
  expect(await live()).toEqual([index]);
  const indices = (await licensesIndices(client, config.INDEX_PREFIX)).map((each) => each.index);
  expect(indices).not.toContain(brokenOff);
  const { live: summary } = await publicationHistory(client, config.INDEX_PREFIX);
  const { body } = await client.count({ index });
  expect(body.count).toBe((summary?.counts?.licenses ?? 0) + (summary?.counts?.endorsements ?? 0));
}

test('a load whose process is killed leaves the live publication; the retry starts clean and goes live', async () => {
  const before = await live();
  const publishing = publish('two');
  const brokenOff = await untilLoading();
  for (const child of await childrenOf(worker.child.pid ?? 0)) process.kill(child, 'SIGKILL');
  expect(await live()).toEqual(before);
  const { code, stdout } = await publishing;
  expect(code).toBe(0);
  await expectCompleteAndClean(stdout, brokenOff);
}, 120_000);

test('a killed worker leaves the live publication; the next worker takes the job up and finishes it', async () => {
  worker = await startWorker(environment.variables);
  await publish('one');
  const before = await live();
  const publishing = publish('two');
  const brokenOff = await untilLoading();
  const children = await childrenOf(worker.child.pid ?? 0);
  worker.child.kill('SIGKILL');
  worker = await startWorker(environment.variables);
  expect(await live()).toEqual(before);
  const { code, stdout } = await publishing;
  expect(code).toBe(0);
  await expectCompleteAndClean(stdout, brokenOff);
  for (const child of children) expect(() => process.kill(child, 0)).toThrow('ESRCH');
}, 180_000);
