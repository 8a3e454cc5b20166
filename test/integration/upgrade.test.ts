import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { startApi } from '../../scripts/licenses-processes.ts';
import { SERVICE_VERSION } from '../../src/config.ts';
import type { PublishResult } from '../../src/publications/history.ts';
import { clientAt } from '../support/api.ts';
import { writeDay } from '../support/day-files.ts';
import { FIXTURES, FIXTURES_DATE, type FixtureRow, fixturesAnd, nurseRow } from '../support/fixtures.ts';
import { command } from '../support/in-process.ts';
import { publishFiles } from '../support/publishing.ts';
import { loadStoredData, saveStoredData } from '../support/stored-data.ts';

/**
 * Each released version left its stored data here: two publications, an account, two keys (one revoked), the audit log
 * and what else it has, as they lie in OpenSearch, and a backup of them. This version must work on all of it.
 */
const STORED = resolve(import.meta.dirname, '../fixtures/stored-data');
const DATA_FILE = 'opensearch.ndjson';
const BACKUP_FILE = 'licenses.backup';
const FACTS_FILE = 'facts.json';

const facts = z.object({
  /** An active key and a revoked one. */
  key: z.string(),
  revoked: z.string(),
  /** Publication ids. The second is live and has one nurse more. */
  first: z.string(),
  second: z.string(),
  /** Addresses under /api/v1 of what its account has, each with a text that the answer has. */
  account: z.record(z.string(), z.string()).default({}),
});

const LATER_DATE = '2026-11-21';
const NEXT_DATE = '2026-11-22';
const ONLY_LATER = 'RN.777001';
const ALWAYS = 'RN.700001';

/** Settings that let the fixtures pass the guards despite their malformed rows, duplicates and unknown labels. */
const GUARDS = {
  GUARD_MAX_REJECTED_PERCENT: '30',
  GUARD_MAX_DUPLICATES: '5',
  GUARD_MAX_UNKNOWN_PERCENT: '5',
  GUARD_BOARD_ROWS_FEWER: '2',
};

/** Without it, an API answers nothing about webhooks. */
const WEBHOOKS = { WEBHOOK_SECRET_KEY: 'a secret key of the tests, of 32 characters and more' };
const RECEIVER = 'https://hooks.example.com/licenses';

const LATER_NURSE = nurseRow('LATER, ADA', ONLY_LATER);

/** The fixtures with another date and with these nurses added. */
async function fixturesOf({ folder }: TestEnvironment, date: string, ...nurses: FixtureRow[]) {
  const files = await fixturesAnd(folder, { individual: nurses });
  for (const file of Object.values(files))
    await writeFile(file, (await readFile(file, 'utf8')).replaceAll(FIXTURES_DATE, date));
  return files;
}

const createdKey = z.object({ id: z.string(), key: z.string() });
const listed = z.object({ publications: z.array(z.object({ publication: z.string(), state: z.string() })) });
const license = z.object({
  license_number: z.string(),
  last_scraped: z.string(),
  // Computed from what an old publication holds.
  cautions: z.array(z.string()),
});

