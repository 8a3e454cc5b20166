import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { TestEnvironment } from '../../scripts/environment.ts';
import { readCsv } from '../../src/dataset/csv.ts';
import { fileText } from '../../src/dataset/source-file.ts';
import { appendEvent } from '../../src/publications/ledger.ts';
import { readLicenseTypes } from '../../src/publications/license-types.ts';
import { newId, readMetadata } from '../../src/publications/metadata.ts';
import {
  deleteRejectedRows,
  REJECTED_ROWS,
  readRejectedRows,
  writeRejects,
} from '../../src/publications/rejected-rows.ts';
import { licensesOf } from '../support/day-files.ts';
import { FIXTURES } from '../support/fixtures.ts';
import { answer, loseResponse } from '../support/proxy.ts';
import { newEnvironment, published } from '../support/publication-days.ts';
import { expectLive, publishFiles } from '../support/publishing.ts';

const NURSING = 'Nursing Board';
const PHARMACY = 'Board of Pharmacy';

/** The fields of each row of a CSV file, with the header first. */
async function parsed(path: string): Promise<(readonly string[])[]> {
  const rows: (readonly string[])[] = [];
  for await (const batch of readCsv(fileText(path))) rows.push(...batch.map(({ fields }) => fields));
  return rows;
}

/** The rows that a publication rejected, in the order of the files. */
async function rejectedOf({ store }: TestEnvironment, publication: string) {
  const rows = (await Array.fromAsync(readRejectedRows(store, publication))).flat();
  return rows.map(({ file, line, reason }) => ({ file, line, reason }));
}

const environment = await newEnvironment({ KEEP_PUBLICATIONS: '100' });
const result = await expectLive(publishFiles(environment, FIXTURES));

test('every valid row and endorsement is stored, and the others are rejected with line and reason', async () => {
  expect(result).toMatchObject({
    ...{ state: 'live', date: '2026-11-20', rows: 28, licenses: 22, endorsements: 1, rejected: 6 },
    unknown_labels: { 'board: Board of Wizardry': 1 },
  });
  const { index } = result;
  expect((await readMetadata(environment.store, index)).sources).toMatchObject({
    individual: { name: 'individual.csv', rows: 24 },
    business: { name: 'business.csv', rows: 4 },
  });
  const { body } = await environment.client.indices.getSettings({ index, flat_settings: true });
  expect(body[index]?.settings).toMatchObject({ 'index.auto_expand_replicas': '0-1' });
  const reasons = [
    [19, 'an earlier row of the board has the same number'],
    [20, 'EXPIRATION_DATE "2099-02-30"'],
    [21, 'LICENSE_NUMBER is blank'],
    [22, 'has 3 fields, not 22'],
    [23, 'text after a closing quote'],
    [26, 'QUERY_RUN_DATE is 2026-11-19'],
  ] as const;
  expect(await rejectedOf(environment, result.publication)).toEqual(
    reasons.map(([line, reason]) => ({ file: 'individual', line, reason: expect.stringContaining(reason) })),
  );
});

test('the license types of a publication are listed in order, but none of free text', async () => {
  const individual = ['Second', 'First', 'First', 'x'.repeat(101), ''].map((type, at) => {
    return { board: NURSING, number: `RN.${at}`, type };
  });
  const business = [{ board: 'Dental Board', number: '1', type: 'Practice' }];
  const { index } = await published(environment, '2026-11-21', { individual, business });
  const read = await readLicenseTypes(environment.store, index);
  expect(read?.types).toMatchObject([
    { board: 'Dental Board', license_type: 'Practice' },
    { board: NURSING, license_type: 'First' },
    { board: NURSING, license_type: 'Second' },
  ]);
});

async function exported(publication: string): Promise<(readonly string[])[]> {
  const file = join(environment.folder, 'rejects.csv');
  await writeFile(file, 'an earlier file');
  const { rows } = await writeRejects(environment.store, publication, file);
  const [header, ...rest] = await parsed(file);
  expect([header, rest.length]).toEqual([['FILE', 'LINE', 'REASON', 'ROW'], rows]);
  return rest;
}

