import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { licenses } from '../../scripts/licenses-processes.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { FIXTURES } from '../support/fixtures.ts';
import { publishFiles } from '../support/publishing.ts';

const FORCE = 'as the test says';

const liveResult = z.object({ state: z.literal('live'), publication: z.string() });

async function publishSample(environment: TestEnvironment, date: string): Promise<string> {
  const directory = join(environment.folder, date);
  const files = await writeSampleData({ directory, rows: 1000, seed: 7, date });
  return liveResult.parse(await publishFiles(environment, files)).publication;
}

describe('licenses publications', () => {
  let cli: CommandLine;
  let sample: string;
  let live: string;

  beforeAll(async () => {
    cli = await commandLine();
    sample = await publishSample(cli.environment, '2026-11-19');
    const forced = await cli.publish(FIXTURES, '--force', FORCE, '--json');
    live = liveResult.parse(JSON.parse(forced.stdout)).publication;
  });
  afterAll(() => cli.cleanUp());

  test('lists every publication and marks the live one and generated ones', async () => {
    const history = JSON.parse((await cli.run('publications', '--json')).stdout);
    expect(history).toMatchObject({
      live: { publication: live, state: 'live', sample: false },
      publications: [
        { publication: live, state: 'live', sample: false },
        { publication: sample, state: 'superseded', sample: true },
      ],
    });
  });

  test('prints changes, duration and the time in Ohio', async () => {
    const [headings, first] = (await cli.run('publications')).stdout.split('\n');
    expect(headings).toMatch(
      /^PUBLICATION +STATE +DATE +ROWS +REJECTED +CHANGES +TOOK +LAST EVENT +REASONS$/,
    );
    expect(first).toMatch(
      new RegExp(
        `^${live} +live \\(forced\\) +2026-11-20 +28 +6 +\\d+ +\\d+\\.\\d s +2\\d{3}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d E[SD]T`,
      ),
    );
  });

  test('show writes the rejected rows to a file and prints its name', async () => {
    const rejects = join(cli.environment.folder, 'rejects.csv');
    expect(await cli.run('publications', 'show', live, '--rejects', rejects)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`6 rows written to ${rejects}.`),
    });
    expect(await readFile(rejects, 'utf8')).toMatch(/^FILE,LINE,REASON,ROW\nindividual,19,/);
    expect((await stat(rejects)).mode & 0o777).toBe(0o600);
  });

  test('show --json prints everything as JSON and replaces an earlier file of rejected rows', async () => {
    const rejects = join(cli.environment.folder, 'again.csv');
    await cli.run('publications', 'show', live, '--rejects', rejects);
    const text = await readFile(rejects, 'utf8');
    const inJson = await cli.run('publications', 'show', live, '--rejects', rejects, '--json');
    expect(JSON.parse(inJson.stdout)).toMatchObject({
      summary: { publication: live, state: 'live', forced: FORCE },
      events: expect.arrayContaining([expect.objectContaining({ event: 'queued' })]),
      rejects: { file: rejects, rows: 6 },
    });
    expect(await readFile(rejects, 'utf8')).toBe(text);
  });

  test('show of an unknown publication prints one line and exits 1', async () => {
    expect(await cli.run('publications', 'show', 'nothing')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'The ledger has no publication nothing.\n',
    });
  });
});

describe('licenses rollback and prune', () => {
  let environment: TestEnvironment;
  let first: string;
  let second: string;

  beforeAll(async () => {
    environment = await testEnvironment();
    first = await publishSample(environment, '2026-11-20');
    second = await publishSample(environment, '2026-11-21');
  });

  const run = (...parameters: string[]) => licenses(environment.variables, ...parameters);

  test('roll back one publication, print both, and delete old indices', async () => {
    expect(await run('rollback')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        new RegExp(`^Live again: publication ${first} of 2026-11-20, in place of .*${second}`),
      ),
    });
    expect((await run('publications')).stdout).toMatch(/rolled_back/);
    expect(await run('prune')).toMatchObject({ code: 0 });
  });

  test('list the existing publications and exit 1 when the target of a rollback is unknown', async () => {
    expect(await run('rollback', '--to', 'nothing')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^There is no publication nothing to roll back to\. --to takes: \w+/),
    });
  });
});