/** Runs a `licenses` command that must succeed and returns what it printed. */
async function run({ variables }: TestEnvironment, ...parameters: string[]): Promise<string> {
  const { code, stdout, stderr } = await command(variables, ...parameters);
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

/** A client of a running API. */
const client = ({ config }: TestEnvironment, key: string) => clientAt(`http://127.0.0.1:${config.PORT}`, key);

/** Looks up a nurse by number through a running API. @returns the status, and the day of the data */
async function ask(environment: TestEnvironment, number: string, key: string): Promise<unknown[]> {
  const nurse = { board: 'Nursing Board', license_number: number };
  const { status, body } = await client(environment, key).verify(nurse);
  const found = license.safeParse(body);
  return [status, ...(found.success ? [found.data.last_scraped.slice(0, 10)] : [])];
}

/** Runs work against an API process of this environment. */
async function withApi({ variables }: TestEnvironment, work: () => Promise<void>): Promise<void> {
  const api = await startApi(variables);
  await work();
  await api.stop();
}

/** Creates the data that this version stores, and saves it for the tests of later versions. */
async function record(folder: string): Promise<void> {
  const environment = await testEnvironment(WEBHOOKS);
  await mkdir(folder, { recursive: true });
  const first = await publishFiles(environment, FIXTURES);
  const second = await publishFiles(environment, await fixturesOf(environment, LATER_DATE, LATER_NURSE));
  expect([first.state, second.state]).toEqual(['live', 'live']);
  const parameters = ['keys', 'create', 'Acme', '--verified-by', 'Ada', '--json'];
  const create = async () => createdKey.parse(JSON.parse(await run(environment, ...parameters)));
  const [active, revoked] = [await create(), await create()];
  await run(environment, 'keys', 'revoke', revoked.id);
  await withApi(environment, async () => {
    expect(await ask(environment, ALWAYS, active.key)).toEqual([200, LATER_DATE]);
    const nurse = { board: 'Nursing Board', license_number: ALWAYS };
    for (const [method, path, json] of [
      ['POST', '/subscriptions', nurse],
      ['PUT', '/webhook', { url: RECEIVER }],
      ['POST', '/records', nurse],
    ] as const) {
      const { status } = await client(environment, active.key).request(method, `/api/v1${path}`, { json });
      expect([path, status]).toEqual([path, 201]);
    }
  });
  const backup = join(environment.folder, BACKUP_FILE);
  await run(environment, 'backup', backup);
  await copyFile(backup, join(folder, BACKUP_FILE));
  await saveStoredData(environment.store, join(folder, DATA_FILE));
  const values: z.output<typeof facts> = {
    ...{ key: active.key, revoked: revoked.key },
    ...{ first: first.publication, second: second.publication },
    account: { '/subscriptions': ALWAYS, '/webhook': RECEIVER },
  };
  await writeFile(join(folder, FACTS_FILE), `${JSON.stringify(values, undefined, 2)}\n`);
}

if (process.env.RECORD === '1') await record(join(STORED, SERVICE_VERSION));

const VERSIONS = (await readdir(STORED, { withFileTypes: true }))
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

test('the stored data of this version is kept for later versions', async () => {
  expect(VERSIONS).toContain(SERVICE_VERSION);
});

describe.each(VERSIONS)('stored data of version %s', (version) => {
  const folder = join(STORED, version);
  let environment: TestEnvironment;
  let known: z.output<typeof facts>;

  beforeEach(async () => {
    environment = await testEnvironment({ ...GUARDS, ...WEBHOOKS });
    known = facts.parse(JSON.parse(await readFile(join(folder, FACTS_FILE), 'utf8')));
  });

  /** Asks a running API for what the account has. */
  async function expectAccount(): Promise<void> {
    for (const [path, text] of Object.entries(known.account)) {
      const answer = await client(environment, known.key).get(`/api/v1${path}`);
      expect([path, answer.status, answer.text]).toEqual([path, 200, expect.stringContaining(text)]);
    }
  }

  async function statesListed(): Promise<string[]> {
    const { publications } = listed.parse(JSON.parse(await run(environment, 'publications', '--json')));
    return publications.map(({ publication, state }) => `${publication} ${state}`);
  }

  /** Publishes few licenses. The guards refuse them only if they can read the counts of the stored publication. */
  async function publishFew(): Promise<PublishResult> {
    const nurse = { board: 'Nursing Board', number: 'RN.777002' };
    const salon = { board: 'Cosmetology and Barber Board', number: 'COSS.1' };
    const day = { date: NEXT_DATE, individual: [nurse], business: [salon] };
    return publishFiles(environment, await writeDay(environment.folder, 'few', day), { isGuarded: true });
  }

  async function publishNext(...nurses: readonly FixtureRow[]): Promise<PublishResult> {
    const files = await fixturesOf(environment, NEXT_DATE, ...nurses);
    const result = await publishFiles(environment, files, { isGuarded: true });
    expect(result).toEqual(expect.objectContaining({ state: 'live' }));
    return result;
  }

  test('is listed and answered by an API that is upgraded before the worker, rolled back, and published upon', async () => {
    await loadStoredData(environment.store, join(folder, DATA_FILE));
    const { first, second, key, revoked } = known;
    expect(await statesListed()).toEqual([`${second} live`, `${first} superseded`]);
    expect(await run(environment, 'publications', 'show', first)).toContain(FIXTURES_DATE);
    expect(await run(environment, 'keys', 'list')).toContain('Acme');
    expect(await run(environment, 'keys', 'usage', '--days', '9999')).toMatch(/2026-11-\d\d .*found/);
    expect(await run(environment, 'audit')).toContain('keys revoke');
    await withApi(environment, async () => {
      expect(await ask(environment, ONLY_LATER, key)).toEqual([200, LATER_DATE]);
      expect(await ask(environment, ALWAYS, key)).toEqual([200, LATER_DATE]);
      expect(await ask(environment, ALWAYS, revoked)).toEqual([401]);
      await expectAccount();
      const rest = client(environment, key);
      const history = '/api/v1/history?board=Nursing%20Board&license_number=RN.700001';
      for (const path of ['/licenses/NUR/RN.700001', history])
        expect([path, (await rest.get(path)).status]).toEqual([path, 200]);
      // The keys of its names may be other ones.
      for (const [name, found] of [
        [{ last_name: 'De la Cruz, RN', first_name: 'Ms. Maria' }, true],
        [{ last_name: 'Saint Nobody V', first_name: 'Zoe' }, false],
      ] as const) {
        const answer = await rest.verify({ board: 'Nursing Board', ...name });
        expect(answer).toMatchObject({ status: 200, body: { found } });
      }

      await run(environment, 'rollback');
      expect(await statesListed()).toEqual([`${second} rolled_back`, `${first} live`]);
      const few = await publishFew();
      const reasons = ['GUARD_MIN_ROWS_PERCENT', 'GUARD_BOARD_ROWS_FEWER'].map((guard) =>
        expect.stringContaining(guard),
      );
      expect(few).toMatchObject({ state: 'refused', reasons: expect.arrayContaining(reasons) });
      const next = await publishNext();
      expect(await statesListed()).toEqual([
        ...[`${next.publication} live`, `${few.publication} refused`],
        ...[`${second} rolled_back`, `${first} superseded`],
      ]);
      expect(await ask(environment, ALWAYS, key)).toEqual([200, NEXT_DATE]);
      expect(await ask(environment, ONLY_LATER, key)).toEqual([404]);
    });
  });

  test('can be restored from its backup', async () => {
    await run(environment, 'restore', join(folder, BACKUP_FILE));
    const { first, second } = known;
    expect((await statesListed()).map((each) => each.split(' ')[0])).toEqual([second, first]);
    // The guards compare with what was live at the backup.
    await publishNext(LATER_NURSE);
    await withApi(environment, async () => {
      expect(await ask(environment, ALWAYS, known.key)).toEqual([200, NEXT_DATE]);
      expect(await ask(environment, ALWAYS, known.revoked)).toEqual([401]);
      await expectAccount();
    });
  });
});
