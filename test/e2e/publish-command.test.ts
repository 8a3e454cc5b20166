import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { publishQueue } from '../../src/publications/job.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { FIXTURES, FIXTURES_DATE } from '../support/fixtures.ts';
import { command } from '../support/in-process.ts';
import { startProxy } from '../support/proxy.ts';
import { type DatasetFiles, publishByCommand } from '../support/publishing.ts';

const SAMPLE_ROWS = 2000;

const refusal = z.object({
  state: z.literal('refused'),
  publication: z.string(),
  reasons: z.array(z.string()),
});

describe('licenses publish', () => {
  let cli: CommandLine;
  let samples = 0;

  beforeAll(async () => {
    cli = await commandLine();
  });

  /** Generated files with a later date than all earlier ones, so that the guards allow them. */
  async function nextSample(): Promise<{ readonly date: string; readonly files: DatasetFiles }> {
    samples += 1;
    const date = `2026-11-${String(samples).padStart(2, '0')}`;
    const folder = join(cli.environment.folder, date);
    const size = ['--rows', String(SAMPLE_ROWS), '--seed', '7'];
    expect(await cli.run('sample-data', folder, ...size, '--date', date)).toMatchObject({ code: 0 });
    return {
      date,
      files: { individual: join(folder, 'individual.csv'), business: join(folder, 'business.csv') },
    };
  }

  async function untilQueued(): Promise<void> {
    const queue = publishQueue(cli.environment.config);
    while ((await queue.getJobCountByTypes('waiting', 'active')) === 0) await sleep(20);
    await queue.close();
  }

  test('waits if OpenSearch is away when the publication ends, and then reports that it is live', async () => {
    const { date, files } = await nextSample();
    let dropped = 0;
    const proxy = await startProxy(cli.environment.config.OPENSEARCH_URL, async (request) => {
      if (!/publications\/_search/.test(request.path) || dropped === 3) return request.forward();
      dropped += 1;
      return undefined;
    });
    try {
      const variables = { ...cli.environment.variables, OPENSEARCH_URL: proxy.url };
      const { individual, business } = files;
      const parameters = ['publish', '--individual', individual, '--business', business];
      expect(await command(variables, ...parameters)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(new RegExp(`Live: publication \\w+, dataset of ${date}: 2,000 rows`)),
      });
      expect(dropped).toBe(3);
    } finally {
      await proxy.close();
    }
  });

  test('joins a running publication of the same files, and is refused for other files', async () => {
    const { files } = await nextSample();
    cli.worker.child.kill('SIGSTOP');
    // Two at a time.
    const publish = () => publishByCommand(cli.environment.variables, files, '--json');
    const first = publish();
    let same: typeof first;
    let other: Awaited<typeof first>;
    try {
      await untilQueued();
      same = publish();
      other = await cli.publish(FIXTURES, '--json');
    } finally {
      cli.worker.child.kill('SIGCONT');
    }
    expect(other.code).toBe(2);
    expect(JSON.parse(other.stdout)).toMatchObject({ reasons: [expect.stringContaining('is under way')] });
    const ends = (await Promise.all([first, same])).map(({ code, stdout }) => ({
      code,
      ...JSON.parse(stdout),
    }));
    expect(ends.map(({ code }) => code)).toEqual([0, 0]);
    // A request after the first one has ended learns that the files are live.
    expect(new Set(ends.map(({ publication, live = publication }) => live)).size).toBe(1);
  });
});

