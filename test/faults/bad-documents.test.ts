import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { testEnvironment } from '../../scripts/environment.ts';
import { startApi, startWorker } from '../../scripts/licenses-processes.ts';
import { ACCOUNTS, accountId } from '../../src/access/accounts.ts';
import { API_KEYS, createKey } from '../../src/access/api-keys.ts';
import { keyUsage, lastUsed, readKeyUsage } from '../../src/access/usage.ts';
import { publicationHistory } from '../../src/publications/history.ts';
import { publicationTimes, readEvents } from '../../src/publications/ledger.ts';
import { licensesIndices } from '../../src/publications/metadata.ts';
import { readRejectedRows } from '../../src/publications/rejected-rows.ts';
import { savedRecords } from '../../src/records/saved-records.ts';
import { AUDIT_ENTRIES, recordAudit } from '../../src/storage/audit-log.ts';
import { WEBHOOKS, type Webhook } from '../../src/subscriptions/webhook.ts';
import { apiClient } from '../support/api.ts';
import { addBadDocuments, STORED_INDICES } from '../support/bad-documents.ts';
import { allChanges } from '../support/changes.ts';
import { command } from '../support/in-process.ts';
import { nurses, published } from '../support/publication-days.ts';
import { RECORD_LIMITS, shownNurse } from '../support/saved-records.ts';

const NURSES = nurses(6);
const LONG_AGO = '2000-01-01';

const SIGNING_SECRET_KEY = 'a secret key of the tests, of 32 characters and more';
const environment = await testEnvironment({ SIGNING_SECRET_KEY });
const { store, config } = environment;
let api = await startApi(environment.variables);
const rest = await apiClient(environment);

async function publishDay(day: number, city: string) {
  const individual = [
    ...NURSES.map((nurse) => ({ ...nurse, city })),
    { board: 'Nursing Board', number: 'RN.1', expires: 'never' },
  ];
  await published(environment, `2026-11-0${day}`, { individual });
}

const webhook: Webhook = {
  ...{ id: 'w1', account: accountId('Test'), url: 'https://hooks.example.com/', generation: 1 },
  ...{ rotated_at: null, delivered_cursor: '', delivered_at: null, failing_since: null, paused: null },
  created_at: '2026-11-01T00:00:00.000Z',
};

/** All that readers of every index return. */
async function readAll() {
  const rejected: unknown[] = [];
  const history = await publicationHistory(store);
  for (const { publication } of history.publications)
    for await (const page of readRejectedRows(store, publication)) rejected.push(...page);
  const { live, publications } = history;
  const times = await publicationTimes(store);
  return {
    ...{ live, publications, rejected },
    ...{ events: await readEvents(store), ofLive: times.live, lastEvents: [...times.lastEvents.keys()] },
    ...{ indices: await licensesIndices(store), keys: await API_KEYS.list(store) },
    ...{ accounts: await ACCOUNTS.list(store), used: (await lastUsed(store)).get(key) },
    usage: (await readKeyUsage(store, LONG_AGO)).filter((each) => each.key === key),
    audit: await AUDIT_ENTRIES.list(store),
    record: await savedRecords(store, RECORD_LIMITS).read(code),
    changes: await allChanges(rest),
    watched: await allChanges(rest, '', 7, { watched: 'true' }),
    subscriptions: (await rest.get('/api/v1/subscriptions')).body,
    webhook: (await WEBHOOKS.read(store, webhook.account))?.document,
    history: (await rest.get('/api/v1/history?board=Nursing+Board&license_number=RN.900001')).body,
  };
}

const backedUp = z.object({ left_out: z.array(z.object({ index: z.string(), id: z.string() })) });

/** What must be the same beside bad documents; an event is known even where one of its counts is not. */
function comparable(all: Awaited<ReturnType<typeof readAll>>) {
  const { events, lastEvents, publications, live, accounts, history, ...same } = all;
  const ids = publications.map(({ publication, state }) => [publication, state]);
  return { ...same, live: live?.publication, ids };
}

await publishDay(1, 'LIMA');
await publishDay(2, 'DAYTON');
const { stored } = await createKey(store, config.API_KEY_PREFIX, { account: 'Acme', verifiedBy: 'Ada' });
/** A key that the API does not count, whose counts do not grow meanwhile. */
const key = stored.id;
const usage = keyUsage(store, () => undefined);
usage.count(key, 'found');
await usage.stop();
await recordAudit(store, 'keys create', { key });
const code = await savedRecords(store, RECORD_LIMITS).save(shownNurse());
const nurse = { board: 'Nursing Board', license_number: 'RN.900001', reference: 'A-1' };
expect((await rest.verify(nurse, '/api/v1/subscriptions')).status).toBe(201);
const headers = { 'idempotency-key': 'once', accept: 'application/jose' };
expect((await rest.request('POST', '/api/v1/records', { headers, json: nurse })).status).toBe(201);
await WEBHOOKS.replace(store, webhook.account, undefined, webhook);

test('beside documents with every wrong type in every field, each reader returns what is valid; publishing, rolling back, backups and restarts go on', async () => {
  const before = await readAll();
  expect(new Set(before.lastEvents)).toEqual(new Set(before.events.map(({ event }) => event)));
  const added = await addBadDocuments(store);
  for (const index of STORED_INDICES) expect([index, (added.get(index) ?? 0) > 10]).toEqual([index, true]);

  const after = await readAll();
  expect(comparable(after)).toEqual(comparable(before));
  for (const name of ['events', 'lastEvents', 'accounts'] as const)
    expect([name, after[name]]).toEqual([name, expect.arrayContaining([...before[name]])]);

  for (const path of ['/status', '/data', '/', `/records/${code}`])
    expect([path, (await rest.get(path)).status]).toEqual([path, 200]);
  await api.stop();
  api = await startApi(environment.variables);
  expect(await allChanges(rest)).toEqual(before.changes);
  await (await startWorker(environment.variables)).stop();
  await publishDay(3, 'TOLEDO');
  const commands = ['publications', 'rollback', 'prune', 'keys list', 'keys usage', 'accounts list', 'audit'];
  for (const each of commands)
    expect([each, (await command(environment.variables, ...each.split(' '))).code]).toEqual([each, 0]);

  const file = join(environment.folder, 'b.backup');
  const backup = await command(environment.variables, 'backup', file, '--json');
  expect(backup.code).toBe(0);
  const inWords = await command(environment.variables, 'backup', file);
  expect(inWords.stderr).toMatch(/^Not valid, and left out, or the part that is not valid: \S+ of \S+ \(/m);
  const restored = await command((await testEnvironment()).variables, 'restore', file);
  expect(restored).toMatchObject({ code: 0, stderr: '' });

  const metrics = await (await fetch(`http://127.0.0.1:${config.ADMIN_PORT}/metrics`)).text();
  expect(metrics).toMatch(new RegExp(`licenses_bad_documents_total{index="${store.names.changes}"} [1-9]`));
  const lines = api.output().split('\n');
  const told = lines.filter((line) => line.includes('a stored document is not valid'));
  expect(new Set(told.map((line) => JSON.parse(line).id)).size).toBe(told.length);
  expect(told.length).toBeGreaterThan(0);

  const { left_out: named } = backedUp.parse(JSON.parse(backup.stdout));
  expect(named.length).toBeGreaterThan(10);
  const body = named.map(({ index: _index, id: _id }) => ({ delete: { _index, _id } }));
  await environment.client.bulk({ body, refresh: true });
  const again = await command(environment.variables, 'backup', file, '--json');
  expect(backedUp.parse(JSON.parse(again.stdout)).left_out).toEqual([]);
});
