/** @long @room publishing */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { startApi, startWorker } from '../../scripts/licenses-processes.ts';
import { freePorts } from '../../scripts/ports.ts';
import { publicationHistory } from '../../src/publications/history.ts';
import { indicesUnderAlias } from '../../src/publications/metadata.ts';
import { type ApiClient, apiClient, clientAt } from '../support/api.ts';
import { type OwnCluster, ownCluster } from '../support/own-servers.ts';
import { expectUnderWay } from '../support/publication-run.ts';
import { type DatasetFiles, publishByCommand, publishFiles } from '../support/publishing.ts';
import { untilLoaded } from '../support/random-moments.ts';

const NODES = 3;
const ROWS = 100_000;
const LICENSES_ASKED_FOR = 200;
/** How much is loaded when the node is killed. */
const LOADED_SHARE = 0.2;
const AWAY_MS = 15_000;
/** The share of licenses that differ on the second day. */
const CHANGED = 0.1;
const DAYS = ['2026-11-20', '2026-11-21'] as const;
const NO_LIMITS = { REST_REQUESTS_PER_MINUTE: '100000000', WEB_REQUESTS_PER_MINUTE: '100000000' };
const SEEN_WITHIN_MS = 60_000;
const BEGINS_WITHIN_MS = 60_000;

let cluster: OwnCluster;
let alone: TestEnvironment;
let clustered: TestEnvironment;
let files: readonly DatasetFiles[];

/** Request bodies of lookups, and the expected responses for each day. */
let lookups: readonly object[];
let expected: readonly (readonly string[])[];

function fileOf(day: number): DatasetFiles {
  const found = files[day];
  if (found === undefined) throw new Error(`There are no files of day ${day}.`);
  return found;
}

const drawn = z.object({
  hits: z.object({
    hits: z.array(
      z.object({
        _source: z.object({
          board: z.string(),
          license_number: z.string(),
          full_name: z.string(),
          keys: z.object({ kind: z.enum(['person', 'business']) }),
        }),
      }),
    ),
  }),
});

/** Lookups of every kind for licenses of the live publication: by number, mistyped, by name and by business. */
async function lookupsDrawn({ store, client }: TestEnvironment): Promise<object[]> {
  const response = await client.search({
    index: store.names.alias,
    body: {
      size: LICENSES_ASKED_FOR,
      query: { function_score: { functions: [{ random_score: { seed: 7, field: '_seq_no' } }] } },
    },
  });
  return drawn.parse(response.body).hits.hits.flatMap(({ _source: license }): object[] => {
    const { board, license_number: number, full_name: name } = license;
    const byNumber = [
      { board, license_number: number },
      { board, license_number: number.replace('.', '.0') },
      { board, license_number: number.slice(0, -1) },
    ];
    const [lastName = '', given = ''] = name.split(', ');
    return license.keys.kind === 'business'
      ? [...byNumber, { board, search_type: 'business', business_name: name.slice(0, 5) }]
      : [
          ...byNumber,
          { board, last_name: lastName },
          { board, last_name: lastName, first_name: given.slice(0, 2) },
          { board, last_name: `${lastName.slice(0, -1)}zz` },
        ];
  });
}

const statusAnswer = z.object({ publication: z.object({ date: z.string() }).nullable() });

async function untilAnswering(rest: ApiClient, date: string): Promise<void> {
  const deadline = Date.now() + SEEN_WITHIN_MS;
  for (;;) {
    const { body, text } = await rest.get('/status');
    if (statusAnswer.parse(body).publication?.date === date) return;
    if (Date.now() > deadline) throw new Error(`The API does not answer from ${date}: ${text}`);
    await sleep(100);
  }
}

async function answersTo(rest: ApiClient, bodies: readonly object[]): Promise<string[]> {
  const answers: string[] = [];
  for (const body of bodies) answers.push((await rest.verify(body)).text);
  return answers;
}

interface Load {
  right: number;
  failed: number;
  wrong: { readonly body: object | undefined; readonly text: string }[];
}

/** Sends one lookup after the other until `hasEnded`. Each response must be exactly that of one day. */
async function ask(rest: ApiClient, load: Load, hasEnded: () => boolean): Promise<void> {
  for (let turn = 0; !hasEnded(); turn += 1) {
    const at = turn % lookups.length;
    const body = lookups[at];
    const { status, text } = await rest.verify(body);
    if (status >= 500) load.failed += 1;
    else if (expected.some((day) => day[at] === text)) load.right += 1;
    else load.wrong.push({ body, text });
  }
}

