import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { beforeEach, expect, jest, test } from '@jest/globals';
import { Queue } from 'bullmq';
import { atEndOfTestFile } from '../../scripts/clean-up.ts';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { startScript, startWorker } from '../../scripts/licenses-processes.ts';
import { publicationHistory } from '../../src/publications/history.ts';
import { publishQueue, requestPublication } from '../../src/publications/job.ts';
import { readEvents } from '../../src/publications/ledger.ts';
import { licensesIndices } from '../../src/publications/metadata.ts';
import { type DayRow, licensesOf, writeDay } from '../support/day-files.ts';
import { eventually } from '../support/eventually.ts';
import { FIXTURES, FIXTURES_DATE } from '../support/fixtures.ts';
import { command } from '../support/in-process.ts';
import { cut, pass, startProxy } from '../support/proxy.ts';
import { type DatasetFiles, publishByCommand } from '../support/publishing.ts';

const NURSES = licensesOf('Nursing Board', 'RN.', 200);
const DOCTORS = licensesOf('Medical Board', '35.', 60);
const BUSINESS = licensesOf('Board of Pharmacy', '02', 40);

let environment: TestEnvironment;

beforeEach(async () => {
  environment = await testEnvironment();
});

/** Runs the command. */
const run = (...parameters: string[]) => command(environment.variables, ...parameters);
const filesIn = ({ individual, business }: DatasetFiles) => [
  ...['--individual', individual, '--business', business],
];
const publish = (files: DatasetFiles, ...more: string[]) => run('publish', ...filesIn(files), ...more);
/** What a command prints as JSON. */
const inJson = async (...parameters: string[]) => JSON.parse((await run(...parameters, '--json')).stdout);

/** Files of November 20 or, where the doctors are others, of the day after. */
function day(doctors: readonly DayRow[] = DOCTORS): Promise<DatasetFiles> {
  const date = doctors === DOCTORS ? '2026-11-20' : '2026-11-21';
  const individual = [...NURSES, ...doctors];
  return writeDay(environment.folder, date, { date, individual, business: BUSINESS });
}

async function changes(): Promise<number> {
  const { client, store } = environment;
  await client.indices.refresh({ index: store.names.changes });
  return (await client.count({ index: store.names.changes })).body.count;
}

const indices = async (): Promise<string[]> =>
  (await licensesIndices(environment.store)).map(({ index }) => index);

