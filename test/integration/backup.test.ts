/** @room publishing */
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
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
import { inForm } from '../support/fault-form.ts';
import { FIXTURES, times } from '../support/fixtures.ts';
import { command } from '../support/in-process.ts';
import { newEnvironment } from '../support/publication-days.ts';
import { publishFiles } from '../support/publishing.ts';
import { RECORD_LIMITS, shownNurse } from '../support/saved-records.ts';

/** What an account watches, and a webhook of it that fails. */
const ACCOUNT = 'account-1';
const DAY = '2026-11-20T00:00:00.000Z';
const SUBSCRIBED = ['RN.700001', 'RN.700002'].map((number): Subscription => {
  const license = `NUR-${number}`;
  const id = subscriptionId(ACCOUNT, license);
  const shown = { board: 'Nursing Board', license_number: number, number, reference: null };
  return { id, account: ACCOUNT, license, ...shown, created_at: DAY };
});
const WEBHOOK: Webhook = {
  ...{ id: 'whk_1', account: ACCOUNT, url: 'https://example.com/hook', generation: 2, paused: null },
  ...{ rotated_at: DAY, delivered_cursor: 'a-cursor', delivered_at: DAY, created_at: DAY },
  failing_since: '2026-11-21T00:00:00.000Z',
};

const backUp = async ({ store }: TestEnvironment, to: string) =>
  (await writeBackup(store, to, DOCUMENT_CHECKS)).documents;

const restore = async ({ store }: TestEnvironment, from: string) =>
  (await restoreBackup(store, from, DOCUMENT_CHECKS)).documents;

const issued = ({ store, config }: TestEnvironment, account: string) =>
  createKey(store, config.API_KEY_PREFIX, { account, verifiedBy: 'Ada Operator' });

const original = await newEnvironment();
const file = join(original.folder, 'licenses.backup');
const first = await issued(original, 'Acme Staffing');
const second = await issued(original, 'Zoë’s “Care”\nHome');
await revokeKey(original.store, second.stored.id);
const [active, revoked] = [first.key, second.key];
await recordAudit(original.store, 'keys revoke', { key: second.stored.id });
await publishFiles(original, FIXTURES);
await publishFiles(original, FIXTURES, { date: '2001-01-01' });
const records = savedRecords(original.store, RECORD_LIMITS);
const codes = [await records.save(shownNurse()), await records.save(shownNurse({ sample: true }))];
for (const subscription of SUBSCRIBED) await SUBSCRIPTIONS.put(original.store, subscription.id, subscription);
await WEBHOOKS.put(original.store, ACCOUNT, WEBHOOK);
await signingKeys(original.store, 'a secret for the signatures of this test, of 32 characters').sign({});
const counts = await backUp(original, file);

/** The kinds of documents in a backup, in its order: each has an index of this name. */
const KINDS = [
  ...(['accounts', 'api-keys', 'changes', 'publications', 'audit'] as const),
  ...(['saved-records', 'subscriptions', 'webhooks', 'signing-keys'] as const),
] satisfies (keyof BackupCounts)[];

const indicesOf = ({ prefix }: TestEnvironment['store']) => KINDS.map((kind) => prefix + kind);

/** The documents of the nine indices with their ids, in the order in which they were written. */
async function documentsOf({ store }: TestEnvironment) {
  const found = await Promise.all(indicesOf(store).map((index) => documentsIn(store, index)));
  return found.map((documents) => documents.map(({ id, source }) => [id, source]));
}

test('a backup has every document of the nine indices, no text of a key, and is readable only by its owner', async () => {
  const all = await documentsOf(original);
  const [, , changes = [], ledger = [], , records = []] = all;
  expect(counts).toEqual({
    ...{ accounts: 2, 'api-keys': 2, publications: ledger.length, audit: 1, changes: changes.length },
    ...{ 'saved-records': 2, subscriptions: 2, webhooks: 1, 'signing-keys': 1 },
  });
  expect(changes.length).toBeGreaterThan(0);
  expect(records.map(([id]) => id)).toEqual(codes);

  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ backup: 'ohio-license-verification', version: 6 });
  expect(lines).toHaveLength(all.flat().length + 2);
  for (const key of [active, revoked]) expect(lines.join()).not.toContain(key.slice(4, 30));

  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('a backup replaces an earlier one once it is whole, and leaves it where it cannot be written', async () => {
  const again = join(original.folder, 'again.backup');
  await writeFile(again, 'an earlier backup', { mode: 0o644 });
  const nowhere = openStore({ ...original.config, INDEX_PREFIX: 'test-nowhere-' }, 10_000);
  await expect(writeBackup(nowhere, again, DOCUMENT_CHECKS)).rejects.toThrow('index_not_found');
  expect(await readFile(again, 'utf8')).toBe('an earlier backup');
  // Each has a part of its own: one that ends first has no unfinished file of the other's for its own.
  await Promise.all([backUp(original, again), backUp(original, again)]);
  expect((await stat(again)).mode & 0o777).toBe(0o600);
  await expect(readBackup(again, DOCUMENT_CHECKS)).resolves.toMatchObject({ documents: { accounts: 2 } });
  expect((await readdir(original.folder)).filter((name) => name.includes('.part'))).toEqual([]);
});

