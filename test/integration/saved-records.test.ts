import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ZodError } from 'zod';
import { prune } from '../../src/publications/prune.ts';
import {
  MAX_RECORD_BYTES,
  newRecordCode,
  SAVED_RECORD_DAYS,
  savedRecords,
  writtenRecordCode,
} from '../../src/records/saved-records.ts';
import { countDocuments } from '../../src/storage/checked-search.ts';
import { isTransient } from '../../src/storage/errors.ts';
import { openStore } from '../../src/storage/store.ts';
import { BadDocumentError } from '../../src/storage/stored.ts';
import { upgradeIndices } from '../../src/storage/templates.ts';
import { newEnvironment } from '../support/publication-days.ts';
import { nurseRecord } from '../support/records.ts';
import { addRecords, deleteRecords, RECORD_LIMITS, shownList, shownNurse } from '../support/saved-records.ts';

const DAY_MS = 86_400_000;
const SAVED_AT = new Date('2026-11-21T22:00:00.250Z');
/** The last moment in which a record saved at `SAVED_AT` is kept. */
const LAST = new Date('2027-12-26T22:00:00.250Z');
const AFTER = new Date(LAST.getTime() + 1);

const environment = await newEnvironment();
const { store } = environment;
const records = savedRecords(store, RECORD_LIMITS);
beforeEach(() => deleteRecords(store));

const count = () => countDocuments(store.client, store.names.savedRecords);

test('a saved record is read at once, as it was shown, by its code in any form', async () => {
  const shown = shownNurse({
    checked_by: 'Zoë O’Neil 李',
    reference: '#4711 / week 48',
    search: 'rn 123456',
  });
  const code = await records.save(shown, SAVED_AT);
  const expected = { ...shown, saved_at: '2026-11-21T22:00:00.250Z' };
  for (const typed of [code, writtenRecordCode(code), code.toLowerCase()])
    expect(await records.read(typed, SAVED_AT)).toEqual(expected);
  expect(await count()).toBe(1);
});

test('a saved record may be a list of 1,000 rows, and no more', async () => {
  const shown = shownList(1000);
  const code = await records.save(shown, SAVED_AT);
  expect(await records.read(code, SAVED_AT)).toEqual({ ...shown, saved_at: SAVED_AT.toISOString() });
  await expect(records.save(shownList(1001))).rejects.toThrow(ZodError);
  await expect(records.save(shownList(0))).rejects.toThrow(ZodError);
  expect(await count()).toBe(1);
});

test('a saved record counts against what a day allows, until a day later', async () => {
  const records = savedRecords(store, { ...RECORD_LIMITS, perDay: 4 });
  expect(records.usedRatio()).toBeUndefined();
  await records.save(shownNurse());
  expect(records.usedRatio()).toBe(0.25);
  const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + DAY_MS + 1);
  try {
    expect(records.usedRatio()).toBeUndefined();
  } finally {
    clock.mockRestore();
  }
});

test('a saved record keeps extra data with any name, and null where the record has nothing', async () => {
  const record = nurseRecord({
    license_type: null,
    expiry_date: null,
    extra_data: { 'a.b': 'x', 'Zoë’s “column”\n': '=1+1', date: '31/31/2026' },
  });
  const shown = shownNurse({ record, changes: [], sample: true });
  expect(await records.read(await records.save(shown, SAVED_AT), SAVED_AT)).toMatchObject(shown);
});

test('a saved record has nothing that the schema does not name', async () => {
  const { changes, ...shown } = shownNurse();
  const code = await records.save({
    ...shown,
    ...{ secret: 'a key' },
    changes: changes.map((change) => ({ ...change, feed: 'f', license: 'l', position: 7 })),
  });
  const { body } = await store.client.get({ index: store.names.savedRecords, id: code });
  expect(body._source).toEqual({ ...shown, changes, saved_at: expect.any(String) });
});

describe('a record', () => {
  /** Stores a document that this version would not write. @returns its code */
  async function index(body: object): Promise<string> {
    const id = newRecordCode();
    await store.client.index({ index: store.names.savedRecords, id, body, refresh: true });
    return id;
  }

  test('of before there were kinds is one of a license', async () => {
    const { kind, ...earlier } = shownNurse();
    const body = { ...earlier, saved_at: SAVED_AT.toISOString() };
    expect(await records.read(await index(body), SAVED_AT)).toEqual({ ...body, kind });
  });

  test('of a kind that this version does not know does not break the reading of others', async () => {
    const code = await records.save(shownNurse());
    const id = await index({ ...shownNurse(), kind: 'later', saved_at: SAVED_AT.toISOString() });
    await expect(records.read(id)).rejects.toThrow(BadDocumentError);
    expect(await records.read(code)).toMatchObject(shownNurse());
  });

  test.each([
    ['blank', ''],
    ['of two lines', 'Ada\nLovelace'],
    ['that is turned around', 'Ada \u202eecalevoL'],
    ['with a line separator', 'Ada\u2028'],
    ['with half a character', 'Ada \ud83d'],
  ])('is not saved with a name %s', async (_what, name) => {
    for (const field of ['checked_by', 'reference'])
      await expect(records.save(shownNurse({ [field]: name }))).rejects.toThrow(ZodError);
    expect(await count()).toBe(0);
  });

  test('is not saved with more than 2 MB', async () => {
    const large = (bytes: number) =>
      shownNurse({ record: nurseRecord({ extra_data: { x: 'é'.repeat(bytes / 2) } }) });
    await records.save(large(MAX_RECORD_BYTES - 2000));
    await expect(records.save(large(MAX_RECORD_BYTES))).rejects.toMatchObject({ reason: 'size' });
    expect(await count()).toBe(1);
  });
});

