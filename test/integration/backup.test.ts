import { createHash } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { licenses } from '../../scripts/licenses-processes.ts';
import { createKey, keyCheck, listKeys, revokeKey } from '../../src/access/api-keys.ts';
import { DOCUMENT_CHECKS } from '../../src/cli/stored-documents.ts';
import { currentEpoch } from '../../src/publications/fence.ts';
import { publicationHistory } from '../../src/publications/history.ts';
import { readEvents } from '../../src/publications/ledger.ts';
import { savedRecords } from '../../src/records/saved-records.ts';
import { signingKeys } from '../../src/signing/keys.ts';
import { recordAudit } from '../../src/storage/audit-log.ts';
import { type BackupCounts, readBackup, restoreBackup, writeBackup } from '../../src/storage/backup.ts';
import { storeOf } from '../../src/storage/store.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { SUBSCRIPTIONS, type Subscription, subscriptionId } from '../../src/subscriptions/subscription.ts';
import { WEBHOOKS, type Webhook } from '../../src/subscriptions/webhook.ts';
import { takeEpoch } from '../support/epoch.ts';
import { FIXTURES } from '../support/fixtures.ts';
import { publishFiles } from '../support/publishing.ts';
import { RECORD_LIMITS, shownNurse } from '../support/saved-records.ts';

let original: TestEnvironment;
let environments: TestEnvironment[] = [];
let active: string;
let revoked: string;
let codes: string[];
let file: string;

/** What an account watches, and a webhook of it that fails. */
const ACCOUNT = 'account-1';
const SUBSCRIBED = ['RN.700001', 'RN.700002'].map((number): Subscription => {
  const license = `NUR-${number}`;
  const id = subscriptionId(ACCOUNT, license);
  const shown = { board: 'Nursing Board', license_number: number, number, reference: null };
  return { id, account: ACCOUNT, license, ...shown, created_at: '2026-11-20T00:00:00.000Z' };
});
const WEBHOOK: Webhook = {
  id: 'whk_1',
  account: ACCOUNT,
  url: 'https://example.com/hook',
  generation: 2,
  rotated_at: '2026-11-20T00:00:00.000Z',
  delivered_cursor: 'a-cursor',
  delivered_at: '2026-11-20T00:00:00.000Z',
  failing_since: '2026-11-21T00:00:00.000Z',
  paused: null,
  created_at: '2026-11-19T00:00:00.000Z',
};

/** An environment with empty indices, as after losing the cluster. */
async function emptyEnvironment(): Promise<TestEnvironment> {
  const environment = await testEnvironment();
  environments = [...environments, environment];
  await prepareIndices(environment.store);
  return environment;
}

async function backUp({ store }: TestEnvironment, to: string) {
  const { documents } = await writeBackup(store, to, DOCUMENT_CHECKS);
  return documents;
}

async function restore({ store }: TestEnvironment, from: string) {
  const { documents } = await restoreBackup(store, from, DOCUMENT_CHECKS);
  return documents;
}

async function issued({ store, config }: TestEnvironment, account: string) {
  return createKey(store, config.API_KEY_PREFIX, { account, verifiedBy: 'Ada Operator' });
}

beforeAll(async () => {
  original = await emptyEnvironment();
  file = join(original.folder, 'licenses.backup');
  const first = await issued(original, 'Acme Staffing');
  const second = await issued(original, 'Zoë’s “Care”\nHome');
  await revokeKey(original.store, second.stored.id);
  [active, revoked] = [first.key, second.key];
  await recordAudit(original.store, 'keys revoke', { key: second.stored.id });
  await publishFiles(original, FIXTURES);
  await publishFiles(original, FIXTURES, { date: '2001-01-01' });
  const records = savedRecords(original.store, RECORD_LIMITS);
  codes = [await records.save(shownNurse()), await records.save(shownNurse({ sample: true }))];
  for (const subscription of SUBSCRIBED)
    await SUBSCRIPTIONS.put(original.store, subscription.id, subscription);
  await WEBHOOKS.put(original.store, ACCOUNT, WEBHOOK);
  await signingKeys(original.store, 'a secret for the signatures of this test, of 32 characters').sign({});
});
afterAll(async () => {
  for (const environment of environments) await environment.cleanUp();
});

