import { expect } from '@jest/globals';
import type { TestEnvironment } from '../../scripts/environment.ts';
import {
  type PublicationHistory,
  type PublicationSummary,
  publicationHistory,
} from '../../src/publications/history.ts';
import { publishQueue } from '../../src/publications/job.ts';
import { indicesUnderAlias, readMetadata } from '../../src/publications/metadata.ts';
import { digestIndexName, storedIndices } from '../../src/storage/store.ts';
import { processesWith } from './children.ts';
import { eventually } from './eventually.ts';

/** The result of an undisturbed publication of two files. */
export type Published = Awaited<ReturnType<typeof livePublished>>;

/** The live publication, according to its metadata. */
export async function livePublished({ store }: TestEnvironment) {
  const [index = ''] = await indicesUnderAlias(store);
  const { date, counts, boards = {} } = await readMetadata(store, index);
  return { date, counts: counts ?? { rows: 0, licenses: 0, endorsements: 0, rejected: 0 }, boards };
}

/**
 * Expects everything that must hold after a fault. The alias points to one index, which is complete, has its durable
 * settings and equals the result of an undisturbed publication of the same files. The ledger agrees. There are no other
 * indices except those kept for rollback, with their digests. The queue is empty.
 *
 * @param publications the publications that are kept, if rollbacks between publications decide this
 */
export async function expectOneCompletePublication(
  environment: TestEnvironment,
  expected: Published,
  publications?: readonly string[],
): Promise<void> {
  const { store, config } = environment;
  const [index = '', ...others] = await indicesUnderAlias(store);
  expect([index !== '', others]).toEqual([true, []]);
  expect(await livePublished(environment)).toEqual(expected);
  await expectWhole(environment, index, expected);

  const history = await publicationHistory(store);
  expect(history.live).toMatchObject({ state: 'live', index, date: expected.date, counts: expected.counts });
  expect(history.publications.filter(({ state }) => state === 'live')).toHaveLength(1);

  const summaries =
    publications === undefined
      ? keptPublications(history, config.KEEP_PUBLICATIONS)
      : history.publications.filter(({ publication }) => publications.includes(publication));
  const kept = summaries.flatMap(({ index }) => index ?? []);
  const expectedIndices = [
    ...Object.values(storedIndices(store.prefix)),
    ...kept,
    ...kept.map((licenses) => digestIndexName(store.prefix, licenses)),
  ].sort();
  // A publication may report that it is live before it has deleted the indices it replaces.
  const isTidy = async () => (await indicesOf(environment)).length <= expectedIndices.length;
  await eventually(`no other indices than ${expectedIndices.join()}`, isTidy, 100);
  expect(await indicesOf(environment)).toEqual(expectedIndices);

  // The next scheduled publication may already be in the queue.
  const queue = publishQueue(config);
  const jobs = await queue.getJobs(['active', 'waiting', 'delayed', 'prioritized']);
  await queue.close();
  expect(jobs.map(({ id }) => id).filter((id) => !id?.startsWith('repeat:'))).toEqual([]);
}

/** Expects that no process of this environment runs except these. */
export async function expectNoProcessBut({ config }: TestEnvironment, allowed: readonly number[]) {
  const running = await processesWith('INDEX_PREFIX', config.INDEX_PREFIX);
  expect(running.filter((id) => !allowed.includes(id))).toEqual([]);
}

async function expectWhole({ client }: TestEnvironment, index: string, { counts, boards }: Published) {
  const { body: counted } = await client.count({ index });
  expect(counted.count).toBe(counts.licenses + counts.endorsements);
  const composite = { size: 1000, sources: [{ board: { terms: { field: 'board' } } }] };
  const found = await client.search({ index, body: { size: 0, aggs: { boards: { composite } } } });
  const buckets = Object.entries(boards).map(([board, doc_count]) => ({ key: { board }, doc_count }));
  const inOrder = buckets.toSorted((one, other) => (one.key.board < other.key.board ? -1 : 1));
  expect(found.body.aggregations).toMatchObject({ boards: { buckets: inOrder } });
  const { body } = await client.indices.getSettings({ index, flat_settings: true });
  expect(Object.keys(body)).toEqual([index]);
  const durable = { 'index.blocks.write': 'true', 'index.translog.durability': 'request' };
  expect(body[index]?.settings).toMatchObject(durable);
  expect(body[index]?.settings).not.toHaveProperty(['index.refresh_interval']);
}

/** The live publication, and the latest other publications that have been live. */
function keptPublications({ publications }: PublicationHistory, keep: number): PublicationSummary[] {
  const inState = (wanted: string, of = publications) => of.filter(({ state }) => state === wanted);
  const [live] = inState('live');
  if (live === undefined) return [];
  // They are sorted from the latest. What was rolled back before the live one was deleted when that went live.
  const rolledBack = inState('rolled_back', publications.slice(0, publications.indexOf(live)));
  return [live, ...inState('superseded').slice(0, keep - 1), ...rolledBack.slice(0, 1)];
}

async function indicesOf({ store: { client, prefix } }: TestEnvironment): Promise<string[]> {
  const { body } = await client.cat.indices({ index: `${prefix}*`, format: 'json', h: ['index'] });
  return body.flatMap(({ index }) => index ?? []).sort();
}