const addOld = (count: number) => addRecords(store, count, new Date(Date.now() - 2 * DAY_MS).toISOString());

test('when the room for all records is used by their number, none is saved; before, never too many by two at once', async () => {
  const records = savedRecords(store, { ...RECORD_LIMITS, perDay: 2 });
  expect(records.storedRatio()).toBeUndefined();
  await addOld(2 * SAVED_RECORD_DAYS - 2);
  await records.save(shownNurse());
  expect(records.storedRatio()).toBe((2 * SAVED_RECORD_DAYS - 1) / (2 * SAVED_RECORD_DAYS));
  await addOld(1);
  for (const saving of await Promise.allSettled([records.save(shownNurse()), records.save(shownNurse())]))
    expect(saving.status).toBe('rejected');
  await expect(records.save(shownNurse())).rejects.toMatchObject({ reason: 'full' });
  expect([records.storedRatio(), await count()]).toEqual([1, 2 * SAVED_RECORD_DAYS]);
});

test('when the room for all records is used by their bytes, none is saved', async () => {
  // What earlier tests have deleted is still on the disk of their index.
  const own = await newEnvironment();
  const records = savedRecords(own.store, { ...RECORD_LIMITS, bytes: 100_000 });
  const large = () =>
    shownNurse({ record: nurseRecord({ extra_data: { x: randomBytes(45_000).toString('hex') } }) });
  const code = await records.save(large());
  // OpenSearch measures the disk every ten seconds.
  const untilFull = async () => {
    for (;;) {
      await records.save(large());
      await sleep(1000);
    }
  };
  await expect(untilFull()).rejects.toMatchObject({ reason: 'full' });
  expect(records.storedRatio()).toBe(1);
  expect(await records.read(code)).toBeDefined();
  await own.cleanUp();
});

test('where OpenSearch is away, saving and reading fail as lookups do', async () => {
  const away = openStore({ ...environment.config, OPENSEARCH_URL: 'http://127.0.0.1:1' }, 1000);
  const { save, read } = savedRecords(away, RECORD_LIMITS);
  for (const failing of [save(shownNurse()), read(newRecordCode())])
    expect(isTransient(await failing.catch((error: unknown) => error))).toBe(true);
  await away.client.close();
});

test('a record that was saved 400 days ago is read until then and not later, deleted or not', async () => {
  expect((LAST.getTime() - SAVED_AT.getTime()) / DAY_MS).toBe(SAVED_RECORD_DAYS);
  const code = await records.save(shownNurse(), SAVED_AT);
  expect(await records.read(code, LAST)).toBeDefined();
  expect(await records.read(code, AFTER)).toBeUndefined();
  expect(await records.read(code, LAST)).toBeDefined();
});

test('a record that was saved 400 days ago is deleted then and not earlier, by prune, which each publication ends with', async () => {
  const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);
  await records.save(shownNurse(), daysAgo(SAVED_RECORD_DAYS + 0.001));
  const young = await records.save(shownNurse(), daysAgo(SAVED_RECORD_DAYS - 0.001));
  expect(await count()).toBe(2);
  await prune(store, 3);
  expect(await count()).toBe(1);
  expect(await records.read(young)).toBeDefined();
});

test('the index of saved records is created for an installation of an earlier version, and indexes nothing but the time', async () => {
  // As a version without saved records left the installation.
  const index = store.names.savedRecords;
  await store.client.indices.delete({ index });
  await store.client.indices.deleteIndexTemplate({ name: `${store.prefix}saved-records` });
  const before = savedRecords(store, RECORD_LIMITS);
  await expect(before.read(newRecordCode())).rejects.toThrow('no such index');
  await expect(before.save(shownNurse())).rejects.toThrow('no such index');
  expect(await upgradeIndices(store)).toBe(true);
  const upgraded = savedRecords(store, RECORD_LIMITS);
  expect(await upgraded.read(await upgraded.save(shownNurse()))).toMatchObject(shownNurse());
  const { body } = await store.client.indices.getMapping({ index });
  expect(body[index]?.mappings).toEqual({ dynamic: 'false', properties: { saved_at: { type: 'date' } } });
});
