import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { EXAMPLES } from '../../sample-data/generator/examples.ts';
import { type SampleDataFiles, writeSampleData } from '../../sample-data/write-sample-data.ts';
import { BUSINESS_COLUMNS, INDIVIDUAL_COLUMNS } from '../../src/dataset/columns.ts';
import { readCsv } from '../../src/dataset/csv.ts';
import { BOARDS } from '../../src/licenses/boards.ts';
import { command } from '../support/in-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

type Row = Readonly<Record<string, string>>;

const ROWS = 10_000;
const DAY = '2026-07-01';
const SHARE = 0.02;
const EXAMPLE_NUMBERS = new Set(EXAMPLES.map(({ number }) => number));

const folder = temporaryFolder();
let first: SampleDataFiles;
let people: Row[];
let businesses: Row[];

beforeAll(async () => {
  first = await write('first');
  people = await readRows(first.individual);
  businesses = await readRows(first.business);
});

const write = (name: string, options: Partial<Parameters<typeof writeSampleData>[0]> = {}) =>
  writeSampleData({ directory: folder.path(name), rows: ROWS, seed: 7, date: DAY, ...options });

/** Every row of a file. Most fields are empty: those come from the prototype, since 154 own ones a row are slow. */
async function readRows(path: string): Promise<Row[]> {
  const [header, ...rows] = (await Array.fromAsync(readCsv(createReadStream(path, 'utf8')))).flat();
  expect(rows.filter(({ problem }) => problem !== undefined)).toEqual([]);
  const names = (header?.fields ?? []).map((name) => name.replace('\ufeff', ''));
  const empty: Row = Object.fromEntries(names.map((name) => [name, '']));
  return rows.map(({ fields }) => {
    const row: Record<string, string> = Object.create(empty);
    for (const [at, name] of names.entries()) if (fields[at]) row[name] = fields[at];
    return row;
  });
}

const column = (rows: readonly Row[], name: string) => rows.map((row) => row[name] ?? '');

const endorsements = (rows: readonly Row[], field: string) =>
  [1, 2, 3, 4, 5, 6, 7].flatMap((n) => column(rows, `ENDORSEMENT_${field}_${n}`)).filter(Boolean);

test('the same arguments generate the same files, another seed others, and the manifest has their hashes', async () => {
  const bytes = async (name: string, seed: number) => {
    const files = await write(name, { rows: 2000, seed, changed: 0.1 });
    return Promise.all([files.individual, files.business, files.manifest].map((path) => readFile(path)));
  };
  const one = await bytes('one', 3);
  expect(await bytes('same', 3)).toEqual(one);
  const other = await bytes('other', 4);
  expect(other[0]).not.toEqual(one[0]);
  expect(other[1]).not.toEqual(one[1]);
  const [individual, business] = one.map((content) => createHash('sha256').update(content).digest('hex'));
  expect(JSON.parse(String(one[2]))).toEqual({
    ...{ generated: true, rows: 2000, seed: 3, date: DAY },
    ...{ changed: 0.1, added: 0, removed: 0, renamed: 0, renumbered: 0 },
    sha256: { individual, business },
  });
});

test.each([1000, 1001, ROWS])(
  'each file of %i rows has a byte order mark, the columns of the State, and all boards',
  async (rows) => {
    const files = rows === ROWS ? first : await write(`of${rows}`, { rows });
    for (const [path, columns] of [
      [files.individual, INDIVIDUAL_COLUMNS],
      [files.business, BUSINESS_COLUMNS],
    ] as const) {
      const text = await readFile(path, 'utf8');
      expect(text.slice(0, text.indexOf('\n'))).toBe(`\ufeff${columns.join(',')}`);
    }
    const written = [...(await readRows(files.individual)), ...(await readRows(files.business))];
    expect([written.length, files.individualRows + files.businessRows]).toEqual([rows, rows]);
    expect(new Set(column(written, 'BOARD')).size).toBe(BOARDS.length);
    expect(files.businessRows / rows).toBeCloseTo(200 / 2600, 1);
  },
);

test('every license type of every board has rows with its form of numbers, or is an endorsement in them', () => {
  for (const board of BOARDS)
    for (const { name, kind, prefix, suffix = '', endorses } of board.license_types) {
      const ofType = (kind === 'person' ? people : businesses).filter((row) =>
        endorses === undefined
          ? row.BOARD === board.name && row.TYPE === name
          : endorsements([row], 'TYPE').includes(name),
      );
      expect([name, ofType.length >= 3]).toEqual([name, true]);
      if (endorses !== undefined) {
        expect(column(people, 'TYPE')).not.toContain(name);
        expect(new Set(column(ofType, 'TYPE'))).toEqual(new Set([endorses]));
        const numbers = endorsements(ofType, 'NUMBER').filter((number) => number.startsWith(prefix));
        expect(numbers).toHaveLength(ofType.length);
        continue;
      }
      for (const number of column(ofType, 'LICENSE_NUMBER')) {
        expect(number.startsWith(prefix) && number.endsWith(suffix)).toBe(true);
        if (EXAMPLE_NUMBERS.has(number)) continue;
        expect(number.slice(prefix.length, number.length - suffix.length)).toMatch(/^-?\d{4,8}$/);
      }
    }
});

