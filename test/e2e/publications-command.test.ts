import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { command } from '../support/in-process.ts';
import { publishFiles } from '../support/publishing.ts';

const liveResult = z.object({ state: z.literal('live'), publication: z.string() });

let environment: TestEnvironment;

beforeAll(async () => {
  environment = await testEnvironment();
});

async function publishSample(date: string): Promise<string> {
  const directory = join(environment.folder, date);
  const files = await writeSampleData({ directory, rows: 1000, seed: 7, date });
  return liveResult.parse(await publishFiles(environment, files)).publication;
}

const run = (...parameters: string[]) => command(environment.variables, ...parameters);

test('licenses publications, rollback and prune: list, roll back one, print both, and delete old indices', async () => {
  const first = await publishSample('2026-11-20');
  const second = await publishSample('2026-11-21');
  expect(JSON.parse((await run('publications', '--json')).stdout)).toMatchObject({
    live: { publication: second, state: 'live', sample: true },
    publications: [
      { publication: second, state: 'live' },
      { publication: first, state: 'superseded' },
    ],
  });
  expect(await run('rollback')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      new RegExp(`^Live again: publication ${first} of 2026-11-20, in place of .*${second}`),
    ),
  });
  expect((await run('publications')).stdout).toMatch(/rolled_back/);
  expect(await run('prune')).toMatchObject({ code: 0 });
  expect(await run('rollback', '--to', 'nothing')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^There is no publication nothing to roll back to\. --to takes: \w+/),
  });
});
