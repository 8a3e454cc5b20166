import { createHash } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { TestEnvironment } from '../../scripts/environment.ts';
import { enterAccount } from '../../src/access/accounts.ts';
import { createKey, keyCheck, revokeKey } from '../../src/access/api-keys.ts';
import { DOCUMENT_CHECKS } from '../../src/cli/stored-documents.ts';
import { currentEpoch } from '../../src/publications/fence.ts';
import { publicationHistory } from '../../src/publications/history.ts';
import { savedRecords } from '../../src/records/saved-records.ts';
import { signingKeys } from '../../src/signing/keys.ts';
import { recordAudit } from '../../src/storage/audit-log.ts';
import { type BackupCounts, readBackup, restoreBackup, writeBackup } from '../../src/storage/backup.ts';
import { openStore } from '../../src/storage/store.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { SUBSCRIPTIONS, type Subscription, subscriptionId } from '../../src/subscriptions/subscription.ts';
import { WEBHOOKS, type Webhook } from '../../src/subscriptions/webhook.ts';
import { documentsIn } from '../support/documents.ts';
import { takeEpoch } from '../support/epoch.ts';
import { FIXTURES } from '../support/fixtures.ts';
import { command } from '../support/in-process.ts';
import { newEnvironment } from '../support/publication-days.ts';
import { publishFiles } from '../support/publishing.ts';
import { RECORD_LIMITS, shownNurse } from '../support/saved-records.ts';

let original: TestEnvironment;
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
  original = await newEnvironment();
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
  const found = await Promise.all(indicesOf(store).map((index) => documentsIn(store, index)));
  return found.map((documents) => documents.map(({ id, source }) => [id, source]));
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
  });

  test('replaces an earlier one once it is whole, and leaves it where it cannot be written', async () => {
    const again = join(original.folder, 'again.backup');
    await writeFile(again, 'an earlier backup', { mode: 0o644 });
    const nowhere = openStore({ ...original.config, INDEX_PREFIX: 'test-nowhere-' }, 10_000);
    await expect(writeBackup(nowhere, again, DOCUMENT_CHECKS)).rejects.toThrow('index_not_found');
    expect(await readFile(again, 'utf8')).toBe('an earlier backup');
    // Each has a part of its own: one that ends first has no unfinished file of the other's for its own.
    const counts = await Promise.all([backUp(original, again), backUp(original, again)]);
    expect(counts).toEqual(Array(2).fill(expect.objectContaining({ accounts: 2 })));
    expect((await stat(again)).mode & 0o777).toBe(0o600);
    await expect(readBackup(again, DOCUMENT_CHECKS)).resolves.toMatchObject({ documents: { accounts: 2 } });
    expect((await readdir(original.folder)).filter((name) => name.includes('.part'))).toEqual([]);
  });

  test('of an installation that has lost its data does not replace the one that has them', async () => {
    const lost = await newEnvironment();
    const daily = join(lost.folder, 'daily.backup');
    await backUp(original, daily);
    const before = await readFile(daily);
    await expect(backUp(lost, daily)).rejects.toThrow(
      /has 2 accounts, 2 API keys, \d+ entries of the ledger, .*, and this installation has none\. Restore it, or/,
    );
    // Also where only the keys are gone.
    await enterAccount(lost.store, { account: 'Acme Staffing', verifiedBy: 'Ada Operator' });
    await expect(backUp(lost, daily)).rejects.toThrow(/has 2 API keys, \d+ entries of the ledger, /);
    expect(await readFile(daily)).toEqual(before);
    expect(await readdir(lost.folder)).toEqual(['daily.backup']);
    expect(await backUp(lost, join(lost.folder, 'other.backup'))).toMatchObject({ 'api-keys': 0 });
  });

  test('has all documents when there are more than one page, and when texts have separators of lines', async () => {
    const large = await newEnvironment();
    const index = large.store.names.ledger;
    const ids = Array.from({ length: 2500 }, (_, number) => `run${number}\u2028\u2029`);
    await large.client.bulk({
      body: ids.flatMap((publication) => [
        { create: { _index: index } },
        { publication, at: '2026-11-20T00:00:00.000Z', event: 'queued' },
      ]),
    });
    const path = join(large.folder, 'large.backup');
    const counts = await backUp(large, path);
    expect(counts).toMatchObject({ accounts: 0, publications: 2500 });
    await expect(readBackup(path, DOCUMENT_CHECKS)).resolves.toEqual({ documents: counts, leftOut: [] });
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n').slice(1, -1);
    const publications = lines.map((line) => JSON.parse(line).source.publication);
    expect(publications).toEqual(ids);
  });
});

