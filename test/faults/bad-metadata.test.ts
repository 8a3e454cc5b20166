/** @room publishing @long */

import { beforeEach, expect, test } from '@jest/globals';
import { licenses } from '../../scripts/licenses-processes.ts';
import { currentEpoch } from '../../src/publications/fence.ts';
import { publicationTimes } from '../../src/publications/ledger.ts';
import { indicesUnderAlias } from '../../src/publications/metadata.ts';
import { type FeedService, NURSES, NURSING, startFeedService } from '../support/feed-service.ts';

let service: FeedService;

beforeEach(async () => {
  service = await startFeedService();
  await service.publishDay(NURSES);
  await service.publishDay(NURSES.map((nurse) => ({ ...nurse, city: 'DAYTON' })));
});

async function run(...parameters: string[]): Promise<string> {
  const { code, stdout, stderr } = await licenses(service.environment.variables, ...parameters);
  expect([parameters, code, code === 0 ? '' : stderr]).toEqual([parameters, 0, '']);
  return stdout;
}

async function licensesIndexNames(): Promise<string[]> {
  const { client, store } = service.environment;
  return Object.keys((await client.indices.getMapping({ index: store.names.licensesPattern })).body);
}

/** Gives an index other metadata. */
const putMetadata = (index: string, _meta: object) =>
  service.environment.client.indices.putMapping({ index, body: { _meta } });

async function liveNow(): Promise<string> {
  const [live = ''] = await indicesUnderAlias(service.environment.store);
  return live;
}

const ask = () => service.rest.verify({ board: NURSING, license_number: NURSES[0]?.number ?? '' });

test('metadata of an index that is not live, and indices of others, stop nothing', async () => {
  const { client, store } = service.environment;
  const live = await liveNow();
  const earlier = (await licensesIndexNames()).find((index) => index !== live) ?? '';
  const others = ['2020-01-01-abc', '2020-01-02-abc'].map((name) => `${store.prefix}licenses-${name}`);
  for (const index of others) await client.indices.create({ index });
  await putMetadata(others[1] ?? '', { owner: 'another service', epoch: 'x' });
  await putMetadata(earlier, { publication: 'p', epoch: 'x' });

  await service.restartApi();
  expect((await ask()).status).toBe(200);
  await run('publications');
  await run('prune');
  await service.publishDay(NURSES);
  await run('rollback');
  expect(await licensesIndexNames()).toEqual(expect.arrayContaining([live, earlier, ...others]));
});

test.each([{ publication: 12 }, undefined])('what is live with metadata of %j stays', async (_meta) => {
  const { store } = service.environment;
  const live = await liveNow();
  await putMetadata(live, _meta ?? {});
  await run('prune');
  expect(await liveNow()).toEqual(live);
  // The metrics of the ledger go on.
  const times = await publicationTimes(store);
  expect([times.live, times.lastEvents.has('live')]).toEqual([undefined, true]);
});

test('without the date of what is live nothing is answered after a restart; the next publication heals it', async () => {
  // A process that has read the feed answers from what is live.
  await service.rest.get('/api/v1/changes');
  await putMetadata(await liveNow(), { publication: 'p', epoch: 2 });
  expect(await ask()).toMatchObject({ status: 200, body: { last_scraped: '2026-11-02T00:00:00' } });
  await service.restartApi();
  expect((await ask()).status).toBe(503);
  await run('publications');
  await service.publishDay(NURSES);
  expect((await service.rest.get('/api/v1/changes')).status).toBe(200);
  expect(await ask()).toMatchObject({ status: 200, body: { last_scraped: '2026-11-03T00:00:00' } });
});

test('where the epoch was deleted, as one that was not valid, the next publication takes a greater one than all', async () => {
  const { client, store } = service.environment;
  const last = await currentEpoch(store);
  await client.delete({ index: store.names.ledger, id: 'epoch', refresh: true });
  expect(await currentEpoch(store)).toBe(last);
  await service.publishDay(NURSES);
  expect(await currentEpoch(store)).toBe(last + 1);
});