test('a day with another city for all of a board: checked, refused, compared, accepted, live, rolled back', async () => {
  const { folder, variables, config } = environment;
  await startWorker(variables);
  const { publication: first, ...published } = await inJson('publish', ...filesIn(await day()));
  expect(published).toMatchObject({ state: 'live', date: '2026-11-20', rows: 300, rejected: 0 });

  const files = await day(DOCTORS.map((row) => ({ ...row, city: 'AKRON' })));
  const before = [await indices(), await changes()];
  const report = join(folder, 'report.md');
  const checked = await publish(files, '--check', '--json', '--report', report);
  const refusing = [expect.stringMatching(/^column_changed: 60 of 60 licenses of Medical Board/)];
  expect(checked.code).toBe(2);
  const { checks, ...result } = JSON.parse(checked.stdout);
  expect(result).toMatchObject({ state: 'would_be_refused', reasons: refusing });
  expect(checks).toContainEqual({
    ...{ check: 'column_changed', board: 'Medical Board', column: 'PARCEL_CITY' },
    ...{ measured: 100, limit: 50, passed: false, before: 60, now: 0 },
    examples: [0, 1, 2].map(() => ({ license_number: expect.stringMatching(/^35\./) })),
  });
  expect([await indices(), await changes()]).toEqual(before);
  expect((await inJson('publications')).publications).toHaveLength(1);
  expect(await readFile(report, 'utf8')).not.toMatch(/ blank +0 /);

  const refused = await publish(files);
  expect(refused.code).toBe(2);
  for (const line of [
    /GUARD +BOARD +COLUMN +BEFORE +NOW +MEASURED +LIMIT +EXAMPLES/,
    /column_changed +Medical Board +PARCEL_CITY +60 +0 +100 +50 +35\.\d+; 35\./,
    /--accept column_changed:PARCEL_CITY/,
  ])
    expect(refused.stderr).toMatch(line);

  const csv = join(folder, 'changes.csv');
  const compared = await run('publications', 'diff', 'live', ...filesIn(files), '--csv', csv);
  const moved = expect.stringMatching(/Medical Board +PARCEL_CITY +changed +60 +35\.\d+ \(LIMA > AKRON\)/);
  expect(compared).toMatchObject({ code: 0, stdout: moved });
  const [, change, ...others] = (await readFile(csv, 'utf8')).split('\n');
  expect(change).toMatch(/^changed,Medical Board,35\.\d+,.+,PARCEL_CITY,LIMA,AKRON$/);
  expect(others).toHaveLength(60);

  const accept = ['--accept', 'column_changed:PARCEL_CITY'];
  const says = expect.stringMatching(/Would go live\.\nAccepted: column_changed: 60 of 60/);
  expect(await publish(files, '--check', ...accept)).toMatchObject({ code: 0, stdout: says });
  expect([await indices(), await changes()]).toEqual(before);
  const live = await inJson('publish', ...filesIn(files), ...accept);
  expect(live).toMatchObject({ state: 'live', overridden: refusing });
  const accepted = expect.objectContaining({ column: 'PARCEL_CITY', passed: false, accepted: true });
  expect(live.checks).toContainEqual(accepted);
  const again = join(folder, 'again.md');
  const { summary } = await inJson('publications', 'show', live.publication, '--report', again);
  expect(await readFile(again, 'utf8')).toMatch(/^ {4}reasons +column_changed: 60 of 60 licenses/m);
  expect(await readFile(again, 'utf8')).not.toContain('what the guards refuse');
  expect(summary).toMatchObject({ accepted: ['column_changed:PARCEL_CITY'], checks: live.checks });
  expect(summary.statuses.ACTIVE).toBeGreaterThan(0);
  expect((await inJson('publications', 'diff', first, live.publication)).boards).toMatchObject([
    { board: 'Medical Board', columns: [{ column: 'PARCEL_CITY', changed: { count: 60 } }] },
  ]);
  expect(await run('publications', 'diff', 'nothing', 'live')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^Publication nothing is not kept\. Kept: \w+/),
  });

  expect((await run('rollback')).stdout).toBe(
    `Live again: publication ${first} of 2026-11-20, in place of ${live.publication} of 2026-11-21.\n`,
  );
  const { live: liveAgain, publications } = await inJson('publications');
  expect(liveAgain).toMatchObject({ publication: first, state: 'live' });
  const states = ['rolled_back', 'refused', 'live'].map((state) => ({ state }));
  expect(publications).toMatchObject(states);
  expect(await run('rollback', '--to', 'nothing')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^There is no publication nothing to roll back to\. --to takes: \w+/),
  });

  expect((await run('prune')).stdout).toBe('Nothing to delete.\n');
  const unaudited = await startProxy(config.OPENSEARCH_URL, (request) =>
    request.path.includes('audit/_doc') ? cut(request) : pass(request),
  );
  const through = { ...variables, OPENSEARCH_URL: unaudited.url };
  expect(await command(through, 'rollback', '--to', live.publication)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^OpenSearch does not answer .* may be live already: see npx licenses public/,
    ),
  });
  const keepOne = { ...variables, KEEP_PUBLICATIONS: '1' };
  expect((await command(keepOne, 'prune')).stdout).toMatch(/^Deleted: \S+licenses-2026-11-20-\w+\.\n$/);
  // Checks and comparisons change nothing, so they are not in it.
  expect(await inJson('audit')).toMatchObject([
    { action: 'prune', details: { deleted: expect.stringContaining('licenses-2026-11-20-') } },
    { action: 'prune', details: { deleted: '' } },
    { action: 'rollback', details: { from: live.publication, to: first } },
    { action: 'publish', details: { publication: live.publication, accept: 'column_changed:PARCEL_CITY' } },
    { action: 'publish', details: { publication: expect.stringMatching(/^(?!check)/) } },
    { action: 'publish', details: { publication: first } },
  ]);
});

