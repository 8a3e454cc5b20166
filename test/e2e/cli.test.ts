import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { publishQueue } from '../../src/publications/job.ts';
import { type TestEnvironment, testEnvironment } from '../support/environment.ts';
import { licenses, type RunningProcess, startProcess, startWorker } from '../support/processes.ts';

const FIXTURES = resolve(import.meta.dirname, '../fixtures');

let environment: TestEnvironment;
let worker: RunningProcess;

beforeAll(async () => {
  environment = await testEnvironment();
  worker = await startWorker(environment.variables);
}, 60_000);
afterAll(async () => {
  await worker.stop();
  await environment.cleanUp();
});

function run(...parameters: string[]) {
  return licenses(environment.variables, ...parameters);
}

function publish(individual: string, business: string, ...more: string[]) {
  return run('publish', '--individual', individual, '--business', business, ...more);
}

function sample(day: string, date: string, ...more: string[]) {
  return run(
    'sample-data',
    join(environment.folder, day),
    '--rows',
    '2000',
    '--seed',
    '7',
    '--date',
    date,
    ...more,
  );
}

const files = (day: string): [string, string] => [
  join(environment.folder, day, 'individual.csv'),
  join(environment.folder, day, 'business.csv'),
];

async function untilQueued(): Promise<void> {
  const queue = publishQueue(environment.config);
  while ((await queue.getJobCountByTypes('waiting', 'active')) === 0) await sleep(20);
  await queue.close();
}

const keyCreated = z.object({ id: z.string(), key: z.string(), account: z.string() });

describe('licenses publish', () => {
  test('exits 0 when the files are live, and says so in words and in JSON', async () => {
    await sample('one', '2026-11-20');
    const inWords = await publish(...files('one'));
    expect(inWords).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/Live: publication \w+, dataset of 2026-11-20: 2,000 rows/),
    });

    await sample('two', '2026-11-21', '--changed', '0.01');
    const inJson = await publish(...files('two'), '--json');
    expect(inJson.code).toBe(0);
    expect(JSON.parse(inJson.stdout)).toMatchObject({
      state: 'live',
      date: '2026-11-21',
      rows: 2000,
      set_aside: 0,
    });
  }, 60_000);

  test('exits 2 with the reasons when the files are refused', async () => {
    const refused = await publish(join(FIXTURES, 'individual.csv'), files('one')[1], '--date', '2026-11-25');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--date says 2026-11-25') });
  }, 30_000);

  test('exits 1 with one clear line when a file is not there', async () => {
    const missing = await publish(join(environment.folder, 'nowhere.csv'), files('one')[1]);
    expect(missing.code).toBe(1);
    expect(missing.stderr.trim().split('\n')).toHaveLength(1);
    expect(missing.stderr).toContain('nowhere.csv');
  });

  test('joins a request for the same files and turns away one for others', async () => {
    await sample('three', '2026-11-22', '--changed', '0.01');
    worker.child.kill('SIGSTOP');
    const first = publish(...files('three'), '--json');
    let same: ReturnType<typeof publish>;
    let other: Awaited<typeof same>;
    try {
      await untilQueued();
      same = publish(...files('three'), '--json');
      other = await publish(...files('one'), '--json');
    } finally {
      worker.child.kill('SIGCONT');
    }
    expect(other.code).toBe(2);
    expect(JSON.parse(other.stdout)).toMatchObject({ reasons: [expect.stringContaining('is under way')] });
    const ends = (await Promise.all([first, same])).map(({ code, stdout }) => ({
      code,
      ...JSON.parse(stdout),
    }));
    expect(ends.map(({ code }) => code)).toEqual([0, 0]);
    // One that came when it had ended is told that the files are live.
    expect(new Set(ends.map(({ publication, live = publication }) => live)).size).toBe(1);
  }, 60_000);
});

