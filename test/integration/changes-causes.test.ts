import { writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { digestEntries, emptyDigest, readDigest, recordHash, writeDigest } from '../../src/changes/digest.ts';
import { licenseId } from '../../src/licenses/license.ts';
import { liveIndex } from '../../src/publications/metadata.ts';
import { digestIndexName } from '../../src/storage/store.ts';
import { allChanges, changesPage } from '../support/changes.ts';
import { type DayRow, writeDay } from '../support/day-files.ts';
import { type FeedService, NURSES, NURSING, PHARMACIES, startFeedService } from '../support/feed-service.ts';
import { publishFiles } from '../support/publishing.ts';

let service: FeedService;
let environment: FeedService['environment'];
let rest: FeedService['rest'];
let publishDay: FeedService['publishDay'];

beforeEach(async () => {
  service = await startFeedService();
  ({ environment, rest, publishDay } = service);
});
afterEach(() => service.stop());

describe('is no change', () => {
  const NEXT_DATE = '2026-11-02';
  const rows = (header: string, line: (row: DayRow) => string) =>
    `${header}\n${NURSES.map((row) => `${line(row)}\n`).join('')}`;

  async function changesOf(individual: string | Buffer): Promise<unknown[]> {
    await publishDay(NURSES);
    const { next } = await changesPage(rest);
    const files = await writeDay(environment.folder, 'other', {
      date: NEXT_DATE,
      individual: NURSES,
      business: PHARMACIES,
    });
    await writeFile(files.individual, individual);
    const result = await publishFiles(environment, files);
    expect(result.state).toBe('live');
    return (await allChanges(rest, next)).map(({ kind, cause, fields }) => ({ kind, cause, fields }));
  }

  test('another order of columns and rows, another encoding, and a new empty column', async () => {
    const header =
      'QUERY_RUN_DATE,NEW_COLUMN,PARCEL_CITY,EXPIRATION_DATE,BOARD_ACTION,SUB_STATUS,STATUS,TYPE,LICENSE_NUMBER,BOARD,LICENSEE_NAME';
    const [first = '', ...lines] = rows(
      header,
      ({ board, number }) =>
        `${NEXT_DATE},,LIMA,2099-01-01,No,,Active,,${number},${board},"HOLDER, ${number}"`,
    )
      .trimEnd()
      .split('\n');
    const text = `${[first, ...lines.toReversed()].join('\r\n')}\r\n`;
    expect(await changesOf(Buffer.from(`\ufeff${text}`))).toEqual([]);
  });

  test('by cause data: a new column with values', async () => {
    const header =
      'LICENSEE_NAME,BOARD,LICENSE_NUMBER,TYPE,STATUS,SUB_STATUS,BOARD_ACTION,EXPIRATION_DATE,PARCEL_CITY,QUERY_RUN_DATE,NEW_COLUMN';
    const changes = await changesOf(
      rows(
        header,
        ({ board, number }) =>
          `"HOLDER, ${number}",${board},${number},,Active,,No,2099-01-01,LIMA,${NEXT_DATE},value`,
      ),
    );
    expect(changes).toHaveLength(20);
    expect(new Set(changes.map((change) => JSON.stringify(change)))).toEqual(
      new Set([
        JSON.stringify({
          kind: 'changed',
          cause: 'release',
          fields: { 'extra_data.New Column': { before: null, after: 'value' } },
        }),
      ]),
    );
  });
});

/** Makes the live publication one that another version of the service read: every record has another hash. */
async function readByAnotherVersion(differing: string): Promise<void> {
  const { store, client } = environment;
  const index = await liveIndex(store);
  if (index === undefined) throw new Error('Nothing is live.');
  const digest = emptyDigest();
  for await (const part of readDigest(store, index)) {
    for (const entry of digestEntries(part)) digest.add({ ...entry, record: recordHash(entry.record) });
  }
  await client.indices.delete({ index: digestIndexName(store.prefix, index) });
  await writeDigest(store, index, digest);
  await client.indices.putSettings({ index, body: { 'index.blocks.write': false } });
  await client.update({
    index,
    id: licenseId(NURSING, differing),
    refresh: true,
    body: { doc: { city: 'OLD' } },
  });
}

test('what this version reads differently is a change by cause release, which a guard of its own counts', async () => {
  const [first] = NURSES;
  if (first === undefined) throw new Error('There are no nurses.');
  await publishDay(NURSES);
  const { next } = await changesPage(rest);
  await readByAnotherVersion(first.number);
  await expect(publishDay(NURSES, { isGuarded: true })).rejects.toThrow(
    'release_changes: 1 of 25 licenses whose row is the same',
  );
  await publishDay(NURSES, { isGuarded: true, accept: ['release_changes'] });
  expect(await allChanges(rest, next)).toMatchObject([
    {
      kind: 'changed',
      cause: 'release',
      license_number: first.number,
      fields: { city: { before: 'OLD', after: 'LIMA' } },
    },
  ]);
});

test('a license whose row cannot be read is removed by cause rejected_row, and comes back by it', async () => {
  await publishDay(NURSES);
  const { next } = await changesPage(rest);
  const broken = NURSES.map((row, at) => (at === 0 ? { ...row, expires: '31.31.2099' } : row));
  await publishDay(broken);
  await publishDay(NURSES);
  const changes = await allChanges(rest, next);
  expect(changes.map(({ kind, cause, license_number }) => [kind, cause, license_number])).toEqual([
    ['removed', 'rejected_row', NURSES[0]?.number],
    ['added', 'rejected_row', NURSES[0]?.number],
  ]);
});

/** Divides the digest of the live publication as version 0.3.0 did: by another hash, under other ids. */
async function divideAsBefore(): Promise<void> {
  const { store, client } = environment;
  const live = (await liveIndex(store)) ?? '';
  const index = digestIndexName(store.prefix, live);
  const parts: Buffer[] = [];
  for await (const part of readDigest(store, live)) parts.push(part);
  await client.indices.delete({ index });
  await client.indices.create({ index });
  // The parts of any other division do.
  const divided = parts.map((_, at) => parts[(at + 1) % parts.length] ?? Buffer.alloc(0));
  const body = divided.flatMap((part, at) => [
    { index: { _id: String(at) } },
    { entries: part.toString('base64') },
  ]);
  await client.bulk({ index, body, refresh: true });
}

test('the digest of a publication of version 0.3.0 is divided anew, so nothing counts as removed and added', async () => {
  await publishDay(NURSES);
  const { next } = await changesPage(rest);
  await divideAsBefore();
  await publishDay(NURSES.map((row, at) => (at === 0 ? { ...row, city: 'MOVED' } : row)));
  expect(await allChanges(rest, next)).toMatchObject([
    { kind: 'changed', cause: 'data', license_number: NURSES[0]?.number },
  ]);
});