function sumOf(loads: readonly Load[], count: 'right' | 'failed'): number {
  return loads.reduce((sum, load) => sum + load[count], 0);
}

/** The publication that was requested last, once the ledger has it. */
async function latestPublication({ store }: TestEnvironment, before: string): Promise<string> {
  const deadline = Date.now() + BEGINS_WITHIN_MS;
  for (;;) {
    const { publications } = await publicationHistory(store);
    const [latest] = publications;
    if (latest !== undefined && latest.publication !== before) return latest.publication;
    if (Date.now() > deadline) throw new Error('No publication began.');
    await sleep(100);
  }
}

/** The live publication and its number of documents. */
async function livePublication({ store }: TestEnvironment) {
  const { live } = await publicationHistory(store);
  const { licenses = 0, endorsements = 0 } = live?.counts ?? {};
  return { publication: live?.publication ?? '', documents: licenses + endorsements };
}

const publishDay = (day: number) => publishByCommand(clustered.variables, fileOf(day));

// Starting and stopping the servers alone takes two minutes of two cores.
describe('a cluster', () => {
  beforeAll(async () => {
    cluster = await ownCluster(NODES);
    alone = await testEnvironment(NO_LIMITS);
    clustered = await testEnvironment({
      ...NO_LIMITS,
      OPENSEARCH_URL: cluster.nodes.map(({ url }) => url).join(','),
      INDEX_SHARDS: String(NODES),
    });
    files = await Promise.all(
      DAYS.map((date, at) =>
        writeSampleData({
          directory: join(alone.folder, date),
          rows: ROWS,
          seed: 1,
          date,
          changed: at * CHANGED,
        }),
      ),
    );
    await publishFiles(alone, fileOf(0));
    await startApi(alone.variables);
    const rest = await apiClient(alone);
    await untilAnswering(rest, DAYS[0]);
    lookups = await lookupsDrawn(alone);
    const first = await answersTo(rest, lookups);
    await publishFiles(alone, fileOf(1));
    await untilAnswering(rest, DAYS[1]);
    expected = [first, await answersTo(rest, lookups)];
  }, 400_000);

  test('one of three nodes killed (SIGKILL) under load during a publication, and started again', async () => {
    const [otherPort = 0, otherAdminPort = 0] = await freePorts(2);
    const other = { ...clustered.variables, PORT: String(otherPort), ADMIN_PORT: String(otherAdminPort) };
    await Promise.all([startWorker(clustered.variables), startWorker(clustered.variables)]);
    expect(await publishDay(0)).toMatchObject({ code: 0 });
    const [index = ''] = await indicesUnderAlias(clustered.store);
    const settings = await clustered.client.indices.getSettings({ index });
    expect(settings.body[index]?.settings?.index).toMatchObject({
      number_of_shards: String(NODES),
      number_of_replicas: '1',
    });

    await Promise.all([startApi(clustered.variables), startApi(other)]);
    const rest = await apiClient(clustered);
    const rests = [rest, clientAt(`http://127.0.0.1:${otherPort}`, rest.key)];
    await untilAnswering(rest, DAYS[0]);
    expect(await answersTo(rest, lookups)).toEqual(expected[0]);

    let hasEnded = false;
    const loads = rests.flatMap(() => [1, 2].map((): Load => ({ right: 0, failed: 0, wrong: [] })));
    const asking = loads.map((load, at) => ask(rests[at % rests.length] ?? rest, load, () => hasEnded));
    const { documents, publication: before } = await livePublication(clustered);
    const publishing = publishDay(1);
    const publication = await latestPublication(clustered, before);
    const of = { environment: clustered, documents };
    const underWay = { publication, ended: publishing };
    await untilLoaded({ share: LOADED_SHARE }, underWay, of);
    const atKill = sumOf(loads, 'right');
    await cluster.nodes[1]?.kill();
    await cluster.hasNodes(NODES - 1);
    await expectUnderWay(clustered, publication);
    await sleep(AWAY_MS);
    const meanwhile = sumOf(loads, 'right') - atKill;
    await cluster.nodes[1]?.start();
    expect(await publishing).toMatchObject({ code: 0 });
    await untilAnswering(rest, DAYS[1]);
    await sleep(2000);
    hasEnded = true;
    await Promise.all(asking);
    const wrong = loads.flatMap((load) => load.wrong);
    expect(wrong.slice(0, 3)).toEqual([]);
    expect(meanwhile).toBeGreaterThan(0);
    await cluster.isWhole();
    expect(await answersTo(rest, lookups)).toEqual(expected[1]);
    expect(sumOf(loads, 'right')).toBeGreaterThan(lookups.length);
  }, 600_000);
});