const stored = z.object({
  hits: z.object({ hits: z.array(z.object({ _id: z.string(), _source: z.unknown() })) }),
});

/** The kinds of documents in a backup, in its order, and their indices. */
const KINDS = [
  'accounts',
  'api-keys',
  'changes',
  'publications',
  'audit',
  'saved-records',
  'subscriptions',
  'webhooks',
  'signing-keys',
] as const satisfies (keyof BackupCounts)[];

function indicesOf({ names }: TestEnvironment['store']): string[] {
  const { accounts, apiKeys, changes, ledger, audit, savedRecords, subscriptions, webhooks, signingKeys } =
    names;
  return [accounts, apiKeys, changes, ledger, audit, savedRecords, subscriptions, webhooks, signingKeys];
}

/** The documents of the nine indices with their ids, in the order in which they were written. */
async function documentsOf({ store }: TestEnvironment) {
  const { client } = store;
  const indices = indicesOf(store);
  await client.indices.refresh({ index: indices });
  const found = await Promise.all(
    indices.map((index) => client.search({ index, body: { size: 1000, sort: [{ _seq_no: 'asc' }] } })),
  );
  return found.map(({ body }) => stored.parse(body).hits.hits.map(({ _id, _source }) => [_id, _source]));
}

describe('a backup', () => {
  test('has every document of the nine indices, no text of a key, and is readable only by its owner', async () => {
    const counts = await backUp(original, file);
    const all = await documentsOf(original);
    const [, , changes = [], ledger = [], audit, records = []] = all;
    expect(counts).toEqual({
      accounts: 2,
      'api-keys': 2,
      publications: ledger.length,
      audit: 1,
      changes: changes.length,
      'saved-records': 2,
      subscriptions: 2,
      webhooks: 1,
      'signing-keys': 1,
    });
    expect(changes.length).toBeGreaterThan(0);
    expect(audit).toHaveLength(1);
    expect(records.map(([id]) => id)).toEqual(codes);

    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ backup: 'ohio-license-verification', version: 6 });
    expect(lines).toHaveLength(all.flat().length + 2);
    for (const key of [active, revoked]) expect(lines.join()).not.toContain(key.slice(4, 30));

    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await expect(stat(`${file}.part`)).rejects.toThrow('ENOENT');
  });

  test('replaces an earlier backup and an unfinished one, and stays readable only by its owner', async () => {
    const again = join(original.folder, 'again.backup');
    await writeFile(again, 'an earlier backup', { mode: 0o644 });
    await writeFile(`${again}.part`, 'a part', { mode: 0o644 });
    await backUp(original, again);
    expect((await stat(again)).mode & 0o777).toBe(0o600);
    await expect(readBackup(again, DOCUMENT_CHECKS)).resolves.toMatchObject({
      counts: { accounts: 2, 'api-keys': 2 },
    });
  });

  test('that can’t be written leaves the earlier backup unchanged and no unfinished file', async () => {
    const kept = join(original.folder, 'kept.backup');
    await writeFile(kept, 'an earlier backup');
    await expect(
      writeBackup(storeOf(original.client, 'test-nowhere-'), kept, DOCUMENT_CHECKS),
    ).rejects.toThrow('index_not_found');
    expect(await readFile(kept, 'utf8')).toBe('an earlier backup');
    await expect(stat(`${kept}.part`)).rejects.toThrow('ENOENT');
  });

  test('has all documents when there are more than one page, and when texts have separators of lines', async () => {
    const large = await emptyEnvironment();
    const index = large.store.names.ledger;
    const ids = Array.from({ length: 2500 }, (_, number) => `run${number}\u2028\u2029`);
    await large.client.bulk({
      body: ids.flatMap((publication) => [
        { create: { _index: index } },
        { publication, at: '2026-11-20T00:00:00.000Z', event: 'queued' },
      ]),
    });
    const path = join(large.folder, 'large.backup');
    expect(await backUp(large, path)).toEqual({
      accounts: 0,
      'api-keys': 0,
      publications: 2500,
      audit: 0,
      changes: 0,
      'saved-records': 0,
      subscriptions: 0,
      webhooks: 0,
      'signing-keys': 0,
    });
    const publications: unknown[] = [];
    for await (const page of (await readBackup(path, DOCUMENT_CHECKS)).pages()) {
      publications.push(...page.map(({ source }) => 'publication' in source && source.publication));
    }
    expect(publications).toEqual(ids);
  });
});