const BUSY = { code: 1, stderr: expect.stringContaining('A publication is queued or runs.') };

test('licenses publish --check of files that can not be published says that they would be refused', async () => {
  const { individual, business } = await day();
  const swapped = { individual: business, business: individual };
  const says = expect.stringMatching(/^Would be refused: columns: .*are the two files swapped/);
  expect(await publish(swapped, '--check')).toMatchObject({ code: 2, stderr: says });
});

test('licenses publish --check does not run while a publication is queued, which must not wait for it', async () => {
  const queue = publishQueue(environment.config);
  atEndOfTestFile(() => queue.close());
  const waiting = () => queue.getJobCountByTypes('waiting');
  const files = await day();
  const asking = startScript('src/cli/main.ts', environment.variables, 'publish', ...filesIn(files));
  await asking.printed('No worker is running, so nothing is published yet. Start one: npx licenses work');
  expect(await publish(files, '--check')).toMatchObject(BUSY);
  expect(await indices()).toEqual([]);

  // A command that joins it does not withdraw it; the one that asked for it does.
  const listeners = process.listenerCount('SIGINT');
  const joined = publish(files);
  await eventually('it waits', async () => process.listenerCount('SIGINT') > listeners);
  await sleep(500);
  process.emit('SIGINT');
  const goesOn = expect.stringMatching(/^Publication \w+ goes on\./m);
  expect(await joined).toMatchObject({ code: 130, stderr: goesOn });
  expect(await waiting()).toBe(1);
  asking.child.kill('SIGINT');
  await asking.ended;
  expect(asking.child.exitCode).toBe(130);
  expect(asking.output()).toMatch(/^Publication \w+ is taken back: no worker had it\.$/m);
  expect(await waiting()).toBe(0);
  const { publications } = await publicationHistory(environment.store);
  expect(publications).toMatchObject([{ state: 'failed' }]);
});

test('licenses publish --check does not end well where a publication comes into the queue meanwhile', async () => {
  const queue = publishQueue(environment.config);
  atEndOfTestFile(() => queue.close());
  const files = await day();
  const looks = jest.spyOn(Queue.prototype, 'getJobCountByTypes');
  let isAsked = false;
  const proxy = await startProxy(environment.config.OPENSEARCH_URL, async ({ path, forward }) => {
    if (path.includes('_bulk') && !isAsked) {
      isAsked = true;
      await requestPublication(queue, files);
      const before = looks.mock.results.length;
      await eventually('the command looks', () => looks.mock.results.length > before);
      await looks.mock.results[before]?.value;
    }
    return forward();
  });
  const variables = { ...environment.variables, OPENSEARCH_URL: proxy.url };
  expect(await command(variables, 'publish', '--check', ...filesIn(files))).toMatchObject(BUSY);
  looks.mockRestore();
});

test('licenses publish waits if OpenSearch is away when the publication ends, and then reports that it is live', async () => {
  await startWorker(environment.variables);
  let dropped = 0;
  const proxy = await startProxy(environment.config.OPENSEARCH_URL, async (request) => {
    if (!/publications\/_search/.test(request.path) || dropped === 3) return request.forward();
    dropped += 1;
    return undefined;
  });
  const variables = { ...environment.variables, OPENSEARCH_URL: proxy.url };
  expect(await command(variables, 'publish', ...filesIn(await day()))).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/Live: publication \w+, dataset of 2026-11-20: 300 rows/),
  });
  expect(dropped).toBe(3);
});