describe('licenses publish and what the guards say', () => {
  const fixtures: [string, string] = [join(FIXTURES, 'individual.csv'), join(FIXTURES, 'business.csv')];
  const published = z.object({ state: z.string(), publication: z.string() });

  test('exits 2 with every reason, in words and in JSON, and the ledger keeps them', async () => {
    const inWords = await publish(...fixtures);
    expect(inWords.code).toBe(2);
    expect(inWords.stderr.trim().split('\n')).toEqual([
      'Refused: set_aside: 6 of 28 rows were set aside, more than 0.5 % (GUARD_MAX_SET_ASIDE_PERCENT).',
      expect.stringMatching(/^duplicates: 1 numbers .*\(GUARD_MAX_DUPLICATES\)\.$/),
      expect.stringMatching(/^unknown_labels: 1 of 28 rows .*\(GUARD_MAX_UNKNOWN_PERCENT\)\.$/),
    ]);

    const inJson = await publish(...fixtures, '--json');
    expect([inJson.code, inJson.stderr]).toEqual([2, '']);
    const { publication, ...refused } = published
      .extend({ reasons: z.array(z.string()) })
      .parse(JSON.parse(inJson.stdout));
    expect(refused).toMatchObject({ state: 'refused', reasons: { length: 3 } });
    const told = await run('publications', 'show', publication);
    expect(told.stdout).toMatch(/^state +refused$/m);
    for (const reason of refused.reasons) expect(told.stdout).toContain(reason);
  }, 60_000);

  test('exits 2 for a packed file that is cut off, and the ledger says so', async () => {
    const cut = join(environment.folder, 'cut.csv.gz');
    const packed = gzipSync(await readFile(fixtures[0]));
    await writeFile(cut, packed.subarray(0, packed.length / 2));
    const refused = await publish(cut, fixtures[1]);
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^Refused: truncated: cut\.csv\.gz/),
    });
    expect((await run('publications')).stdout).toMatch(/ refused .*truncated: cut\.csv\.gz/);
  }, 60_000);

  test('goes past them with --force, a line a step where there is no terminal, and shows what it did', async () => {
    const forced = await publish(...fixtures, '--force', 'as the test says');
    expect(forced).toMatchObject({ code: 0, stderr: '' });
    const lines = forced.stdout.trim().split('\n');
    expect(lines.at(-1)).toBe('Not in the catalogue: board: Board of Wizardry (1 rows).');
    const [, publication = ''] =
      /^Live: publication (\w+), dataset of 2026-11-20: 28 rows/.exec(lines.at(-2) ?? '') ?? [];
    expect(publication).not.toBe('');
    const steps = lines.slice(0, -2);
    expect(steps).toContain(`${publication}: verifying`);
    expect(steps.at(-1)).toBe(`${publication}: going live`);
    for (const step of steps) expect(step).toMatch(new RegExp(`^${publication}: [a-z ]+(, \\d+ %)?$`));

    const shown = await run('publications', 'show', publication);
    for (const line of [
      /^dataset of +2026-11-20$/m,
      /^individual +individual\.csv, SHA-256 [0-9a-f]{64}$/m,
      /^rows +28$/m,
      /^set aside +6$/m,
      /^forced +as the test says$/m,
      /^took +\d+\.\d s$/m,
      /^ {2}duplicates: 1 numbers/m,
      /^loading +\d/m,
      /^Nursing Board +\d+$/m,
      /^IN REVIEW +1$/m,
      /^board: Board of Wizardry +1$/m,
      /^\d{4}-\S+Z +live$/m,
    ]) {
      expect(shown.stdout).toMatch(line);
    }
  }, 60_000);

  test('shows as JSON, and writes what was set aside to a file', async () => {
    const { live } = z
      .object({ live: published })
      .parse(JSON.parse((await run('publications', '--json')).stdout));
    const rejects = join(environment.folder, 'rejects.csv');
    const inWords = await run('publications', 'show', live.publication, '--rejects', rejects);
    expect(inWords).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`6 rows written to ${rejects}.`),
    });
    const text = await readFile(rejects, 'utf8');
    expect(text).toMatch(/^FILE,LINE,REASON,ROW\nindividual,19,/);
    expect((await stat(rejects)).mode & 0o777).toBe(0o600);

    const inJson = await run('publications', 'show', live.publication, '--rejects', rejects, '--json');
    expect(JSON.parse(inJson.stdout)).toMatchObject({
      summary: { publication: live.publication, state: 'live', forced: 'as the test says' },
      events: expect.arrayContaining([expect.objectContaining({ event: 'queued' })]),
      rejects: { file: rejects, rows: 6 },
    });
    expect(await readFile(rejects, 'utf8')).toBe(text);
  }, 60_000);

  test('of a publication that nobody knows exits 1 with one line', async () => {
    expect(await run('publications', 'show', 'nothing')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'The ledger has no publication nothing.\n',
    });
  });

  test('skips files that are live already, and exits 0', async () => {
    const inWords = await publish(...fixtures);
    expect(inWords).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /Skipped: publication \w+ of 2026-11-20 has the same files and is live\.\n$/,
      ),
    });
    const inJson = JSON.parse((await publish(...fixtures, '--json')).stdout);
    expect(inJson).toMatchObject({ state: 'skipped', date: '2026-11-20' });
  }, 60_000);
});