describe('a restored backup', () => {
  let restored: TestEnvironment;

  beforeAll(async () => {
    restored = await newEnvironment();
    const counts = await backUp(original, file);
    expect(await restore(restored, file)).toEqual(counts);
  });

  test('has the same documents with the same ids in the same order', async () => {
    expect(await documentsOf(restored)).toEqual(await documentsOf(original));
  });

  test('has working keys, and its revoked keys stay revoked', async () => {
    const { store, config } = restored;
    const keys = keyCheck(store, config.API_KEY_PREFIX);
    expect(await keys(active)?.activeAccount()).toBeDefined();
    expect(await keys(revoked)?.activeAccount()).toBeUndefined();
  });

  test('of format version 1 has no audit log, changes, saved records, watches and signing keys', async () => {
    const later = ['audit', 'changes', 'saved-records', 'subscriptions', 'webhooks', 'signing-keys'];
    const isLater = (name: string) => later.includes(name);
    const earlier = await newEnvironment();
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
    const kept = lines
      .slice(0, -1)
      .filter((line) => !later.some((name) => line.startsWith(`{"index":"${name}"`)));
    const content = `${kept.join('\n').replace('"version":6', '"version":1')}\n`;
    const sha256 = createHash('sha256').update(content).digest('hex');
    const { documents: all } = await readBackup(file, DOCUMENT_CHECKS);
    const documents = Object.fromEntries(Object.entries(all).filter(([name]) => !isLater(name)));
    const path = join(earlier.folder, 'earlier.backup');
    await writeFile(path, `${content}${JSON.stringify({ documents, sha256 })}\n`);
    expect(await restore(earlier, path)).toMatchObject({ ...documents, audit: 0, 'signing-keys': 0 });
    const before = await documentsOf(original);
    expect(await documentsOf(earlier)).toEqual(KINDS.map((name, at) => (isLater(name) ? [] : before[at])));
  });

  test('has nothing live until the next publication, which continues the epochs', async () => {
    const { store } = restored;
    const before = (await publicationHistory(original.store)).publications;
    expect(before.map(({ state }) => state)).toEqual(['refused', 'live']);
    const after = await publicationHistory(store);
    expect(after.live).toBeNull();
    expect(after.publications.map(({ publication }) => publication)).toEqual(
      before.map(({ publication }) => publication),
    );
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
    target = await newEnvironment();
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

  test('when a line was altered, removed or added', async () => {
    const altered = lines.map((line) => line.replace('Acme Staffing', 'Acne Staffing'));
    await expectRefused(altered.join('\n'), /cut off or altered/);
    await expectRefused(lines.toSpliced(2, 1).join('\n'), /cut off or altered/);
    await expectRefused(lines.toSpliced(2, 0, lines[2] ?? '').join('\n'), /cut off or altered/);
  });

  test('when the file comes from a later release or is not a backup', async () => {
    const later = lines.map((line) => line.replace('"version":6', '"version":7,"more":[]'));
    await expectRefused(later.join('\n'), /was written by a later release of this service \(format 7\)/);
    const other = lines.map((line) => line.replace('ohio-license-verification', 'another'));
    await expectRefused(other.join('\n'), /is no backup of this service/);
    await expectRefused('', /cut off/);
    for (const bytes of ['\n', 'SEQ,BOARD\n', '{}\n{}\n', Buffer.from([0xff, 0x0a, 0x00])]) {
      await expectRefused(bytes, /is no backup of this service/);
    }
    await expect(restore(target, join(target.folder, 'nowhere'))).rejects.toThrow('ENOENT');
  });

  test('when the installation already has something but an audit log', async () => {
    const started = await newEnvironment();
    await recordAudit(started.store, 'prune', {});
    await takeEpoch(started.store, 'the test');
    await expect(restore(started, file)).rejects.toThrow(
      'There are 0 accounts, 0 API keys, 0 changes, 1 entries of the ledger, 1 entries of the audit log, 0 saved records, 0 subscriptions, 0 webhooks, 0 public keys of signatures already',
    );
  });

  test('when OpenSearch fails midway, with a message about what was written and what to do', async () => {
    const { store, client } = await newEnvironment();
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

test('licenses backup and licenses restore copy keys and ledger to another installation', async () => {
  const to = await newEnvironment();
  const from = original;
  const path = join(from.folder, 'daily.backup');

  const backedUp = await command(from.variables, 'backup', path);
  expect(backedUp).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^Backed up 2 accounts, 2 API keys, \d+ changes, \d+ entries of the ledger, 1 entries of the audit log, 2 saved records, 2 subscriptions, 1 webhooks, 1 public keys of signatures to /,
    ),
  });
  // An audit log alone is no obstacle: that of the backup is added to it.
  await recordAudit(to.store, 'prune', {});
  const restored = await command(to.variables, 'restore', path, '--json');
  expect(restored.code).toBe(0);
  expect(JSON.parse(restored.stdout)).toMatchObject({ file: path, documents: { 'api-keys': 2 } });
  const again = await command(to.variables, 'restore', path);
  expect(again).toMatchObject({ code: 1, stdout: '' });
  expect(again.stderr).toMatch(
    /^There are 2 accounts, 2 API keys, [^\n]* 3 entries of the audit log, [^\n]* already; [^\n]*\n$/,
  );
  expect(await command(to.variables, 'backup', join(to.folder, 'no', 'such', 'folder'))).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^The file [^\n]* can't be used: no such file or directory\.\n$/),
  });
});
