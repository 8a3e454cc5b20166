/** @room publishing @long */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { testEnvironment } from '../../scripts/environment.ts';
import { type PublishResult, publicationDetails } from '../../src/publications/history.ts';
import { type DayRow, licensesOf, textOf } from '../support/day-files.ts';
import { MEDICAL, NURSING, PHARMACY } from '../support/guarded-days.ts';
import { publishFiles } from '../support/publishing.ts';

/** They are forced, and lookups must find their licenses all the same. */
const WITHOUT_CANARY = expect.not.arrayContaining([expect.stringMatching(/^canary: /)]);

const DATE = '2026-11-20';
const nurses = licensesOf(NURSING, 'RN.', 20);

const environment = await testEnvironment();
let files = 0;

/** Publishes an individual file of this content, forced, beside a business file without a fault. */
async function published(content: string | Buffer): Promise<PublishResult> {
  files += 1;
  const individual = join(environment.folder, `individual-${files}.csv`);
  const business = join(environment.folder, `business-${files}.csv`);
  await writeFile(individual, content);
  const day = { date: DATE, individual: [], business: licensesOf(PHARMACY, '02', files) };
  await writeFile(business, textOf(day, 'business'));
  const result = await publishFiles(environment, { individual, business });
  const { events } = await publicationDetails(environment.store, result.publication);
  for (const event of events) expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThan(MAX_EVENT_BYTES);
  return result;
}

const MAX_EVENT_BYTES = 200_000;

const fileOf = (individual: readonly DayRow[]): string =>
  textOf({ date: DATE, individual, business: [] }, 'individual');

const text = (rows: number, of: (row: number) => DayRow): string =>
  fileOf([...nurses, ...Array.from({ length: rows }, (_, row) => of(row))]);

/** One character that folds to 15 letters of two bytes. OpenSearch takes terms of 32,766 bytes. */
const FOLDS_LONG = '\ufdfa';

describe('a row that OpenSearch would not take', () => {
  const other: DayRow = { board: NURSING, number: 'RN.X' };

  test.each<[string, DayRow, number]>([
    ['a board of 60 characters that fold to 15 letters each', { ...other, board: FOLDS_LONG.repeat(60) }, 1],
    ['a name that folds to 30,000 bytes', { ...other, name: FOLDS_LONG.repeat(1000) }, 0],
    ['a license type that folds to 120,000 bytes', { ...other, type: FOLDS_LONG.repeat(4000) }, 1],
    ['a status that folds to 120,000 bytes', { ...other, status: FOLDS_LONG.repeat(4000) }, 1],
    ['a city that folds to 120,000 bytes', { ...other, city: FOLDS_LONG.repeat(4000) }, 1],
    ['a number that folds to 3,000 bytes', { ...other, number: FOLDS_LONG.repeat(100) }, 0],
    ['a type of 12,000 bytes', { ...other, type: '\u6f22'.repeat(4000) }, 0],
    ['NUL in every field', { board: '\0', number: 'RN\0', name: '\0', type: '\0', status: '\0' }, 0],
    ['control characters', { ...other, name: '\x01\x1b[31m', city: '\x7f\x1f'.repeat(2000) }, 0],
    ['names of properties', { ...other, number: '__proto__', status: 'toString', type: 'constructor' }, 0],
  ])('is rejected alone, and the others go live: %s', async (_what, row, rejected) => {
    const result = await published(text(1, () => row));
    expect(result).toMatchObject({ state: 'live', rejected, rows: 21 + files });
  });

  test('is rejected by row, however many there are', async () => {
    const result = await published(text(300, (at) => ({ ...other, board: `${FOLDS_LONG.repeat(60)}${at}` })));
    expect(result).toMatchObject({ state: 'live', rejected: 300 });
  });
});