describe('licenses publications, rollback and prune', () => {
  test('tells every publication, goes back one and names both', async () => {
    const history = JSON.parse((await run('publications', '--json')).stdout);
    expect(history.live).toMatchObject({ state: 'live', sample: false });
    expect(history.publications).toContainEqual(expect.objectContaining({ sample: true }));
    expect(history.publications.length).toBeGreaterThanOrEqual(3);

    const back = await run('rollback');
    expect(back).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Live again: publication \w+ of 2026-11-2\d, in place of/),
    });
    expect((await run('publications')).stdout).toMatch(/rolled_back/);
    expect(await run('prune')).toMatchObject({ code: 0 });
  }, 60_000);

  test('a rollback to what is not there exits 1 and says what there is', async () => {
    const nowhere = await run('rollback', '--to', 'nothing');
    expect(nowhere).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('nothing is not there to roll back to; there is'),
    });
  });
});

describe('licenses keys', () => {
  test('shows a key once, lists it by its last four, rotates and revokes it', async () => {
    const created = await run('keys', 'create', 'Acme Staffing', '--verified-by', 'Pat', '--json');
    const { id, key } = keyCreated.parse(JSON.parse(created.stdout));
    expect(key).toMatch(/^olv_[0-9A-Za-z]{49}$/);

    const listed = await run('keys', 'list');
    expect(listed.stdout).toContain(`olv_…${key.slice(-4)}`);
    expect(listed.stdout).not.toContain(key);
    expect(listed.stdout).toMatch(/Acme Staffing\s+Pat/);

    const rotated = keyCreated.parse(JSON.parse((await run('keys', 'rotate', id, '--json')).stdout));
    expect(rotated).toMatchObject({ account: 'Acme Staffing' });
    expect(rotated.key).not.toBe(key);

    expect(await run('keys', 'revoke', id)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('is revoked'),
    });
    const keys = z
      .array(z.object({ id: z.string(), revoked_at: z.string().nullable() }))
      .parse(JSON.parse((await run('keys', 'list', '--json')).stdout));
    expect(keys.find((each) => each.id === id)?.revoked_at).not.toBeNull();
    expect(keys.find((each) => each.id === rotated.id)?.revoked_at).toBeNull();
    expect(await run('keys', 'revoke', 'nobody')).toMatchObject({
      code: 1,
      stderr: 'No key has the id "nobody".\n',
    });
  }, 60_000);
});

describe('settings and servers', () => {
  test('a bad setting is one line that names it', async () => {
    const bad = await licenses({ ...environment.variables, PORT: 'eighty' }, 'publications');
    expect(bad).toMatchObject({ code: 1, stderr: 'PORT is "eighty", but must be a port, 0 to 65535.\n' });
  });

  test.each(['src/server.ts', 'workers/main.ts'])(
    'a bad setting ends %s with the same line',
    async (script) => {
      const ended = startProcess(script, { ...environment.variables, PORT: 'eighty' });
      await once(ended.child, 'close');
      expect(ended.child.exitCode).toBe(1);
      expect(ended.output()).toBe('PORT is "eighty", but must be a port, 0 to 65535.\n');
    },
  );

  test('OpenSearch away is one line that says where it was expected', async () => {
    const away = await licenses(
      { ...environment.variables, OPENSEARCH_URL: 'http://127.0.0.1:1' },
      'publications',
    );
    expect(away.code).toBe(1);
    expect(away.stderr).toMatch(/^OpenSearch does not answer at 127\.0\.0\.1:1\.[^\n]*\n$/);
  });

  test('Redis away ends a publish command with one line instead of a wait without end', async () => {
    const away = await licenses(
      { ...environment.variables, REDIS_URL: 'redis://127.0.0.1:1' },
      ...['publish', '--individual', files('one')[0], '--business', files('one')[1]],
    );
    expect(away.code).toBe(1);
    expect(away.stderr).toMatch(/^Redis does not answer at 127\.0\.0\.1:1\.[^\n]*\n$/);
  }, 30_000);
});