test('a backup of an installation that has lost its data does not replace the one that has them', async () => {
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
  expect([await readFile(daily), await readdir(lost.folder)]).toEqual([before, ['daily.backup']]);
  expect(await backUp(lost, join(lost.folder, 'other.backup'))).toMatchObject({ 'api-keys': 0 });
});

test('a backup has all documents when there are more than one page, and when texts have separators of lines', async () => {
  const [large, empty] = [await newEnvironment(), await newEnvironment()];
  const index = large.store.names.ledger;
  const ids = times(inForm({ short: 2500, long: 25_000 }), (number) => `run${number}\u2028\u2029`);
  const queued = { at: DAY, event: 'queued' };
  const body = ids.flatMap((publication) => [{ create: {} }, { publication, ...queued }]);
  await large.client.bulk({ index, body });
  const path = join(large.folder, 'large.backup');
  const ofLarge = await backUp(large, path);
  expect(ofLarge).toMatchObject({ accounts: 0, publications: ids.length });
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n').slice(1, -1);
  expect(lines.map((line) => JSON.parse(line).source.publication)).toEqual(ids);
  expect(await restore(empty, path)).toEqual(ofLarge);
  const { client, store } = empty;
  await client.indices.refresh({ index: store.names.ledger });
  expect((await client.count({ index: store.names.ledger })).body.count).toBe(ids.length);
});

const restored = await newEnvironment();
expect(await restore(restored, file)).toEqual(counts);

test('a restored backup has working keys, and its revoked keys stay revoked', async () => {
  const { store, config } = restored;
  const keys = keyCheck(store, config.API_KEY_PREFIX);
  expect(await keys(active)?.activeAccount()).toBeDefined();
  expect(await keys(revoked)?.activeAccount()).toBeUndefined();
});

test('a restored backup has the same documents in the same order, and nothing live until the next publication, which continues the epochs', async () => {
  const { store } = restored;
  expect(await documentsOf(restored)).toEqual(await documentsOf(original));
  const before = await publicationHistory(original.store);
  expect(before.publications.map(({ state }) => state)).toEqual(['refused', 'live']);
  const ids = before.publications.map(({ publication }) => ({ publication }));
  expect(await publicationHistory(store)).toMatchObject({ live: null, publications: ids });
  const last = await currentEpoch(original.store);
  expect(last).toBeGreaterThan(0);
  expect(await takeEpoch(store, 'the test')).toBe(last + 1);
  expect(await publishFiles(restored, FIXTURES)).toMatchObject({ state: 'live' });
  expect((await publicationHistory(store)).live).toMatchObject({ state: 'live' });
});

const target = await newEnvironment();

const inLines = (change: (lines: readonly string[]) => readonly string[]) => (bytes: Buffer) =>
  change(bytes.toString().split('\n')).join('\n');
const replaced = (text: string, by: string) => (bytes: Buffer) => bytes.toString().replaceAll(text, by);

test.each<[what: string, broken: (bytes: Buffer) => string | Buffer, says: RegExp]>([
  ['lacks its last bytes', (bytes) => bytes.subarray(0, -20), /cut off/],
  ['lacks its last line', (bytes) => bytes.subarray(0, bytes.lastIndexOf('\n', -2) + 1), /cut off/],
  ['lacks its second half', (bytes) => bytes.subarray(0, bytes.length >> 1), /cut off/],
  ['has its first line alone', inLines(([first = '']) => [first, '']), /cut off/],
  ['has a line altered', replaced('Acme Staffing', 'Acne Staffing'), /cut off or altered/],
  ['has a line removed', inLines((lines) => lines.toSpliced(2, 1)), /cut off or altered/],
  ['has a line twice', inLines((lines) => lines.toSpliced(2, 0, lines[2] ?? '')), /cut off or altered/],
  ['has a later format', replaced('"version":6', '"version":7,"more":[]'), /later release.*\(format 7\)/],
  ['has another name', replaced('ohio-license-verification', 'another'), /is no backup of this service/],
  ['is empty', () => '', /cut off/],
  ['is a blank line', () => '\n', /is no backup of this service/],
  ['is another file', () => 'SEQ,BOARD\n', /is no backup of this service/],
  ['is other JSON', () => '{}\n{}\n', /is no backup of this service/],
  ['is binary', () => Buffer.from([0xff, 0x0a, 0x00]), /is no backup of this service/],
])('a restore is refused, with nothing written, when the file %s', async (_what, broken, says) => {
  const path = join(target.folder, 'broken.backup');
  await writeFile(path, broken(await readFile(file)));
  await expect(restore(target, path)).rejects.toThrow(says);
  expect(await documentsOf(target)).toEqual(KINDS.map(() => []));
});

test('a restore is refused when the installation already has something but an audit log', async () => {
  const started = await newEnvironment();
  await recordAudit(started.store, 'prune', {});
  await takeEpoch(started.store, 'the test');
  await expect(restore(started, file)).rejects.toThrow(
    /^There are 0 accounts, .* 1 entries of the ledger, 1 entries of the audit log, .* already/,
  );
});

test('a restore is refused when OpenSearch fails midway, with a message about what was written and what to do', async () => {
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
  expect((await restoreBackup(store, file, DOCUMENT_CHECKS)).documents).toMatchObject({ 'api-keys': 2 });
});

test('licenses backup and licenses restore copy keys and ledger to another installation', async () => {
  const to = await newEnvironment();
  const path = join(original.folder, 'daily.backup');
  expect(await command(original.variables, 'backup', path)).toMatchObject({
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
