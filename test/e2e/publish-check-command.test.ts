import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { testEnvironment } from '../../scripts/environment.ts';
import { publishQueue, requestPublication } from '../../src/publications/job.ts';
import { licensesIndices } from '../../src/publications/metadata.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { type DayRow, licensesOf, writeDay } from '../support/day-files.ts';
import { command } from '../support/in-process.ts';
import type { DatasetFiles } from '../support/publishing.ts';

const NURSES = licensesOf('Nursing Board', 'RN.', 200);
const DOCTORS = licensesOf('Medical Board', '35.', 60);
const BUSINESS = licensesOf('Board of Pharmacy', '02', 40);

let cli: CommandLine;
let first: string;

beforeAll(async () => {
  cli = await commandLine();
  const published = await cli.publish(await day('first', DOCTORS), '--json');
  first = JSON.parse(published.stdout).publication;
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

async function indices(): Promise<string[]> {
  return (await licensesIndices(cli.environment.store)).map(({ index }) => index);
}

test('a day with another city for all of a board: checked, refused, compared, accepted, live, rolled back', async () => {
  const files = await day(
    'moved',
    DOCTORS.map((row) => ({ ...row, city: 'AKRON' })),
  );
  const before = await indices();
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
  expect(JSON.parse((await cli.run('publications', '--json')).stdout).publications).toHaveLength(1);
  const text = await readFile(report, 'utf8');
  expect(text).toContain('| Medical Board | EXPIRATION\\_DATE | 60 | 0 | 0.0 % | 0 |');

  const refused = await cli.publish(files);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(/GUARD +BOARD +COLUMN +BEFORE +NOW +MEASURED +LIMIT +EXAMPLES/);
  expect(refused.stderr).toMatch(/column_changed +Medical Board +PARCEL_CITY +60 +0 +100 +50 +35\.\d+; 35\./);
  expect(refused.stderr).toContain('--accept column_changed:PARCEL_CITY');

  const csv = join(cli.environment.folder, 'changes.csv');
  const compared = await cli.run('publications', 'diff', 'live', ...filesIn(files), '--csv', csv);
  expect(compared).toMatchObject({ code: 0 });
  expect(compared.stdout).toMatch(/Medical Board +PARCEL_CITY +changed +60 +35\.\d+ \(LIMA > AKRON\)/);
  expect((await readFile(csv, 'utf8')).split('\n')).toHaveLength(62);

  const accept = ['--accept', 'column_changed:PARCEL_CITY'];
  expect(await cli.run('publish', '--check', ...filesIn(files), ...accept)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/Would go live\.\nAccepted: column_changed: 60 of 60/),
  });
  const live = JSON.parse((await cli.publish(files, ...accept, '--json')).stdout);
  expect(live).toMatchObject({ state: 'live', overridden: refusing });
  expect(live.checks).toContainEqual(
    expect.objectContaining({ column: 'PARCEL_CITY', passed: false, accepted: true }),
  );
  const again = join(cli.environment.folder, 'again.md');
  const show = ['publications', 'show', live.publication, '--json', '--report', again];
  const shown = JSON.parse((await cli.run(...show)).stdout);
  expect(await readFile(again, 'utf8')).toMatch(/^- column\\_changed: 60 of 60 licenses/m);
  expect(shown.summary).toMatchObject({ accepted: ['column_changed:PARCEL_CITY'], checks: live.checks });
  const both = await cli.run('publications', 'diff', first, live.publication, '--json');
  expect(JSON.parse(both.stdout).boards).toMatchObject([
    { board: 'Medical Board', columns: [{ column: 'PARCEL_CITY', changed: { count: 60 } }] },
  ]);
  expect(await cli.run('rollback')).toMatchObject({ code: 0 });
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
    try {
      const files = await day('queued', DOCTORS);
      await requestPublication(queue, files);
      expect(await command(own.variables, 'publish', '--check', ...filesIn(files))).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('A publication is queued or runs.'),
      });
      expect(await licensesIndices(own.store)).toEqual([]);
    } finally {
      await queue.close();
      await own.cleanUp();
    }
  });

  test('a publication that is not kept', async () => {
    expect(await cli.run('publications', 'diff', 'nothing', 'live')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`Publication nothing is not kept. Kept: ${first}`),
    });
  });
});