test('one number in 30 spellings, and at another board: each is another license', async () => {
  const spellings = Array.from({ length: 30 }, (_, dots) => `RN${'.'.repeat(dots)}1`);
  const doctors = spellings.map((number) => ({ board: MEDICAL, number }));
  const result = await published(fileOf([...doctors, { board: NURSING, number: 'RN.1' }]));
  expect(result).toMatchObject({ state: 'live', rejected: 0, overridden: WITHOUT_CANARY });
});

const header = fileOf([]).trim();

test.each<[string, () => string | Buffer, RegExp]>([
  ['20 MB of zeros in gzip', () => gzipSync(Buffer.alloc(20 << 20)), /^columns: .* is no CSV file/],
  ['a header of a million columns', () => `${header}${',x'.repeat(999_000)}\n`, /^columns: .* than 1000/],
  ['a header of a million quoted columns', () => `${header}${',"x"'.repeat(900_000)}\n`, /^columns: /],
  ['UTF-16', () => Buffer.from(`\ufeff${fileOf(nurses)}`, 'utf16le'), /^columns: .* lacks /],
  ['carriage returns alone', () => fileOf(nurses).replaceAll('\n', '\r'), /^(no_rows|columns): /],
  ['a line of 20,000,000 characters', () => `${header}\n${'x'.repeat(20_000_000)}\n`, /^columns: /],
  ['a column of the header twice', () => fileOf(nurses).replace('TYPE', 'STATUS'), /^columns: .* twice/],
])('a file that is no CSV file is refused: %s', async (_what, content, reason) => {
  const result = await published(content());
  expect(result).toMatchObject({ state: 'refused', reasons: [expect.stringMatching(reason)] });
});

const noise = (line: string, times: number) => `${fileOf(nurses)}${line.repeat(times)}\n`;

test.each<[string, () => string | Buffer]>([
  ['a row of 150,000 quoted fields', () => noise('"",', 150_000)],
  ['a row of 1,000,000 fields', () => noise(',', 1_000_000)],
  ['a quote left open on every line', () => noise('x","\n', 5000)],
  ['the whole file again, header and all', () => fileOf(nurses) + fileOf(nurses.slice(0, 0))],
  ['rows of the word HIDDEN', () => noise(`${Array.from({ length: 10 }, () => 'HIDDEN').join(',')}\n`, 50)],
  ['blank columns', () => noise(`${','.repeat(9)}\n`, 50)],
  ['a letter cut off at its end', () => Buffer.concat([Buffer.from(fileOf(nurses)), Buffer.from([0xc3])])],
  ['control characters by the megabyte', () => noise(`"${'\x01'.repeat(4000)}",`.repeat(400), 1)],
])('a file that is CSV only in part is published without what is not: %s', async (_what, content) => {
  const result = await published(content());
  expect(result).toMatchObject({ state: 'live', licenses: 20 + files });
});

test('one row in Latin-1 changes no name of another row', async () => {
  const rows: DayRow[] = ['MU\u00d1OZ, JOS\u00c9', 'PE\u00d1A, ANA'].map((name, at) => ({
    board: NURSING,
    number: `RN.${at}`,
    name,
  }));
  const [first = '', ...others] = fileOf([...rows, ...nurses]).split('\n');
  const latin1 = others.map((line) => Buffer.from(`${line}\n`, line.includes('ANA') ? 'latin1' : 'utf8'));
  const result = await published(Buffer.concat([Buffer.from(`${first}\n`), ...latin1.slice(0, -1)]));
  expect(result).toMatchObject({ state: 'live', rejected: 0 });
  const { index = '' } = (await publicationDetails(environment.store, result.publication)).summary;
  const found = await environment.client.mget({ index, body: { ids: ['NUR/RN.0', 'NUR/RN.1'] } });
  expect(found.body.docs).toMatchObject([
    { _source: { full_name: 'MU\u00d1OZ, JOS\u00c9' } },
    { _source: { full_name: 'PE\u00d1A, ANA' } },
  ]);
});
