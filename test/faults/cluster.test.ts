/** @long @room publishing */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { startApi, startWorker } from '../../scripts/licenses-processes.ts';
import { freePorts } from '../../scripts/ports.ts';
import { publicationHistory } from '../../src/publications/history.ts';
import { indicesUnderAlias } from '../../src/publications/metadata.ts';
import { type ApiClient, apiClient, clientAt, waitForLive } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { ownCluster } from '../support/own-servers.ts';
import { publishByCommand, publishFiles } from '../support/publishing.ts';

const NODES = 3;
const ROWS = 100_000;
const LICENSES_ASKED_FOR = 200;
const AWAY_MS = 15_000;
const NO_LIMITS = { REST_REQUESTS_PER_MINUTE: '100000000', WEB_REQUESTS_PER_MINUTE: '100000000' };

const license = z.object({
  ...{ board: z.string(), license_number: z.string(), full_name: z.string() },
  keys: z.object({ kind: z.enum(['person', 'business']) }),
});
const drawn = z.object({ hits: z.object({ hits: z.array(z.object({ _source: license })) }) });

/** Lookups of every kind for licenses of the live publication: by number, mistyped, by name and by business. */
async function lookupsDrawn({ store, client }: TestEnvironment): Promise<object[]> {
  const query = { function_score: { functions: [{ random_score: { seed: 7, field: '_seq_no' } }] } };
  const asked = { index: store.names.alias, body: { size: LICENSES_ASKED_FOR, query } };
  const { body } = await client.search(asked);
  return drawn.parse(body).hits.hits.flatMap(({ _source: license }): object[] => {
    const { board, license_number: number, full_name: name } = license;
    const numbers = [number, number.replace('.', '.0'), number.slice(0, -1)];
    const [last_name = '', given = ''] = name.split(', ');
    const byPerson = [{}, { first_name: given.slice(0, 2) }, { last_name: `${last_name.slice(0, -1)}zz` }];
    const byName =
      license.keys.kind === 'business'
        ? [{ search_type: 'business', business_name: name.slice(0, 5) }]
        : byPerson.map((fields) => ({ last_name, ...fields }));
    const all = [...numbers.map((license_number) => ({ license_number })), ...byName];
    return all.map((fields) => ({ board, ...fields }));
  });
}

async function answers(rest: ApiClient): Promise<string[]> {
  const texts: string[] = [];
  for (const body of lookups) texts.push((await rest.verify(body)).text);
  return texts;
}

// Starting and stopping the servers alone takes two minutes of two cores.
const cluster = await ownCluster(NODES);
const alone = await testEnvironment(NO_LIMITS);
const clustered = await testEnvironment({
  ...NO_LIMITS,
  OPENSEARCH_URL: cluster.nodes.map(({ url }) => url).join(','),
  INDEX_SHARDS: String(NODES),
});
const written = (date: string, changed: number) =>
  writeSampleData({ directory: join(alone.folder, date), rows: ROWS, seed: 1, date, changed });
/** The files of two days; a tenth of the licenses differs. */
const [first, second] = [await written('2026-11-20', 0), await written('2026-11-21', 0.1)];
await publishFiles(alone, first);
await startApi(alone.variables);
const ofAlone = await apiClient(alone);
/** Request bodies of lookups, and the expected responses for each day. */
const lookups = await lookupsDrawn(alone);
const before = await answers(ofAlone);
await publishFiles(alone, second);
const expected = [before, await answers(ofAlone)];

test('one of three nodes killed (SIGKILL) under load during a publication, and started again', async () => {
  const { client, store, variables } = clustered;
  const [otherPort = 0, otherAdminPort = 0] = await freePorts(2);
  const other = { ...variables, PORT: String(otherPort), ADMIN_PORT: String(otherAdminPort) };
  await Promise.all([startWorker(variables), startWorker(variables)]);
  expect(await publishByCommand(variables, first)).toMatchObject({ code: 0 });
  const [index = ''] = await indicesUnderAlias(store);
  const settings = await client.indices.getSettings({ index });
  const shards = { number_of_shards: String(NODES), number_of_replicas: '1' };
  expect(settings.body[index]?.settings?.index).toMatchObject(shards);

  await Promise.all([startApi(variables), startApi(other)]);
  const rest = await apiClient(clustered);
  const others = clientAt(`http://127.0.0.1:${otherPort}`, rest.key);
  expect(await answers(rest)).toEqual(expected[0]);

  let hasEnded = false;
  let right = 0;
  const wrong: unknown[] = [];
  /** Sends one lookup after the other. Each response must be exactly that of one day. */
  const asking = [rest, others, rest, others].map(async ({ verify }) => {
    for (let turn = 0; !hasEnded; turn += 1) {
      const at = turn % lookups.length;
      const { status, text } = await verify(lookups[at]);
      if (expected.some((day) => day[at] === text)) right += 1;
      else if (status < 500) wrong.push([lookups[at], text]);
    }
  });
  const publishing = publishByCommand(variables, second);
  const hasPublished = publishing.then(() => true);
  await eventually('a fifth is loaded', async () => {
    const [latest] = (await publicationHistory(store)).publications;
    if (latest?.state !== 'loading') return false;
    const { body } = await client.indices.stats({ index: latest.index ?? '', metric: 'indexing' });
    return (body._all.primaries?.indexing?.index_total ?? 0) > ROWS / 5;
  });
  const atKill = right;
  await cluster.nodes[1]?.kill();
  await cluster.hasNodes(NODES - 1);
  // It interrupts the publication.
  expect(await Promise.race([hasPublished, sleep(0, false)])).toBe(false);
  await sleep(AWAY_MS);
  expect(right).toBeGreaterThan(atKill);
  await cluster.nodes[1]?.start();
  expect(await publishing).toMatchObject({ code: 0 });
  await waitForLive(clustered);
  await sleep(2000);
  hasEnded = true;
  await Promise.all(asking);
  expect(wrong.slice(0, 3)).toEqual([]);
  await cluster.isWhole();
  expect(await answers(rest)).toEqual(expected[1]);
  expect(right).toBeGreaterThan(lookups.length);
}, 600_000);