describe('a restored backup', () => {
  let restored: TestEnvironment;

  beforeEach(async () => {
    restored = await emptyEnvironment();
    await backUp(original, file);
    expect(await restore(restored, file)).toEqual((await readBackup(file, DOCUMENT_CHECKS)).counts);
  });

  test('has the same documents with the same ids in the same order', async () => {
    expect(await documentsOf(restored)).toEqual(await documentsOf(original));
  });

  test('has working keys, and its revoked keys stay revoked', async () => {
    const { store, config } = restored;
    const keys = keyCheck(store, config.API_KEY_PREFIX);
    expect(await keys(active)?.activeAccount()).toBeDefined();
    expect(await keys(revoked)?.activeAccount()).toBeUndefined();
    expect(await listKeys(store)).toEqual(await listKeys(original.store));
  });

  test('has what was watched, and the webhook with how far it was told', async () => {
    const { store } = restored;
    const ids = SUBSCRIBED.map(({ id }) => id);
    expect(await SUBSCRIPTIONS.readAll(store, ids)).toEqual(SUBSCRIBED);
    expect((await WEBHOOKS.read(store, ACCOUNT))?.document).toEqual(WEBHOOK);
  });

  test('has the saved records under their codes', async () => {
    const [of, from] = [
      savedRecords(restored.store, RECORD_LIMITS),
      savedRecords(original.store, RECORD_LIMITS),
    ];
    expect(await of.read(codes[0] ?? '')).toMatchObject(shownNurse());
    for (const code of codes) expect(await of.read(code)).toEqual(await from.read(code));
  });

  test('has the same history, with nothing live until the next publication', async () => {
    const { store } = restored;
    expect(await readEvents(store)).toEqual(await readEvents(original.store));
    const before = await publicationHistory(original.store);
    const after = await publicationHistory(store);
    expect(before.publications.map(({ state }) => state)).toEqual(['refused', 'live']);
    expect(after.live).toBeNull();
    expect(after.publications.map(({ publication }) => publication)).toEqual(
      before.publications.map(({ publication }) => publication),
    );
  });

  const KEYS = ['signing-keys'] as const;
  const WATCHES = ['subscriptions', 'webhooks', ...KEYS] as const;

  test.each<[number, string, readonly (keyof BackupCounts)[]]>([
    [1, 'audit log, changes, saved records and watches', ['audit', 'changes', 'saved-records', ...WATCHES]],
    [2, 'changes, saved records and watches', ['changes', 'saved-records', ...WATCHES]],
    [3, 'saved records and watches', ['saved-records', ...WATCHES]],
    [4, 'watches', WATCHES],
    [5, 'public keys', KEYS],
  ])('of format version %i, which has no %s, works too', async (version, _words, missing) => {
    const earlier = await emptyEnvironment();
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
    const kept = lines
      .slice(0, -1)
      .filter((line) => !missing.some((name) => line.startsWith(`{"index":"${name}"`)));
    const content = `${kept.join('\n').replace('"version":6', `"version":${version}`)}\n`;
    const sha256 = createHash('sha256').update(content).digest('hex');
    const documents: Partial<BackupCounts> = { ...(await readBackup(file, DOCUMENT_CHECKS)).counts };
    for (const name of missing) delete documents[name];
    const path = join(earlier.folder, 'earlier.backup');
    await writeFile(path, `${content}${JSON.stringify({ documents, sha256 })}\n`);
    const none = Object.fromEntries(missing.map((name) => [name, 0]));
    expect(await restore(earlier, path)).toEqual({ ...documents, ...none });
    const all = await documentsOf(original);
    expect(await documentsOf(earlier)).toEqual(
      KINDS.map((name, at) => (missing.includes(name) ? [] : all[at])),
    );
  });

  test('continues the epochs and accepts the next publication', async () => {
    const { store } = restored;
    const last = await currentEpoch(original.store);
    expect(last).toBeGreaterThan(0);
    expect(await takeEpoch(store, 'the test')).toBe(last + 1);
    expect(await publishFiles(restored, FIXTURES)).toMatchObject({ state: 'live' });
    expect((await publicationHistory(store)).live).toMatchObject({ state: 'live' });
  });
});