test('licenses publish of the same files twice at the same time is one publication; one of other files is refused', async () => {
  const worker = await startWorker(environment.variables);
  const files = await day();
  worker.child.kill('SIGSTOP');
  // Two at a time.
  const publishing = () => publishByCommand(environment.variables, files, '--json');
  const queue = publishQueue(environment.config);
  atEndOfTestFile(() => queue.close());
  const asking = Promise.all([publishing(), publishing()]);
  await eventually('it is queued', async () => (await queue.getJobCountByTypes('waiting', 'active')) > 0);
  const other = await publish(FIXTURES, '--json').finally(() => worker.child.kill('SIGCONT'));
  expect(other.code).toBe(2);
  expect(JSON.parse(other.stdout)).toMatchObject({ reasons: [expect.stringContaining('is under way')] });
  const ends = await asking;
  expect(ends.map(({ code }) => code)).toEqual([0, 0]);
  // A request after the first one has ended learns that the files are live.
  const results = ends.map(({ stdout }) => JSON.parse(stdout));
  expect(new Set(results.map(({ publication, live = publication }) => live)).size).toBe(1);
  const events = await readEvents(environment.store);
  expect(events.filter(({ event }) => event === 'loading')).toHaveLength(1);
});

test('licenses publish of files that the guards refuse exits 2 and prints every reason; forced, they go live; again, they are skipped', async () => {
  await startWorker(environment.variables);
  const says = (stderr: unknown) => ({ code: 2, stderr });
  expect(await publish(FIXTURES, '--date', '2026-11-25')).toMatchObject(
    says(expect.stringContaining('--date says 2026-11-25')),
  );
  const individual = join(environment.folder, 'cut.csv.gz');
  const packed = gzipSync(await readFile(FIXTURES.individual));
  await writeFile(individual, packed.subarray(0, packed.length / 2));
  expect(await publish({ ...FIXTURES, individual })).toMatchObject(
    says(expect.stringMatching(/^Refused: truncated: cut\.csv\.gz/)),
  );

  const { code, stderr } = await publish(FIXTURES);
  expect([code, stderr.trim().split('\n')]).toEqual([
    2,
    [
      'Refused: rejected: 6 of 28 rows were rejected, more than 0.5 % (GUARD_MAX_REJECTED_PERCENT).',
      expect.stringMatching(/^duplicates: 1 numbers .*\(GUARD_MAX_DUPLICATES\)\.$/),
      expect.stringMatching(/^unknown_labels: 1 of 28 rows .*\(GUARD_MAX_UNKNOWN_PERCENT\)\.$/),
      '',
      expect.stringMatching(/^GUARD +BOARD +COLUMN +BEFORE +NOW +MEASURED +LIMIT +EXAMPLES$/),
      ...['rejected', 'duplicates', 'unknown_labels'].map((guard) => expect.stringMatching(`^${guard} `)),
      '',
      expect.stringMatching(/^Publication +[a-z0-9]+$/),
      expect.stringMatching(/^All that changes +npx licenses publications diff live --individual /),
      expect.stringMatching(/--accept rejected --accept duplicates --accept unknown_labels$/),
    ],
  ]);
  const asJson = await publish(FIXTURES, '--json');
  expect([asJson.code, asJson.stderr]).toEqual([2, '']);
  const { state, publication, reasons } = JSON.parse(asJson.stdout);
  const shown = (await run('publications', 'show', publication)).stdout;
  expect([state, shown]).toEqual(['refused', expect.stringMatching(/^state +refused$/m)]);
  for (const reason of reasons) expect(shown).toContain(reason);
  const { stdout: list } = await run('publications');
  expect(list).toMatch(new RegExp(`^${publication} +refused .* rejected\\b.*\\n.* more\\)$`, 'm'));
  expect(list).toMatch(/ refused .*truncated$/m);
  expect(list.split('\n').filter((line) => line.length > 100)).toEqual([]);

  const forced = await publish(FIXTURES, '--force', 'as the test says');
  expect(forced).toMatchObject({ code: 0, stderr: '' });
  await expectForced(forced.stdout);

  const skipped = /Skipped: publication \w+ of 2026-11-20 has the same files and is live\.\n$/;
  expect(await publish(FIXTURES)).toMatchObject({ code: 0, stdout: expect.stringMatching(skipped) });
  const again = await inJson('publish', ...filesIn(FIXTURES));
  expect(again).toMatchObject({ state: 'skipped', date: FIXTURES_DATE });
});