describe('licenses publish, with files that the guards refuse,', () => {
  let cli: CommandLine;

  beforeAll(async () => {
    cli = await commandLine();
  });

  test('exits 2 and prints every reason, in words and as JSON, and the ledger has them', async () => {
    expect(await cli.publish(FIXTURES, '--date', '2026-11-25')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--date says 2026-11-25'),
    });
    const individual = join(cli.environment.folder, 'cut.csv.gz');
    const packed = gzipSync(await readFile(FIXTURES.individual));
    await writeFile(individual, packed.subarray(0, packed.length / 2));
    expect(await cli.publish({ ...FIXTURES, individual })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^Refused: truncated: cut\.csv\.gz/),
    });

    const { code, stderr } = await cli.publish(FIXTURES);
    expect([code, stderr.trim().split('\n')]).toEqual([
      2,
      [
        'Refused: rejected: 6 of 28 rows were rejected, more than 0.5 % (GUARD_MAX_REJECTED_PERCENT).',
        expect.stringMatching(/^duplicates: 1 numbers .*\(GUARD_MAX_DUPLICATES\)\.$/),
        expect.stringMatching(/^unknown_labels: 1 of 28 rows .*\(GUARD_MAX_UNKNOWN_PERCENT\)\.$/),
        '',
        expect.stringMatching(/^GUARD +BOARD +COLUMN +BEFORE +NOW +MEASURED +LIMIT +EXAMPLES$/),
        expect.stringMatching(/^rejected /),
        expect.stringMatching(/^duplicates /),
        expect.stringMatching(/^unknown_labels /),
        '',
        expect.stringMatching(/^Publication +[a-z0-9]+$/),
        expect.stringMatching(/^All that changes +licenses publications diff live --individual /),
        expect.stringMatching(/--accept rejected --accept duplicates --accept unknown_labels$/),
      ],
    ]);
    const inJson = await cli.publish(FIXTURES, '--json');
    expect([inJson.code, inJson.stderr]).toEqual([2, '']);
    const { publication, reasons } = refusal.parse(JSON.parse(inJson.stdout));
    const shown = await cli.run('publications', 'show', publication);
    expect(shown.stdout).toMatch(/^state +refused$/m);
    for (const reason of reasons) expect(shown.stdout).toContain(reason);
    const { stdout: list } = await cli.run('publications');
    expect(list).toMatch(new RegExp(`^${publication} +refused .* rejected\\b.*\\n.* more\\)$`, 'm'));
    expect(list).toMatch(/ refused .*truncated$/m);
    expect(list.split('\n').filter((line) => line.length > 100)).toEqual([]);

    // Forced, they go live; again, they are skipped.
    const forced = await cli.publish(FIXTURES, '--force', 'as the test says');
    expect(forced).toMatchObject({ code: 0, stderr: '' });
    await expectForced(forced.stdout);
  });

  async function expectForced(stdout: string): Promise<void> {
    const lines = stdout.trim().split('\n');
    const at = lines.findIndex((line) => line.startsWith('Live: '));
    const [, publication = ''] =
      /^Live: publication (\w+), dataset of 2026-11-20: 28 rows in [\d.]+ s\.$/.exec(lines[at] ?? '') ?? [];
    expect(publication).not.toBe('');
    expect(lines.slice(at + 1)).toEqual([
      expect.stringMatching(/^rows per second +[\d,]+$/),
      ...['licenses         22', 'endorsements     1', 'rejected         6'],
      expect.stringMatching(/^Forced past: rejected: 6 of 28 rows/),
      expect.stringMatching(/^Forced past: duplicates: 1 numbers/),
      expect.stringMatching(/^Forced past: unknown_labels: /),
      'The column business.BOARD_ACTION is missing.',
      ...['', 'not in the catalog:', '  board: Board of Wizardry  1'],
    ]);
    for (const step of lines.slice(0, at))
      expect(step).toMatch(
        new RegExp(
          `^${publication}: [a-z ]+ \\(step \\d of 9\\)(, \\d+ MB)?(, \\d+ of \\d+)?(, \\d+ %)?(, about .* to the end)?$`,
        ),
      );

    // The ledger has it all.
    const rejects = join(cli.environment.folder, 'rejects.csv');
    const shown = await cli.run('publications', 'show', publication, '--rejects', rejects);
    for (const line of [
      /^date +2026-11-20$/m,
      /^ {2}individual +individual\.csv$/m,
      /^ {2}individual +[0-9a-f]{64}$/m,
      /^ {2}rows +28$/m,
      /^ {2}rejected +6$/m,
      /^forced +as the test says$/m,
      /^reasons +duplicates: 1 numbers/m,
      /^ {2}loading +\d/m,
      /^ {2}Nursing Board +\d+$/m,
      /^ {2}IN REVIEW +1$/m,
      /^ {2}board: Board of Wizardry +1$/m,
      /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d E[SD]T +live$/m,
      /^ {2}rows +6$/m,
    ]) {
      expect(shown.stdout).toMatch(line);
    }
    const text = await readFile(rejects, 'utf8');
    expect(text).toMatch(/^FILE,LINE,REASON,ROW\nindividual,19,/);
    expect((await stat(rejects)).mode & 0o777).toBe(0o600);
    const inJson = await cli.run('publications', 'show', publication, '--rejects', rejects, '--json');
    expect(JSON.parse(inJson.stdout)).toMatchObject({
      summary: { publication, state: 'live', forced: 'as the test says' },
      events: expect.arrayContaining([expect.objectContaining({ event: 'queued' })]),
      rejects: { file: rejects, rows: 6 },
    });
    expect(await readFile(rejects, 'utf8')).toBe(text);
    expect(await cli.run('publications', 'show', 'nothing')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'The ledger has no publication nothing.\n',
    });
    const list = (await cli.run('publications')).stdout;
    const [headings, first] = list.split('\n');
    expect(list).toContain('(forced)');
    expect(headings).toMatch(
      /^PUBLICATION +STATE +DATE +ROWS +REJECTED +CHANGES +TOOK +LAST EVENT +REASONS$/,
    );
    expect(first).toMatch(
      new RegExp(
        `^${publication} +live( \\(forced\\))? +2026-11-20 +28 +6 +\\d+ +\\d+\\.\\d s +2\\d{3}-\\d\\d-\\d\\d`,
      ),
    );

    // Again, it does nothing.
    expect(await cli.publish(FIXTURES)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /Skipped: publication \w+ of 2026-11-20 has the same files and is live\.\n$/,
      ),
    });
    const again = await cli.publish(FIXTURES, '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({ state: 'skipped', date: FIXTURES_DATE });
  }
});