test.each<[string, string, RegExp]>([
  ['a compound surname', 'LICENSEE_NAME', /^(DE LA|DEL|VAN|VON|MC|LE|ST\.) [A-Z]+[ ,]/],
  ['an apostrophe', 'LICENSEE_NAME', /^O'[A-Z]+,/],
  ['an accent', 'LICENSEE_NAME', /[ÁÅÉÍÑÓÖØÚÜ]/],
  ['a hyphenated surname', 'LICENSEE_NAME', /^[A-Z]+-[A-Z]+,/],
  ['a suffix', 'LICENSEE_NAME', /^[A-Z' -]+ (JR|SR|II|III|IV), /],
  ['a blank before the comma', 'LICENSEE_NAME', / , /],
  ['a single name', 'LICENSEE_NAME', /^[A-Z]+$/],
  ['a second trade name', 'BUSINESS_NAME', / D\.B\.A /],
  ['quotes', 'BUSINESS_NAME', /"/],
  ['a comma', 'BUSINESS_NAME', /,/],
  ['a line break', 'PARCEL_STREET_ADDRESS', /\n/],
  ['a place that is withheld', 'PARCEL_CITY', /^HIDDEN$/],
  ['no expiry date', 'EXPIRATION_DATE', /^$/],
  ['a supervising counselor', 'LICENSE_NUMBER', /-SUPV$/],
  ['two endorsements', 'ENDORSEMENT_NUMBER_2', /./],
  ['compact eligibility', 'COMPACT_ELIGIBILITY', /^Multi-State$/],
])('some rows have %s', (_, name, form) => {
  expect(column([...people, ...businesses], name).filter((value) => form.test(value))).not.toEqual([]);
});

test('the next day has another run date, and differs in the given share of rows', async () => {
  const next = '2026-07-02';
  const unchanged = await write('unchanged', { date: next });
  for (const file of ['individual', 'business'] as const) {
    const text = (await readFile(unchanged[file], 'utf8')).replaceAll(`,${next}\n`, `,${DAY}\n`);
    expect(text === (await readFile(first[file], 'utf8'))).toBe(true);
  }
  const changedRows = async (changed: number) => {
    const rows = await readRows((await write(`changed${changed}`, { changed })).individual);
    return rows.map((row, at) => INDIVIDUAL_COLUMNS.filter((name) => row[name] !== people[at]?.[name]));
  };
  const few = (await changedRows(SHARE)).flatMap((names, at) => (names.length > 0 ? [at] : []));
  expect(Math.abs(few.length / people.length / SHARE - 1)).toBeLessThan(0.3);
  const many = await changedRows(3 * SHARE);
  expect(few.every((at) => (many[at]?.length ?? 0) > 0)).toBe(true);
  const differing = [...new Set(many.flat())];
  expect(differing).toEqual(
    expect.arrayContaining('STATUS SUB_STATUS PARCEL_CITY EXPIRATION_DATE'.split(' ')),
  );
  expect(differing.filter((name) => /^(LICENSEE_NAME|LICENSE_NUMBER|TYPE|BOARD)$/.test(name))).toEqual([]);
});

test.each([
  ['the fewest rows', { rows: 1000 }],
  ['another seed', { seed: 8 }],
  ['a later day', { date: '2026-08-01', changed: 1, added: 1, removed: 1, renamed: 1, renumbered: 1 }],
])('the examples are the same with %s, and every other row may change', async (name, options) => {
  const examplesOf = async (files: SampleDataFiles) =>
    [...(await readRows(files.individual)), ...(await readRows(files.business))]
      .filter(({ LICENSE_NUMBER = '' }) => EXAMPLE_NUMBERS.has(LICENSE_NUMBER))
      .map(({ QUERY_RUN_DATE: _, ...row }) => row)
      .toSorted((one, other) => ((one.LICENSE_NUMBER ?? '') < (other.LICENSE_NUMBER ?? '') ? -1 : 1));
  const expected = await examplesOf(first);
  expect(column(expected, 'LICENSE_NUMBER').toSorted()).toEqual([...EXAMPLE_NUMBERS].toSorted());
  expect(new Set(column(expected, 'BOARD_ACTION'))).toEqual(new Set(['No']));
  expect(await examplesOf(await write(name, options))).toEqual(expected);
});

afterEach(() => {
  jest.useRealTimers();
});

test('the date of the command is today in Ohio', async () => {
  jest.useFakeTimers({
    now: new Date('2026-11-28T03:00:00Z'),
    doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'setInterval', 'setTimeout'],
  });
  expect(await command({}, 'sample-data', folder.path('today'), '--rows', '1000')).toMatchObject({ code: 0 });
  expect(await readFile(folder.path('today/sample.json'), 'utf8')).toContain('"date": "2026-11-27"');
});

test.each([
  ['rows', { rows: 999 }],
  ['rows', { rows: 1000.5 }],
  ['seed', { seed: -1 }],
  ['date', { date: '2026-02-30' }],
  ['changed', { changed: 1.01 }],
  ['changed', { changed: Number.NaN }],
])('the argument %s is refused by name if it is out of range: %o', async (name, wrong) => {
  const written = write('refused', wrong);
  await expect(written).rejects.toThrow(RangeError);
  await expect(written).rejects.toThrow(name);
  await expect(access(folder.path('refused'))).rejects.toThrow('ENOENT');
});