/** Expects what the command has printed, and that the ledger has it all. */
async function expectForced(stdout: string): Promise<void> {
  const lines = stdout.trim().split('\n');
  const at = lines.findIndex((line) => line.startsWith('Live: '));
  const [, publication = ''] = /^Live: publication (\w+)/.exec(lines[at] ?? '') ?? [];
  expect(lines.slice(at)).toEqual([
    expect.stringMatching(/^Live: publication \w+, dataset of 2026-11-20: 28 rows in [\d.]+ s\.$/),
    expect.stringMatching(/^rows per second +[\d,]+$/),
    ...['licenses         22', 'endorsements     1', 'rejected         6'],
    expect.stringMatching(/^Forced past: rejected: 6 of 28 rows/),
    expect.stringMatching(/^Forced past: duplicates: 1 numbers/),
    expect.stringMatching(/^Forced past: unknown_labels: /),
    'The column business.BOARD_ACTION is missing.',
    ...['', 'not in the catalog:', '  board: Board of Wizardry  1'],
  ]);
  const step = new RegExp(
    `^${publication}: [a-z ]+ \\(step \\d of 9\\)(, \\d+ MB)?(, \\d+ of \\d+)?(, \\d+ %)?(, about .* to the end)?$`,
  );
  for (const line of lines.slice(0, at)) expect(line).toMatch(step);

  const rejects = join(environment.folder, 'rejects.csv');
  const show = ['publications', 'show', publication, '--rejects', rejects];
  const shown = await run(...show);
  for (const line of [
    ...[/^date +2026-11-20$/m, /^forced +as the test says$/m, /^reasons +duplicates: 1 numbers/m],
    ...[/^ {2}individual +individual\.csv$/m, /^ {2}individual +[0-9a-f]{64}$/m, /^ {2}rows +28$/m],
    ...[/^ {2}rejected +6$/m, /^ {2}loading +\d/m, /^ {2}Nursing Board +\d+$/m, /^ {2}IN REVIEW +1$/m],
    ...[/^ {2}board: Board of Wizardry +1$/m, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d E[SD]T +live$/m],
    /^ {2}rows +6$/m,
  ])
    expect(shown.stdout).toMatch(line);
  const text = await readFile(rejects, 'utf8');
  expect(text).toMatch(/^FILE,LINE,REASON,ROW\nindividual,19,/);
  expect((await stat(rejects)).mode & 0o777).toBe(0o600);
  expect(await inJson(...show)).toMatchObject({
    summary: { publication, state: 'live', forced: 'as the test says' },
    events: expect.arrayContaining([expect.objectContaining({ event: 'queued' })]),
    rejects: { file: rejects, rows: 6 },
  });
  expect(await readFile(rejects, 'utf8')).toBe(text);
  const unknown = { code: 1, stdout: '', stderr: 'The ledger has no publication nothing.\n' };
  expect(await run('publications', 'show', 'nothing')).toMatchObject(unknown);
  const list = (await run('publications')).stdout;
  const [head, first] = list.split('\n');
  expect(list).toContain('(forced)');
  expect(head).toMatch(/^PUBLICATION +STATE +DATE +ROWS +REJECTED +CHANGES +TOOK +LAST EVENT +REASONS$/);
  expect(first).toMatch(/^\w+ +live +2026-11-20 +28 +6 +\d+ +\d+\.\d\ss +2\d{3}-\d\d-\d\d/);
  expect(first).toContain(publication);
}
