/** @room publishing @long */

import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { TestEnvironment } from '../../scripts/environment.ts';
import { EARLIER_COMMIT, SCRIPTS, startApi, startWorker } from '../../scripts/licenses-processes.ts';
import { type RunningProcess, runProgram, startProcess } from '../../scripts/processes.ts';
import { publishQueue } from '../../src/publications/job.ts';
import { type ApiClient, apiClient, waitForLive } from '../support/api.ts';
import { allChanges, askChanges, changesPage } from '../support/changes.ts';
import { licensesOf } from '../support/day-files.ts';
import { eventually } from '../support/eventually.ts';
import { installedFolder } from '../support/installed-folder.ts';
import { installedPackages } from '../support/npm-packages.ts';
import { filesOf, newEnvironment } from '../support/publication-days.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const NURSING = 'Nursing Board';
const NURSES = licensesOf(NURSING, 'RN.', 20);

let environment: TestEnvironment;
let rest: ApiClient;
const running: RunningProcess[] = [];

async function run(program: readonly [string, ...string[]], folder: string): Promise<void> {
  const { code, output } = await runProgram(program, { cwd: folder, variables: { ...process.env } });
  if (code !== 0) throw new Error(`${program.join(' ')}: ${output}`);
}

const earlier = await installedFolder('version', [EARLIER_COMMIT], async (folder) => {
  await run(['git', 'archive', '--output', join(folder, 'version.tar'), EARLIER_COMMIT], ROOT);
  await run(['tar', '-xf', 'version.tar'], folder);
});
const packages = await installedPackages(earlier);
await run(['ln', '-sfn', join(packages, 'node_modules'), 'node_modules'], earlier);

/** The folder of each version's checkout. */
const versions = { this: ROOT, earlier };
type Version = keyof typeof versions;

beforeEach(async () => {
  environment = await newEnvironment();
  rest = await apiClient(environment);
});
afterEach(() => Promise.all(running.splice(0).map((each) => each.stop())));

/** Starts the API or the worker of a version, and waits until it is ready. */
async function start(version: Version, program: 'API' | 'worker'): Promise<RunningProcess> {
  const started = await startedProgram(version, program);
  running.push(started);
  return started;
}

async function startedProgram(version: Version, program: 'API' | 'worker'): Promise<RunningProcess> {
  const { variables } = environment;
  if (version === 'this') return (program === 'API' ? startApi : startWorker)(variables);
  const script = join(versions[version], SCRIPTS[program]);
  const started = startProcess(`${version} ${program}`, process.execPath, [script], {
    cwd: versions[version],
    env: { PATH: process.env.PATH, ...variables },
  });
  await started.printed(program === 'API' ? 'API ready' : 'worker ready');
  return started;
}

/** Runs a command of a version, which must succeed. @returns what it printed */
async function licenses(version: Version, ...parameters: string[]): Promise<string> {
  const script = join(versions[version], SCRIPTS.licenses);
  const { code, output } = await runProgram([process.execPath, script, ...parameters], {
    cwd: versions[version],
    variables: { PATH: process.env.PATH ?? '', ...environment.variables },
  });
  if (code !== 0) throw new Error(`licenses ${parameters.join(' ')} of ${version}: ${output}`);
  return output;
}

/** Publishes a day by the command of a version: each day, one more nurse is inactive. */
async function publishDay(version: Version, day: number): Promise<void> {
  const statusOf = (at: number) => (at < day ? 'Inactive' : 'Active');
  const nurses = NURSES.map((row, at) => ({ ...row, status: statusOf(at) }));
  const files = await filesOf(environment, `2026-11-${10 + day}`, { individual: nurses });
  const { individual, business } = files;
  const given = ['--individual', individual, '--business', business];
  expect(await licenses(version, 'publish', ...given, '--json')).toContain('"state":"live"');
}

/** Expects that the API answers from this day, and that the feed leads from a cursor to it without a gap. */
async function expectDay(day: number, { since, of }: { since: string; of: number }): Promise<void> {
  await waitForLive(environment);
  const { body } = await rest.verify({ board: NURSING, license_number: `RN.${900_000 + day}` });
  expect(body).toMatchObject({ status: 'INACTIVE', last_scraped: `2026-11-${10 + day}T00:00:00` });
  const next = await rest.verify({ board: NURSING, license_number: `RN.${900_001 + day}` });
  expect(next.body).toMatchObject({ status: 'ACTIVE' });

  const latest = new Map<string, string | null>();
  for (const change of await allChanges(rest, since)) latest.set(change.license_number, change.kind);
  const changed = NURSES.slice(of, day).map(({ number }) => number);
  expect([...latest.keys()].filter((number) => changed.includes(number)).toSorted()).toEqual(changed);
}

async function cursor(): Promise<string> {
  await waitForLive(environment);
  return (await changesPage(rest)).next;
}

test('the API and the commands of this version, beside a worker of 0.3.0, and then with a worker of this version', async () => {
  const earlierWorker = await start('earlier', 'worker');
  await start('this', 'API');
  await publishDay('this', 1);
  await expectDay(1, { since: await cursor(), of: 1 });
  const since = await cursor();
  await publishDay('earlier', 2);
  await expectDay(2, { since, of: 1 });
  await licenses('this', 'rollback');
  await expectDay(1, { since, of: 1 });
  await publishDay('this', 3);
  await expectDay(3, { since, of: 1 });
  await earlierWorker.stop();

  await start('this', 'worker');
  await publishDay('this', 4);
  await expectDay(4, { since, of: 1 });
  await licenses('this', 'rollback');
  await expectDay(3, { since, of: 1 });
  expect(await licenses('this', 'publications')).toMatch(/live.*2026-11-13|2026-11-13.*live/);
});

test('a worker of this version publishes what 0.3.0 put in the queue', async () => {
  await start('this', 'API');
  const published = publishDay('earlier', 1);
  const queue = publishQueue(environment.config);
  await eventually('the job waits', async () => (await queue.getWaitingCount()) === 1);
  await queue.close();
  await start('this', 'worker');
  await published;
  await expectDay(1, { since: await cursor(), of: 1 });
});

test('the API and the commands of 0.3.0 beside a worker of this version, and the way back', async () => {
  const worker = await start('this', 'worker');
  await start('earlier', 'API');
  await publishDay('earlier', 1);
  const since = await cursor();
  await publishDay('this', 2);
  await expectDay(2, { since, of: 1 });
  await licenses('this', 'rollback');
  await expectDay(1, { since, of: 1 });
  await publishDay('this', 3);
  await expectDay(3, { since, of: 1 });
  await licenses('earlier', 'rollback');
  await expectDay(1, { since, of: 1 });
  await publishDay('earlier', 4);
  await expectDay(4, { since, of: 1 });

  await worker.stop();
  await start('earlier', 'worker');
  await publishDay('earlier', 5);
  // 0.3.0 cannot read the digests of this version: it begins a new feed, and says so.
  expect((await askChanges(rest, { since })).status).toBe(410);
  await expectDay(5, { since: await cursor(), of: 5 });
  expect(await licenses('earlier', 'publications')).toMatch(/live.*2026-11-15|2026-11-15.*live/);
});
