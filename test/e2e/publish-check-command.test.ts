import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Queue } from 'bullmq';
import { atEndOfTestFile } from '../../scripts/clean-up.ts';
import { testEnvironment } from '../../scripts/environment.ts';
import { startScript } from '../../scripts/licenses-processes.ts';
import { publicationHistory } from '../../src/publications/history.ts';
import { publishQueue, requestPublication } from '../../src/publications/job.ts';
import { licensesIndices } from '../../src/publications/metadata.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { type DayRow, licensesOf, writeDay } from '../support/day-files.ts';
import { eventually } from '../support/eventually.ts';
import { command } from '../support/in-process.ts';
import { cut, pass, startProxy } from '../support/proxy.ts';
import type { DatasetFiles } from '../support/publishing.ts';

const NURSES = licensesOf('Nursing Board', 'RN.', 200);
const DOCTORS = licensesOf('Medical Board', '35.', 60);
const BUSINESS = licensesOf('Board of Pharmacy', '02', 40);

let cli: CommandLine;
let first: string;

beforeAll(async () => {
  cli = await commandLine();
  const { code, stdout } = await cli.publish(await day('first', DOCTORS), '--json');
  const { publication, ...published } = JSON.parse(stdout);
  expect([code, published]).toMatchObject([0, { state: 'live', date: '2026-11-20', rows: 300, rejected: 0 }]);
  first = publication;
});

function day(name: string, doctors: readonly DayRow[]): Promise<DatasetFiles> {
  const date = `2026-11-${name === 'first' ? 20 : 21}`;
  return writeDay(cli.environment.folder, name, {
    date,
    individual: [...NURSES, ...doctors],
    business: BUSINESS,
  });
}

function filesIn({ individual, business }: DatasetFiles): string[] {
  return ['--individual', individual, '--business', business];
}

async function changes(): Promise<number> {
  const { client, store } = cli.environment;
  await client.indices.refresh({ index: store.names.changes });
  return (await client.count({ index: store.names.changes })).body.count;
}

async function indices(): Promise<string[]> {
  return (await licensesIndices(cli.environment.store)).map(({ index }) => index);
}

test('a day with another city for all of a board: checked, refused, compared, accepted, live, rolled back', async () => {
  const files = await day(
    'moved',
    DOCTORS.map((row) => ({ ...row, city: 'AKRON' })),
  );
  const before = await indices();
  const changesBefore = await changes();
  const report = join(cli.environment.folder, 'report.md');
  const checked = await cli.run('publish', '--check', ...filesIn(files), '--json', '--report', report);
  const refusing = [expect.stringMatching(/^column_changed: 60 of 60 licenses of Medical Board/)];
  expect(checked.code).toBe(2);
  const { checks, ...result } = JSON.parse(checked.stdout);
  expect(result).toMatchObject({ state: 'would_be_refused', reasons: refusing });
  expect(checks).toContainEqual({
    ...{ check: 'column_changed', board: 'Medical Board', column: 'PARCEL_CITY' },
    ...{ measured: 100, limit: 50, passed: false, before: 60, now: 0 },
    examples: [0, 1, 2].map(() => ({ license_number: expect.stringMatching(/^35\./) })),
  });
  expect(await indices()).toEqual(before);
  expect(await changes()).toBe(changesBefore);
  expect(JSON.parse((await cli.run('publications', '--json')).stdout).publications).toHaveLength(1);
  const text = await readFile(report, 'utf8');
  expect(text).toMatch(/^ {4}Medical Board +EXPIRATION_DATE +blank +0 +60 +0\.0 %$/m);

  const refused = await cli.publish(files);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(/GUARD +BOARD +COLUMN +BEFORE +NOW +MEASURED +LIMIT +EXAMPLES/);
  expect(refused.stderr).toMatch(/column_changed +Medical Board +PARCEL_CITY +60 +0 +100 +50 +35\.\d+; 35\./);
  expect(refused.stderr).toContain('--accept column_changed:PARCEL_CITY');

  const csv = join(cli.environment.folder, 'changes.csv');
  const compared = await cli.run('publications', 'diff', 'live', ...filesIn(files), '--csv', csv);
  expect(compared).toMatchObject({ code: 0 });
  expect(compared.stdout).toMatch(/Medical Board +PARCEL_CITY +changed +60 +35\.\d+ \(LIMA > AKRON\)/);
  const [, change, ...others] = (await readFile(csv, 'utf8')).split('\n');
  expect(change).toMatch(/^changed,Medical Board,35\.\d+,.+,PARCEL_CITY,LIMA,AKRON$/);
  expect(others).toHaveLength(60);

  const accept = ['--accept', 'column_changed:PARCEL_CITY'];
  expect(await cli.run('publish', '--check', ...filesIn(files), ...accept)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/Would go live\.\nAccepted: column_changed: 60 of 60/),
  });
  expect([await indices(), await changes()]).toEqual([before, changesBefore]);
  const live = JSON.parse((await cli.publish(files, ...accept, '--json')).stdout);
  expect(live).toMatchObject({ state: 'live', overridden: refusing });
  expect(live.checks).toContainEqual(
    expect.objectContaining({ column: 'PARCEL_CITY', passed: false, accepted: true }),
  );
  const again = join(cli.environment.folder, 'again.md');
  const show = ['publications', 'show', live.publication, '--json', '--report', again];
  const shown = JSON.parse((await cli.run(...show)).stdout);
  expect(await readFile(again, 'utf8')).toMatch(/^ {4}reasons +column_changed: 60 of 60 licenses/m);
  expect(await readFile(again, 'utf8')).not.toContain('what the guards refuse');
  expect(shown.summary).toMatchObject({ accepted: ['column_changed:PARCEL_CITY'], checks: live.checks });
  expect(shown.summary.statuses.ACTIVE).toBeGreaterThan(0);
  const both = await cli.run('publications', 'diff', first, live.publication, '--json');
  expect(JSON.parse(both.stdout).boards).toMatchObject([
    { board: 'Medical Board', columns: [{ column: 'PARCEL_CITY', changed: { count: 60 } }] },
  ]);

  expect((await cli.run('rollback')).stdout).toBe(
    `Live again: publication ${first} of 2026-11-20, in place of ${live.publication} of 2026-11-21.\n`,
  );
  const { live: liveAgain, publications } = JSON.parse((await cli.run('publications', '--json')).stdout);
  expect(liveAgain).toMatchObject({ publication: first, state: 'live' });
  expect(publications.map(({ state }: { state: string }) => state)).toEqual([
    'rolled_back',
    'refused',
    'live',
  ]);
  expect(await cli.run('rollback', '--to', 'nothing')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^There is no publication nothing to roll back to\. --to takes: \w+/),
  });

  expect((await cli.run('prune')).stdout).toBe('Nothing to delete.\n');
  const { variables, config } = cli.environment;
  const unaudited = await startProxy(config.OPENSEARCH_URL, (request) =>
    request.path.includes('audit/_doc') ? cut(request) : pass(request),
  );
  const through = { ...variables, OPENSEARCH_URL: unaudited.url };
  expect(await command(through, 'rollback', '--to', live.publication)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^OpenSearch does not answer .* may be live already: see licenses publications/,
    ),
  });
  const keepOne = { ...variables, KEEP_PUBLICATIONS: '1' };
  expect((await command(keepOne, 'prune')).stdout).toMatch(/^Deleted: \S+licenses-2026-11-20-\w+\.\n$/);
  expect(JSON.parse((await cli.run('audit', '--limit', '4', '--json')).stdout)).toMatchObject([
    { action: 'prune', details: { deleted: expect.stringContaining('licenses-2026-11-20-') } },
    { action: 'prune', details: { deleted: '' } },
    { action: 'rollback', details: { from: live.publication, to: first } },
    { action: 'publish', details: { publication: live.publication, accept: 'column_changed:PARCEL_CITY' } },
  ]);
});

