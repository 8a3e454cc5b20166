import { expect, test } from '@jest/globals';
import { BOARDS } from '../../src/licenses/boards.ts';
import { liveIndex } from '../../src/publications/metadata.ts';
import { savedRecords } from '../../src/records/saved-records.ts';
import { allChanges } from '../support/changes.ts';
import { NURSES, NURSING, startFeedService } from '../support/feed-service.ts';
import { nurseRecord } from '../support/records.ts';
import { RECORD_LIMITS, shownNurse } from '../support/saved-records.ts';

/** The board's name in what was stored before it was renamed. A catalog keeps it as an alias. */
const [FORMER = ''] = BOARDS.find(({ name }) => name === NURSING)?.aliases ?? [];
const NURSE = NURSES[0]?.number ?? '';

/** Gives the stored documents the board's former name, as if they had been stored before the catalog changed. */
async function renameStored(index: string): Promise<void> {
  await client.updateByQuery({
    index,
    refresh: true,
    body: {
      query: { term: { board: NURSING } },
      script: { source: 'ctx._source.board = params.board', params: { board: FORMER } },
    },
  });
}

const service = await startFeedService();
const { environment, rest } = service;
const { client, store } = environment;
const records = savedRecords(store, RECORD_LIMITS);
await service.publishDay(NURSES);
await service.publishDay(NURSES.map((nurse) => ({ ...nurse, city: 'DAYTON' })));
const codes = [
  await records.save(shownNurse({ record: nurseRecord({ board: FORMER, license_number: NURSE }) })),
  await records.save(shownNurse({ record: nurseRecord({ board: 'Board of Wizardry' }) })),
];
await renameStored(store.names.changes);
const live = (await liveIndex(store)) ?? '';
await client.indices.putSettings({ index: live, body: { 'index.blocks.write': false } });
await renameStored(live);
await service.restartApi();

test('after a board got another name, its licenses are found by number and by name, under the name of now', async () => {
  for (const asked of [{ license_number: NURSE }, { last_name: 'HOLDER', first_name: NURSE }]) {
    const body = { board: NURSING, license_number: NURSE };
    expect(await rest.verify({ board: NURSING, ...asked })).toMatchObject({ status: 200, body });
  }
  const status = { licenses_by_board: { [NURSING]: NURSES.length } };
  expect((await rest.get('/status')).body).toMatchObject(status);
  expect((await rest.get(`/licenses/NUR/${NURSE}`)).status).toBe(200);
  const tool = await rest.callTool('verify_license', { board: NURSING, license_number: NURSE });
  expect(tool.text).toContain(NURSE);
});

test('after a board got another name, its changes and the history of its licenses are there, under the name of now, and the next publication goes live', async () => {
  for (const filter of [{}, { board: NURSING }]) {
    const changes = await allChanges(rest, '', 7, filter);
    expect(changes.map(({ board }) => board)).toEqual(NURSES.map(() => NURSING));
  }
  const asked = new URLSearchParams({ board: NURSING, license_number: NURSE });
  const history = await rest.get(`/api/v1/history?${asked}`);
  expect(history).toMatchObject({ status: 200, body: { changes: [{ kind: 'changed', board: NURSING }] } });

  await service.publishDay(NURSES.map((nurse) => ({ ...nurse, city: 'TOLEDO' })));
  const later = await allChanges(rest);
  expect(later.at(-1)).toMatchObject({ board: NURSING, fields: { city: { after: 'TOLEDO' } } });
});

test('after a board got another name, its saved records are shown, as they were; also of a board that the catalog no longer has', async () => {
  for (const [at, board] of [FORMER, 'Board of Wizardry'].entries()) {
    const page = await rest.get(`/records/${codes[at]}`);
    expect([page.status, page.text.includes(board)]).toEqual([200, true]);
  }
});
