import { expect, test } from '@jest/globals';
import type { TestEnvironment } from '../../scripts/environment.ts';
import { startApi, startWorker } from '../../scripts/licenses-processes.ts';
import { currentEpoch } from '../../src/publications/fence.ts';
import { publicationHistory } from '../../src/publications/history.ts';
import { readLiveEvents } from '../../src/publications/ledger.ts';
import {
  checkBuild,
  indicesUnderAlias,
  licensesIndices,
  readMetadata,
} from '../../src/publications/metadata.ts';
import { prune } from '../../src/publications/prune.ts';
import { rollBack } from '../../src/publications/rollback.ts';
import { digestIndexName, licensesIndexName } from '../../src/storage/store.ts';
import { apiClient } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { startProxy } from '../support/proxy.ts';
import { newEnvironment, published } from '../support/publication-days.ts';

const publicationsKept = async ({ store }: TestEnvironment) =>
  (await licensesIndices(store)).map(({ metadata }) => metadata.publication);

/** Events of publications that were asked for while nothing new was there: so many that no window has others. */
async function askInVain({ client, store }: TestEnvironment, events: number): Promise<void> {
  const idle = (at: number) => ({
    ...{ publication: `idle${at >> 1}`, event: at % 2 === 0 ? 'reading' : 'skipped' },
    at: new Date().toISOString(),
  });
  const body = Array.from({ length: events }, (_, at) => [{ index: {} }, idle(at)]).flat();
  const { body: response } = await client.bulk({ index: store.names.ledger, body, refresh: true });
  expect(response.errors).toBe(false);
}

test('the last good publication is live again after five bad ones, each rolled back', async () => {
  const environment = await newEnvironment();
  const { store } = environment;
  const none = /^There is no earlier publication to roll back to\.$/;
  await expect(rollBack(store)).rejects.toThrow(none);
  const good = await published(environment, '2026-11-01');
  await expect(rollBack(store)).rejects.toThrow(none);
  for (let day = 2; day <= 6; day += 1) {
    const bad = await published(environment, `2026-11-0${day}`);
    expect((await rollBack(store)).to.index).toBe(good.index);
    await prune(store, 3);
    // What was rolled back stays until the next one is live, so that a wrong rollback can be undone.
    expect(await publicationsKept(environment)).toEqual([good.publication, bad.publication]);
  }
  expect(await indicesUnderAlias(store)).toEqual([good.index]);
  const event = (await readLiveEvents(store)).findLast((each) => each.event === 'live');
  // So the next epoch is a later one, even where the document of the epoch is lost.
  expect(event).toMatchObject({ publication: good.publication, epoch: await currentEpoch(store) });
  expect(event).not.toHaveProperty('date');
  const states = (await publicationHistory(store)).publications.map(({ state }) => state);
  expect(states).toEqual([...Array(5).fill('rolled_back'), 'live']);
  const next = await published(environment, '2026-11-07');
  expect(await publicationsKept(environment)).toEqual([good.publication, next.publication]);
  // A rollback that is undone leaves neither as rolled back.
  await rollBack(store);
  await rollBack(store, next.publication);
  const [last, before] = (await publicationHistory(store)).publications;
  expect([last?.state, before?.state]).toEqual(['live', 'rolled_back']);
});

test('the last good publication stays, however many publications were skipped since, and the live one is listed', async () => {
  const environment = await newEnvironment();
  const { store } = environment;
  const days = [];
  for (const day of [1, 2, 3, 4]) days.push((await published(environment, `2026-11-0${day}`)).publication);
  await askInVain(environment, 10_200);
  await prune(store, 3);
  expect(await publicationsKept(environment)).toEqual(days.slice(1));
  expect((await publicationHistory(store)).live).toMatchObject({ publication: days[3], state: 'live' });
  expect((await rollBack(store)).to.metadata.publication).toBe(days[2]);
  await published(environment, '2026-11-05');
  const events = (await readLiveEvents(store)).map(({ publication, event }) => `${publication} ${event}`);
  const times = (event: string) => events.filter((each) => each === event).length;
  expect([times(`${days[1]} superseded`), times(`${days[3]} rolled_back`)]).toEqual([1, 1]);
  // Once when it was published, and once when it was gone back to.
  expect(times(`${days[2]} live`)).toBe(2);
});

test('the last good publication before the live one stays where an operator went back over several', async () => {
  const environment = await newEnvironment({ KEEP_PUBLICATIONS: '4' });
  const days = [];
  for (const day of [1, 2, 3, 4]) days.push((await published(environment, `2026-11-0${day}`)).publication);
  await rollBack(environment.store, days[1]);
  await prune(environment.store, 2);
  expect(await publicationsKept(environment)).toEqual(days);
});

test('the last good publication of version 0.3.0 is kept by what the ledger says', async () => {
  const environment = await newEnvironment();
  const { client, store } = environment;
  const good = await published(environment, '2026-11-01');
  const bad = await published(environment, '2026-11-02');
  await rollBack(store);
  for (const name of [store.names.wasLive, store.names.rolledBack])
    await client.indices.deleteAlias({ index: store.names.licensesPattern, name });
  await prune(store, 2);
  expect(await publicationsKept(environment)).toEqual([good.publication, bad.publication]);
  const next = await published(environment, '2026-11-03');
  expect(await publicationsKept(environment)).toEqual([good.publication, next.publication]);
  expect((await rollBack(store)).to.index).toBe(good.index);
});