describe('a restore is refused', () => {
  let target: TestEnvironment;
  let lines: string[];

  beforeAll(async () => {
    target = await emptyEnvironment();
    await backUp(original, file);
    lines = (await readFile(file, 'utf8')).split('\n');
  });

  /** Restores these bytes. Expects a one-line error with this message, and that nothing was written. */
  async function expectRefused(bytes: string | Buffer, message: RegExp): Promise<void> {
    const broken = join(target.folder, 'broken.backup');
    await writeFile(broken, bytes);
    await expect(restore(target, broken)).rejects.toThrow(message);
    expect(await documentsOf(target)).toEqual(KINDS.map(() => []));
  }

  test('when the file is truncated at any point', async () => {
    const bytes = await readFile(file);
    const ends = [bytes.length - 20, bytes.lastIndexOf('\n', -2) + 1, bytes.length >> 1];
    for (const end of ends) await expectRefused(bytes.subarray(0, end), /cut off/);
    await expectRefused(`${lines[0]}\n`, /cut off/);
  });

  test('when a line was altered, removed or added, or the counts differ', async () => {
    const altered = lines.map((line) => line.replace('Acme Staffing', 'Acne Staffing'));
    await expectRefused(altered.join('\n'), /was altered or damaged/);
    await expectRefused(lines.toSpliced(2, 1).join('\n'), /was altered or damaged/);
    await expectRefused(lines.toSpliced(2, 0, lines[2] ?? '').join('\n'), /was altered or damaged/);
    const recounted = lines.map((line) => line.replace('"api-keys":2', '"api-keys":3'));
    await expectRefused(recounted.join('\n'), /has 2 documents of api-keys, not 3 as it says/);
  });

  test('when the file comes from a later release or is not a backup', async () => {
    const later = lines.map((line) => line.replace('"version":6', '"version":7,"more":[]'));
    await expectRefused(later.join('\n'), /was written by a later release of this service \(format 7\)/);
    const other = lines.map((line) => line.replace('ohio-license-verification', 'another'));
    await expectRefused(other.join('\n'), /is no backup of this service/);
    for (const bytes of ['', '\n', 'SEQ,BOARD\n', '{}\n{}\n', Buffer.from([0xff, 0x0a, 0x00])]) {
      await expectRefused(bytes, /is no backup of this service/);
    }
    await expect(restore(target, join(target.folder, 'nowhere'))).rejects.toThrow('ENOENT');
  });

  test('when the installation already has keys, a ledger, saved records or subscriptions', async () => {
    const started = await emptyEnvironment();
    await takeEpoch(started.store, 'the test');
    await expect(restore(started, file)).rejects.toThrow(
      'There are 0 accounts, 0 API keys, 0 changes, 1 entries of the ledger, 0 entries of the audit log, 0 saved records, 0 subscriptions, 0 webhooks, 0 public keys of signatures already',
    );

    const used = await emptyEnvironment();
    await savedRecords(used.store, RECORD_LIMITS).save(shownNurse());
    await expect(restore(used, file)).rejects.toThrow('1 saved records, 0 subscriptions');

    const watched = await emptyEnvironment();
    await WEBHOOKS.put(watched.store, ACCOUNT, WEBHOOK);
    await expect(restore(watched, file)).rejects.toThrow(
      '0 subscriptions, 1 webhooks, 0 public keys of signatures already',
    );

    const other = await emptyEnvironment();
    const { key } = await issued(other, 'Newcomer Inc');
    await expect(restore(other, file)).rejects.toThrow(
      'There are 1 accounts, 1 API keys, 0 changes, 0 entries of the ledger, 0 entries of the audit log, 0 saved records, 0 subscriptions, 0 webhooks, 0 public keys of signatures already',
    );
    const keys = keyCheck(other.store, other.config.API_KEY_PREFIX);
    expect(await keys(key)?.activeAccount()).toBeDefined();
    expect(await keys(active)?.activeAccount()).toBeUndefined();
  });

  test('when OpenSearch fails midway, with a message about what was written and what to do', async () => {
    const { store, client } = await emptyEnvironment();
    const { ledger } = store.names;
    const all = indicesOf(store);
    const block = (write: boolean) =>
      client.indices.putSettings({ index: ledger, body: { 'index.blocks.write': write } });
    await block(true);
    await expect(restoreBackup(store, file, DOCUMENT_CHECKS)).rejects.toThrow(
      new RegExp(`^Stopped after \\d+ documents: .* Delete the indices ${all.join(', ')} and restore`),
    );
    await block(false);
    await expect(restoreBackup(store, file, DOCUMENT_CHECKS)).rejects.toThrow(
      'There are 2 accounts, 2 API keys',
    );
    await client.indices.delete({ index: all });
    await prepareIndices(store);
    await expect(restoreBackup(store, file, DOCUMENT_CHECKS)).resolves.toMatchObject({
      documents: { 'api-keys': 2 },
    });
  });
});

