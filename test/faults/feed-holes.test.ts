import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { positionOf } from '../../src/changes/feed.ts';
import { liveFeed } from '../../src/publications/live-feed.ts';
import { readableLiveIndex } from '../../src/publications/metadata.ts';
import { rollBack } from '../../src/publications/rollback.ts';
import { allChanges, askChanges, changesPage } from '../support/changes.ts';
import { type FeedService, NURSES, NURSING, startFeedService } from '../support/feed-service.ts';

let service: FeedService;
let beginning: string;
let positions: number[];

const inCity = (city: string) => NURSES.map((nurse) => ({ ...nurse, city }));

/** Three days, of which each but the first changes all 20 nurses. */
beforeEach(async () => {
  service = await startFeedService();
  await service.publishDay(inCity('LIMA'));
  ({ next: beginning } = await changesPage(service.rest, { since: 'latest' }));
  await service.publishDay(inCity('DAYTON'));
  await service.publishDay(inCity('TOLEDO'));
  const { state } = await liveFeed(service.environment.store);
  positions = state.segments.flatMap(({ epoch, changes }) =>
    Array.from({ length: changes }, (_, at) => positionOf(epoch, at + 1)),
  );
});
afterEach(() => service.stop());

const history = z.object({ coverage_start: z.string(), changes: z.array(z.unknown()) });

async function historyOf(number: string) {
  const path = `/api/v1/history?board=${encodeURIComponent(NURSING)}&license_number=${number}`;
  return history.parse((await service.rest.get(path)).body);
}

test('a change that is not valid or missing ends the feed for cursors before it, and is left out of everything else', async () => {
  const { rest, environment } = service;
  const { client, store } = environment;
  const index = store.names.changes;
  const before = await allChanges(rest);
  expect(before).toHaveLength(40);
  const [fifth, sixth] = [before[4], before[5]];
  const document = { index, id: String(positions[4]), refresh: true } as const;
  const { body: whole } = await client.get({ index, id: document.id });

  for (const isDeleted of [false, true]) {
    if (isDeleted) await client.delete(document);
    else await client.index({ ...document, body: { ...whole._source, fields: 'lost' } });
    for (const since of [beginning, before[1]?.cursor ?? ''])
      for (const filter of [{}, { board: NURSING }, { kind: 'changed' }, { limit: '1000' }])
        expect([filter, (await askChanges(rest, { since, ...filter })).status]).toEqual([filter, 410]);
    // Those after it go on, and so does who has none.
    expect(await allChanges(rest, sixth?.cursor)).toEqual(before.slice(6));
    expect((await askChanges(rest, { limit: '10' })).status).toBe(200);
    expect((await askChanges(rest, { since: 'latest' })).status).toBe(200);
  }

  await client.index({ ...document, body: { ...whole._source, fields: 'lost' } });
  const cut = await historyOf(fifth?.license_number ?? '');
  expect(cut).toMatchObject({ coverage_start: '2026-11-03', changes: [{}] });
  expect(await historyOf(sixth?.license_number ?? '')).toMatchObject({
    coverage_start: '2026-11-01',
    changes: [{}, {}],
  });

  await client.index({ ...document, body: whole._source });
  expect(await allChanges(rest, beginning)).toEqual(before);
});

test('a rollback over a change that is not valid compares the publications, so its own changes are whole', async () => {
  const { rest, environment } = service;
  const { client, store } = environment;
  const { next } = await changesPage(rest, { since: 'latest' });
  const document = { index: store.names.changes, id: String(positions[30]), refresh: true } as const;
  const { body: whole } = await client.get({ index: document.index, id: document.id });
  await client.index({ ...document, body: { ...whole._source, license: 7 } });
  await rollBack(store);
  const back = await allChanges(rest, next);
  expect(back.map(({ cause }) => cause)).toEqual(NURSES.map(() => 'rollback'));
});

test('a digest that is not valid does not stop the next publication; a new feed starts', async () => {
  const { rest, environment } = service;
  const { store, client } = environment;
  const { next } = await changesPage(rest, { since: 'latest' });
  const live = await readableLiveIndex(store);
  const digest = (live?.index ?? '').replace('licenses-', 'license-digests-');
  await client.index({ index: digest, id: 'number-7', body: { entries: 'not base64!' } });
  await service.publishDay(inCity('CANTON'));
  expect((await askChanges(rest, { since: next })).status).toBe(410);
});

test('since when the data of a board has not changed leaves out what a rollback undid, and what is not known', async () => {
  const { rest, environment, publishDay } = service;
  const answer = z.object({
    board_activity: z.record(z.string(), z.object({ last_changed: z.string().nullable() })),
  });
  const lastChanged = async () => {
    const { board_activity: boards } = answer.parse((await rest.get('/api/v1/lookup/boards')).body);
    return [boards[NURSING]?.last_changed, boards['Dental Board']?.last_changed];
  };
  expect(await lastChanged()).toEqual(['2026-11-03', null]);
  await publishDay(inCity('TOLEDO'));
  expect(await lastChanged()).toEqual(['2026-11-03', null]);
  await rollBack(environment.store);
  await rollBack(environment.store);
  await changesPage(rest, { since: 'latest' });
  expect(await lastChanged()).toEqual(['2026-11-02', null]);
  const { client, store } = environment;
  const body = { query: { term: { event: 'live' } } };
  await client.deleteByQuery({ index: store.names.ledger, refresh: true, body });
  await service.restartApi();
  expect(await lastChanged()).toEqual([null, null]);
});