test('a publication that is live cleans up: the one before, what is kept for a time, and a check of hours ago', async () => {
  const environment = await newEnvironment({ KEEP_PUBLICATIONS: '1' });
  const { store, client } = environment;
  const before = await published(environment, '2026-11-01');
  const gone = '2020-01-01T00:00:00.000Z';
  const row = { publication: 'gone', at: gone, file: 'individual', line: 2, reason: 'x', raw: 'y' };
  const old = [
    [store.names.apiKeyUsage, { key: 'k', day: '2020-01-01', counts: { found: 1 } }],
    [store.names.firstAnswers, { at: gone, sha256: 'x' }],
    [store.names.rejectedRows, row],
    [store.names.changes, { feed: 'gone', epoch: 0, position: 1, publication: 'gone' }],
  ] as const;
  for (const [index, body] of old) await client.index({ index, id: 'old', body, refresh: true });
  const orphan = digestIndexName(store.prefix, `${before.index}orphan`);
  await client.indices.create({ index: orphan });
  // A check was killed an hour ago, another one three hours ago.
  const ended = await readMetadata(store, before.index);
  const metadata = { ...ended, epoch: ended.epoch + 1 };
  const checks = [1, 3].map((hours) => {
    const started_at = new Date(Date.now() - hours * 3_600_000).toISOString();
    const body = { mappings: { _meta: { ...metadata, publication: `check${hours}`, started_at } } };
    return { index: licensesIndexName(store.prefix, '2026-11-02', checkBuild()), body };
  });
  for (const check of checks) await client.indices.create(check);
  const { publication, index } = await published(environment, '2026-11-02');
  expect((await publicationsKept(environment)).toSorted()).toEqual(['check1', publication]);
  const digests = Object.keys((await client.indices.get({ index: store.names.digestsPattern })).body);
  expect(digests).toEqual([digestIndexName(store.prefix, index)]);
  for (const [from] of old)
    expect([from, (await client.exists({ index: from, id: 'old' })).body]).toEqual([from, false]);
});

test('two indices under the alias: the processes keep to one, and say how to choose', async () => {
  const environment = await newEnvironment();
  const { client, config, store, variables } = environment;
  const first = await published(environment, '2026-11-01');
  const second = await published(environment, '2026-11-02');
  const running = await startApi(variables);
  await client.indices.putAlias({ index: first.index, name: store.names.alias });

  const both = new RegExp(`Several indices are live: ${first.index}, ${second.index}.*rollback --to`);
  const rest = await apiClient(environment);
  const isLive = async (publication: string) => {
    const { body } = await rest.get('/status');
    return JSON.stringify(body).includes(`"id":"${publication}"`);
  };
  const readyz = async () => (await fetch(`http://127.0.0.1:${config.ADMIN_PORT}/readyz`)).json();
  await eventually('/readyz names both', async () => both.test(JSON.stringify(await readyz())));
  expect(await readyz()).toMatchObject({ ready: true, index: second.index });
  expect(await isLive(second.publication)).toBe(true);
  expect(await rest.get('/api/v1/changes')).toMatchObject({ status: 200 });
  await running.stop();

  const worker = await startWorker(variables);
  const adminPort = Number(/"port":(\d+)/.exec(worker.output())?.[1]);
  expect(await (await fetch(`http://127.0.0.1:${adminPort}/readyz`)).json()).toMatchObject({
    ready: true,
    problem: expect.stringMatching(both),
  });
  await worker.stop();

  // One that starts takes the one that the ledger has as the last.
  const started = await startApi(variables);
  await eventually('it answers', () => isLive(second.publication));
  await started.stop();

  for (const command of [() => rollBack(store), () => prune(store, 3), () => publicationHistory(store)])
    await expect(command()).rejects.toThrow(both);
  await expect(published(environment, '2026-11-03')).rejects.toThrow(both);

  await rollBack(store, second.index);
  expect(await indicesUnderAlias(store)).toEqual([second.index]);
  expect((await rollBack(store)).to.index).toBe(first.index);
});

test('an API that starts asks for the alias, the mapping, and two documents: of the publication and of its feed', async () => {
  const environment = await newEnvironment();
  await published(environment, '2026-11-01');
  const asked: string[] = [];
  const proxy = await startProxy(environment.config.OPENSEARCH_URL, (request) => {
    asked.push(`${request.method} ${request.path.replaceAll(environment.config.INDEX_PREFIX, '')}`);
    return request.forward();
  });
  const api = await startApi({ ...environment.variables, OPENSEARCH_URL: proxy.url, DRAIN_SECONDS: '0' });
  const beforeRefresh = asked.slice(0, 4).map((each) => each.replaceAll(/\d{4}-\d\d-\d\d-[a-z0-9]+/g, '*'));
  expect(beforeRefresh.toSorted()).toEqual([
    'GET /_alias/licenses',
    'GET /changes/_doc/switch-licenses-*',
    'GET /license-digests-*/_doc/types',
    'GET /licenses-*',
  ]);
  expect(asked.slice(4).filter((each) => each !== 'GET /_alias/licenses')).toEqual([]);
  await api.stop();
});