describe('licenses backup and licenses restore', () => {
  const created = z.object({ id: z.string(), key: z.string() });

  test('copy keys and ledger to another installation, with text and with JSON output', async () => {
    const [from, to] = [await emptyEnvironment(), await emptyEnvironment()];
    const issue = await licenses(
      from.variables,
      ...['keys', 'create', 'Acme', '--verified-by', 'Ada Operator', '--json'],
    );
    const { id, key } = created.parse(JSON.parse(issue.stdout));
    await publishFiles(from, FIXTURES);
    const path = join(from.folder, 'daily.backup');

    const backedUp = await licenses(from.variables, 'backup', path);
    expect(backedUp).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^Backed up 1 accounts, 1 API keys, \d+ changes, \d+ entries of the ledger, 1 entries of the audit log, 0 saved records, 0 subscriptions, 0 webhooks, 0 public keys of signatures to /,
      ),
    });
    const restored = await licenses(to.variables, 'restore', path, '--json');
    expect(restored.code).toBe(0);
    expect(JSON.parse(restored.stdout)).toMatchObject({ file: path, documents: { 'api-keys': 1 } });

    expect((await licenses(to.variables, 'keys', 'list')).stdout).toContain(id);
    const keys = keyCheck(to.store, to.config.API_KEY_PREFIX);
    expect(await keys(key)?.activeAccount()).toBeDefined();

    const again = await licenses(to.variables, 'restore', path);
    expect(again).toMatchObject({ code: 1, stdout: '' });
    expect(again.stderr).toMatch(
      /^There are 1 accounts, 1 API keys, \d+ changes, \d+ entries of the ledger, 2 entries of the audit log, 0 saved records, 0 subscriptions, 0 webhooks, 0 public keys of signatures already; [^\n]*\n$/,
    );
    expect(await licenses(to.variables, 'backup', join(to.folder, 'no', 'such', 'folder'))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^There is no folder [^\n]*\n$/),
    });
  });
});
