/** @long @room publishing */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { licenses, startApi, startWorker } from '../../scripts/licenses-processes.ts';
import type { CommandResult, RunningProcess } from '../../scripts/processes.ts';
import { type DayRow, licensesOf, writeDay } from '../support/day-files.ts';

const NURSING = 'Nursing Board';
const NURSES = licensesOf(NURSING, 'RN.', 200);
const [FOLLOWED] = NURSES;

/** The lost cluster, and the empty one: the same servers, another prefix. */
const environments: TestEnvironment[] = [];
const processes: RunningProcess[] = [];

afterAll(async () => {
  for (const each of processes) await each.stop();
  for (const each of environments) await each.cleanUp();
});

async function newEnvironment(): Promise<TestEnvironment> {
  const environment = await testEnvironment();
  environments.push(environment);
  return environment;
}

async function stopAll(): Promise<void> {
  for (const each of processes.splice(0)) await each.stop();
}

/** Runs `licenses`; it must succeed. */
async function run({ variables }: TestEnvironment, ...parameters: string[]): Promise<string> {
  const { code, stdout, stderr } = await licenses(variables, ...parameters);
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

async function publish(
  { variables, folder }: TestEnvironment,
  date: string,
  nurses: readonly DayRow[],
): Promise<CommandResult> {
  const business = licensesOf('Board of Pharmacy', '02', 5);
  const files = await writeDay(folder, `${date}-${nurses.length}`, { date, individual: nurses, business });
  return licenses(
    variables,
    ...['publish', '--individual', files.individual, '--business', files.business, '--json'],
  );
}

/** The nurses, the first of them in this city. */
function nursesIn(city: string): DayRow[] {
  return NURSES.map((row) => (row === FOLLOWED ? { ...row, city } : row));
}

function asker({ config }: TestEnvironment, key: string) {
  return async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${config.PORT}${path}`, { headers: { 'X-API-Key': key } });
    return { status: response.status, body: await response.json() };
  };
}

const HISTORY = `/api/v1/history?${new URLSearchParams({ board: NURSING, license_number: FOLLOWED?.number ?? '' })}`;
const cursorBody = z.object({ next: z.string() });

let lost: TestEnvironment;
let key: string;
let backup: string;
/** The cursor of a follower of the feed, before the backup and after it. */
let cursors: string[];

beforeAll(async () => {
  lost = await newEnvironment();
  backup = join(lost.folder, 'licenses.backup');
  processes.push(await startWorker(lost.variables), await startApi(lost.variables));
  const created = await run(lost, 'keys', 'create', 'Acme', '--verified-by', 'Ada Operator', '--json');
  key = z.object({ key: z.string() }).parse(JSON.parse(created)).key;
  const ask = asker(lost, key);
  const latest = async () => cursorBody.parse((await ask('/api/v1/changes?since=latest')).body).next;
  await publish(lost, '2026-11-01', nursesIn('LIMA'));
  await publish(lost, '2026-11-02', nursesIn('AKRON'));
  cursors = [await latest()];
  await run(lost, 'backup', backup);
  await publish(lost, '2026-11-03', nursesIn('TOLEDO'));
  cursors.push(await latest());
  await stopAll();
});

test('the runbook restores an installation: keys, guards, history, and no cursor that misses changes', async () => {
  const empty = await newEnvironment();
  // Step 2: without a worker.
  expect(await run(empty, 'restore', backup)).toMatch(/^Restored 1 accounts, 1 API keys, .* Now publish/);
  // Step 3.
  processes.push(await startWorker(empty.variables), await startApi(empty.variables));
  const ask = asker(empty, key);
  expect((await ask('/api/v1/lookup/boards')).status).toBe(503);
  const nothing = await licenses(empty.variables, 'rollback');
  expect(nothing).toMatchObject({ code: 1, stderr: 'There is no earlier publication to roll back to.\n' });

  // Step 4: a file that was cut off on its way is refused, the whole one goes live.
  const cutOff = await publish(empty, '2026-11-09', nursesIn('DAYTON').slice(0, 50));
  expect(cutOff.code).toBe(2);
  expect(cutOff.stdout).toMatch(/fewer_rows: 55 rows give a license/);
  expect((await publish(empty, '2026-11-09', nursesIn('DAYTON'))).code).toBe(0);

  expect((await ask('/api/v1/lookup/boards')).status).toBe(200);
  for (const cursor of cursors) expect((await ask(`/api/v1/changes?since=${cursor}`)).status).toBe(410);
  expect((await publish(empty, '2026-11-10', nursesIn('CANTON'))).code).toBe(0);
  for (const cursor of cursors) expect((await ask(`/api/v1/changes?since=${cursor}`)).status).toBe(410);
  expect((await ask(HISTORY)).body).toMatchObject({
    coverage_start: '2026-11-01',
    gaps: [{ after: '2026-11-02', before: '2026-11-09' }],
    changes: [
      { date: '2026-11-10', fields: { city: { before: 'DAYTON', after: 'CANTON' } } },
      { date: '2026-11-02', fields: { city: { before: 'LIMA', after: 'AKRON' } } },
    ],
  });

  await run(empty, 'rollback');
  const again = await licenses(empty.variables, 'rollback');
  expect(again).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^There is no earlier publication to roll back to\. --to takes: \w+\.\n$/),
  });
  expect((await licenses(empty.variables, 'restore', backup)).stderr).toMatch(
    /^There are 1 accounts.* already;/,
  );
});