describe('what a check is told that it can not do', () => {
  test('files that can not be published are refused as they would be', async () => {
    const files = await day('empty', []);
    const swapped = { individual: files.business, business: files.individual };
    const { code, stderr } = await cli.run('publish', '--check', ...filesIn(swapped));
    expect(code).toBe(2);
    expect(stderr).toMatch(/^Would be refused: columns: .*are the two files swapped/);
  });

  test('files while a publication is queued, which must not wait for them', async () => {
    const own = await testEnvironment();
    const queue = publishQueue(own.config);
    atEndOfTestFile(() => queue.close());
    const waiting = () => queue.getJobCountByTypes('waiting');
    const publish = ['publish', ...filesIn(await day('queued', DOCTORS))];
    const asking = startScript('src/cli/main.ts', own.variables, ...publish);
    await asking.printed('No worker is running, so nothing is published yet. Start one: npx licenses work');
    expect(await command(own.variables, ...publish, '--check')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('A publication is queued or runs.'),
    });
    expect(await licensesIndices(own.store)).toEqual([]);

    // A command that joins it does not withdraw it; the one that asked for it does.
    const listeners = process.listenerCount('SIGINT');
    const joined = command(own.variables, ...publish);
    await eventually('it waits', async () => process.listenerCount('SIGINT') > listeners);
    await sleep(500);
    process.emit('SIGINT');
    expect(await joined).toMatchObject({
      code: 130,
      stderr: expect.stringMatching(/^Publication \w+ goes on\./m),
    });
    expect(await waiting()).toBe(1);
    asking.child.kill('SIGINT');
    await asking.ended;
    expect([asking.child.exitCode, asking.output()]).toEqual([
      130,
      expect.stringMatching(/^Publication \w+ is taken back: no worker had it\.$/m),
    ]);
    expect(await waiting()).toBe(0);
    const { publications } = await publicationHistory(own.store);
    expect(publications.map(({ state }) => state)).toEqual(['failed']);
  });

  test('files while a publication comes into the queue', async () => {
    const own = await testEnvironment();
    const queue = publishQueue(own.config);
    atEndOfTestFile(() => queue.close());
    const files = await day('check', DOCTORS);
    const looks = jest.spyOn(Queue.prototype, 'getJobCountByTypes');
    let isAsked = false;
    const proxy = await startProxy(own.config.OPENSEARCH_URL, async ({ path, forward }) => {
      if (path.includes('_bulk') && !isAsked) {
        isAsked = true;
        await requestPublication(queue, files);
        const before = looks.mock.results.length;
        await eventually('the command looks', () => looks.mock.results.length > before);
        await looks.mock.results[before]?.value;
      }
      return forward();
    });
    const variables = { ...own.variables, OPENSEARCH_URL: proxy.url };
    expect(await command(variables, 'publish', '--check', ...filesIn(files))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('A publication is queued or runs.'),
    });
  });

  test('a publication that is not kept', async () => {
    expect(await cli.run('publications', 'diff', 'nothing', 'live')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Publication nothing is not kept\. Kept: \w+/),
    });
  });
});