test('the rows that a publication rejected are exported to a CSV file exactly as they were, including quotes', async () => {
  const rows = await exported(result.publication);
  const lines = (await readFile(FIXTURES.individual, 'utf8')).split('\n');
  const rejected = await rejectedOf(environment, result.publication);
  expect(rows).toEqual(
    rejected.map(({ file, line, reason }) => [file, String(line), reason, lines[line - 1]]),
  );
  expect(rows[4]?.[3]).toMatch(/^"OPEN, OLGA,Nursing Board/);
});

test('the rows that a publication rejected are all exported when there are several pages, without formulas, and none if there are none', async () => {
  const formulas = ['=1+1', 'X;=1+1', 'X\n＝1'].map((name, at) => {
    return { board: NURSING, name, number: `RN.${at}`, expires: 'never' };
  });
  const many = licensesOf(NURSING, 'RN.', 2500).map((row, at) =>
    at % 2 === 0 ? row : { ...row, name: `"A", "B"\r\nC ${at}`, expires: 'never' },
  );
  const individual = [...formulas, ...many];
  const business = [...licensesOf(PHARMACY, '02', 2), { board: PHARMACY, number: '' }];
  const { publication } = await published(environment, '2026-11-21', { individual, business });
  const rows = await exported(publication);
  expect(rows).toHaveLength(1254);
  const neutralized = [`'"=1+1","N`, `"X;'=1+1",`, `"X\n'＝1","N`];
  expect(rows.slice(0, 3).map(([, , , raw]) => raw?.slice(0, 10))).toEqual(neutralized);
  // Each of the others spans two lines, as the last of these.
  expect(rows.slice(3, 6).map(([, line]) => line)).toEqual(['7', '10', '13']);
  expect(rows[3]?.[3]).toBe(
    '"""A"", ""B""\r\nC 1","Nursing Board","RN.900002","","Active","","No","never","LIMA","2026-11-21"',
  );
  expect(rows.at(-1)).toEqual(['business', '4', 'LICENSE_NUMBER is blank', expect.any(String)]);
  expect(await exported((await published(environment, '2026-11-22')).publication)).toEqual([]);
});

test('the rows that a publication rejected are stored exactly once even if OpenSearch refuses them or its responses are lost', async () => {
  const faults = [answer(429), loseResponse, answer(429)];
  const { publication } = await publishFiles(environment, FIXTURES, {
    through: (request) => {
      const fault = request.path.includes('rejected-rows/_bulk') ? faults.shift() : undefined;
      return fault === undefined ? request.forward() : fault(request);
    },
  });
  expect(faults).toEqual([]);
  expect(await rejectedOf(environment, publication)).toHaveLength(6);
});

test('the rows that a publication rejected are not stored twice by a second attempt', async () => {
  const publication = newId();
  const stop = new AbortController();
  const broken = publishFiles(environment, FIXTURES, {
    publication,
    signal: stop.signal,
    onProgress: ({ step }) => {
      if (step === 'making durable') stop.abort(new Error('killed by the test'));
    },
  });
  await expect(broken).rejects.toThrow('killed by the test');
  const before = await rejectedOf(environment, publication);
  expect(before).toHaveLength(6);
  const again = await publishFiles(environment, FIXTURES, { publication });
  expect(again).toMatchObject({ state: 'live', publication, rejected: 6 });
  expect(await rejectedOf(environment, publication)).toEqual(before);
});

test('the rows of the latest ten publications that never went live are kept, for 30 days', async () => {
  const { store } = await newEnvironment();
  const ids = Array.from({ length: 12 }, (_, at) => newId(Date.now() + at));
  const days = (count: number) => new Date(Date.now() - count * 86_400_000).toISOString();
  await REJECTED_ROWS.putAll(
    store,
    ids.map((publication, at) => {
      const row = { line: 2, reason: 'x', raw: 'y', file: 'individual' as const };
      return [publication, { ...row, publication, at: days(at === 11 ? 31 : 29) }] as const;
    }),
  );
  await appendEvent(store, { publication: ids[10] ?? '', event: 'live', index: 'deleted' });
  await deleteRejectedRows(store);
  expect((await REJECTED_ROWS.readAll(store, ids)).map(({ publication }) => publication)).toEqual(
    ids.slice(2, 10),
  );
});
