import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { EXAMPLES } from '../../sample-data/generator/examples.ts';
import { type SampleDataFiles, writeSampleData } from '../../sample-data/write-sample-data.ts';
import { BUSINESS_COLUMNS, INDIVIDUAL_COLUMNS } from '../../src/dataset/columns.ts';
import { readCsv } from '../../src/dataset/csv.ts';
import { BOARDS } from '../../src/licenses/boards.ts';
import { isoDate } from '../../src/licenses/dates.ts';

type Row = Readonly<Record<string, string>>;

const ROWS = 20_000;
const SEED = 7;
const DAY = '2026-07-01';
const EXAMPLE_NUMBERS = new Set(EXAMPLES.map(({ number }) => number));

let folder: string;
let day1: SampleDataFiles;
let people: Row[];
let businesses: Row[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sample-data-'));
  day1 = await writeSampleData({ directory: join(folder, 'day1'), rows: ROWS, seed: SEED, date: DAY });
  people = await readRows(day1.individual);
  businesses = await readRows(day1.business);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Every row of a file. Most fields are empty: those come from the prototype, since 154 own ones a row are slow. */
async function readRows(path: string): Promise<Row[]> {
  const rows: Row[] = [];
  const problems: unknown[] = [];
  let header: readonly string[] | undefined;
  let empty: Row = {};
  for await (const batch of readCsv(createReadStream(path, 'utf8'))) {
    for (const { fields, problem } of batch) {
      if (problem !== undefined) problems.push(problem);
      if (header === undefined) {
        header = fields.map((name) => name.replace('\ufeff', ''));
        empty = Object.fromEntries(header.map((name) => [name, '']));
        continue;
      }
      const row: Record<string, string> = Object.create(empty);
      for (const [at, name] of header.entries()) if (fields[at]) row[name] = fields[at];
      rows.push(row);
    }
  }
  expect(problems).toEqual([]);
  return rows;
}

function column(rows: readonly Row[], name: string): string[] {
  return rows.map((row) => row[name] ?? '');
}

function endorsements(rows: readonly Row[], field: string): string[] {
  return [1, 2, 3, 4, 5, 6, 7].flatMap((n) => column(rows, `ENDORSEMENT_${field}_${n}`)).filter(Boolean);
}

function share(values: readonly string[], matches: (value: string) => boolean): number {
  return values.filter(matches).length / values.length;
}

test('the same arguments generate the same files, another seed others', async () => {
  const options = { rows: 2000, seed: 3, date: DAY, changed: 0.1 };
  const bytes = async (name: string, seed: number) => {
    const files = await writeSampleData({ ...options, seed, directory: join(folder, name) });
    return Promise.all(
      [files.individual, files.business, files.manifest].map((path) => readFile(path, 'utf8')),
    );
  };
  const first = await bytes('first', 3);
  expect(await bytes('second', 3)).toEqual(first);
  const other = await bytes('other', 4);
  expect(other[0]).not.toEqual(first[0]);
  expect(other[1]).not.toEqual(first[1]);
});

test("each file has a byte order mark and exactly the State's columns", async () => {
  for (const [path, columns] of [
    [day1.individual, INDIVIDUAL_COLUMNS],
    [day1.business, BUSINESS_COLUMNS],
  ] as const) {
    const text = await readFile(path, 'utf8');
    expect(text.slice(0, text.indexOf('\n'))).toBe(`\ufeff${columns.join(',')}`);
  }
});

test('the number of rows is exact, and about one in thirteen is a business', () => {
  expect(people).toHaveLength(day1.individualRows);
  expect(businesses).toHaveLength(day1.businessRows);
  expect(people.length + businesses.length).toBe(ROWS);
  expect(businesses.length / ROWS).toBeCloseTo(200 / 2600, 1);
});

test.each([1000, 1001, 5000])('%i rows are generated when asked for', async (rows) => {
  const files = await writeSampleData({ directory: join(folder, `of${rows}`), rows, seed: 1, date: DAY });
  const written = [...(await readRows(files.individual)), ...(await readRows(files.business))];
  expect(written).toHaveLength(rows);
  expect(new Set(column(written, 'BOARD')).size).toBe(BOARDS.length);
});

test('every license type of every board has rows, with its own form of numbers', () => {
  for (const board of BOARDS) {
    for (const { name, kind, prefix, suffix = '', endorses } of board.license_types) {
      if (endorses !== undefined) continue;
      const ofType = (kind === 'person' ? people : businesses).filter(
        (row) => row.BOARD === board.name && row.TYPE === name,
      );
      expect([name, ofType.length >= 3]).toEqual([name, true]);
      for (const number of column(ofType, 'LICENSE_NUMBER')) {
        expect(number.startsWith(prefix) && number.endsWith(suffix)).toBe(true);
        if (EXAMPLE_NUMBERS.has(number)) continue;
        expect(number.slice(prefix.length, number.length - suffix.length)).toMatch(/^-?\d{4,8}$/);
      }
    }
  }
});

test('endorsements are only in rows of the type that they endorse', () => {
  for (const { license_types } of BOARDS) {
    for (const { name, prefix, endorses } of license_types) {
      if (endorses === undefined) continue;
      expect(column(people, 'TYPE')).not.toContain(name);
      const endorsed = people.filter((row) => endorsements([row], 'TYPE').includes(name));
      expect(endorsed.length).toBeGreaterThanOrEqual(3);
      expect(new Set(column(endorsed, 'TYPE'))).toEqual(new Set([endorses]));
      const numbers = endorsements(endorsed, 'NUMBER').filter((number) => number.startsWith(prefix));
      expect(numbers).toHaveLength(endorsed.length);
    }
  }
  expect(people.some((row) => row.ENDORSEMENT_NUMBER_1 && row.ENDORSEMENT_NUMBER_2)).toBe(true);
  expect(people.some((row) => row.ENDORSEMENT_TYPE_1 && !row.ENDORSEMENT_NUMBER_1)).toBe(true);
});

test('no two licenses have the same number, not even without leading zeros', () => {
  const numbers = [
    ...column(people, 'LICENSE_NUMBER'),
    ...column(businesses, 'LICENSE_NUMBER'),
    ...endorsements(people, 'NUMBER'),
  ];
  const withoutZeros = numbers.map((number) => number.replace(/^(0\d|.*[.-](?=\d))-?0*/, '$1 '));
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(new Set(withoutZeros).size).toBe(numbers.length);
});

test('numbers have different amounts of leading zeros', () => {
  const numbers = endorsements(people, 'NUMBER').filter((number) => number.startsWith('APRN.CNP.'));
  const widths = new Set(numbers.map((number) => number.slice('APRN.CNP.'.length).length));
  const ofExample = 9;
  expect([...widths].sort()).toEqual([5, 6, 7, ofExample]);
});

test('a supervising counselor has two licenses in consecutive rows', () => {
  const numbers = column(people, 'LICENSE_NUMBER');
  const supervising = numbers.flatMap((number, at) => (number.endsWith('-SUPV') ? [at] : []));
  expect(supervising.length).toBeGreaterThanOrEqual(3);
  for (const at of supervising) {
    expect(`${numbers[at - 1]}-SUPV`).toBe(numbers[at]);
    expect(people[at - 1]?.LICENSEE_NAME).toBe(people[at]?.LICENSEE_NAME);
  }
});

test.each([
  ['compound', /^(DE LA|DEL|VAN|VON|MC|LE|ST\.) [A-Z]+[ ,]/],
  ['apostrophe', /^O'[A-Z]+,/],
  ['accented', /[ÁÅÉÍÑÓÖØÚÜ]/],
  ['hyphenated', /^[A-Z]+-[A-Z]+,/],
  ['suffix', /^[A-Z' -]+ (JR|SR|II|III|IV), /],
  ['blank before the comma', / , /],
  ['single', /^[A-Z]+$/],
])('some names are of this form: %s', (_, form) => {
  expect(column(people, 'LICENSEE_NAME').filter((name) => form.test(name))).not.toHaveLength(0);
});

test('names are in upper case, and most are different', () => {
  const names = column(people, 'LICENSEE_NAME');
  expect(share(names, (name) => /^[\p{Lu}ß'. -]+(, [\p{Lu}ß'. -]+)?$/u.test(name))).toBe(1);
  expect(new Set(names).size).toBeGreaterThan(ROWS * 0.8);
});

test('some businesses have a second trade name, some a comma or quotes in the name', () => {
  const names = column(businesses, 'BUSINESS_NAME');
  expect(share(names, (name) => / D\.B\.A /.test(name))).toBeGreaterThan(0.1);
  expect(names.some((name) => name.includes('"'))).toBe(true);
  expect(names.some((name) => name.includes(','))).toBe(true);
});

test('both files have fields with quotes and line breaks', () => {
  expect(column(businesses, 'PARCEL_STREET_ADDRESS').some((street) => street.includes('\n'))).toBe(true);
  const specialties = [1, 2, 3].flatMap((n) => column(people, `MED_OTHER_SPECIALTY_${n}`));
  expect(specialties.some((text) => text.includes('"'))).toBe(true);
});

test('12 to 18 percent of places are outside Ohio, blank or HIDDEN; the others are in all 88 counties', () => {
  const states = column(people, 'PARCEL_STATE');
  const elsewhere = share(states, (state) => state !== 'OH');
  expect(elsewhere).toBeGreaterThan(0.12);
  expect(elsewhere).toBeLessThan(0.18);
  expect(states).toContain('');
  expect(column(people, 'PARCEL_CITY')).toContain('HIDDEN');
  expect(new Set(states).size).toBeGreaterThan(20);
  const inOhio = people.filter((row) => row.PARCEL_STATE === 'OH');
  const counties = new Set(
    column(inOhio, 'PARCEL_COUNTY').filter((county) => !['', 'HIDDEN'].includes(county)),
  );
  expect(counties.size).toBe(88);
  expect(share(column(people, 'PARCEL_ZIP_CODE'), (zip) => /^(\d{5}(-\d{4})?|HIDDEN|)$/.test(zip))).toBe(1);
});

test('statuses have the intended shares, and revoked licenses a board action', () => {
  const both = [...people, ...businesses].map((row) => `${row.STATUS}/${row.SUB_STATUS}`);
  expect(share(both, (status) => status === 'Active/')).toBeCloseTo(0.31, 1);
  expect(share(both, (status) => status === 'Inactive/Expired')).toBeCloseTo(0.26, 1);
  expect(share(both, (status) => status === 'Closed/Deceased')).toBeCloseTo(0.05, 1);
  expect(both).toContain('In Review/');
  const revoked = people.filter((row) => row.SUB_STATUS === 'Revocation');
  expect(revoked.length).toBeGreaterThan(0);
  expect(new Set(column(revoked, 'BOARD_ACTION'))).toEqual(new Set(['Yes']));
  expect(new Set(column(people, 'BOARD_ACTION'))).toEqual(new Set(['Yes', 'No']));
});

test('all dates exist and are in order, and some active licenses have expired', () => {
  const dateColumns = INDIVIDUAL_COLUMNS.filter((name) => name.includes('DATE'));
  for (const row of [...people, ...businesses]) {
    for (const name of dateColumns) {
      const text = row[name] ?? '';
      if (text !== '' && isoDate(text) !== text) throw new Error(`${name} is ${text}`);
    }
    const { ISSUE_DATE = '', EFFECTIVE_DATE = '', EXPIRATION_DATE = '' } = row;
    const isInOrder =
      ISSUE_DATE <= EFFECTIVE_DATE && (EXPIRATION_DATE === '' || EFFECTIVE_DATE < EXPIRATION_DATE);
    if (!isInOrder) throw new Error(`${ISSUE_DATE}, ${EFFECTIVE_DATE}, ${EXPIRATION_DATE}`);
  }
  const expired = people.filter((row) => {
    const { EXPIRATION_DATE = '' } = row;
    return row.STATUS === 'Active' && EXPIRATION_DATE !== '' && EXPIRATION_DATE < DAY;
  });
  expect(expired.length).toBeGreaterThan(0);
  expect(column(people, 'EXPIRATION_DATE')).toContain('');
  expect(new Set(column(people, 'QUERY_RUN_DATE'))).toEqual(new Set([DAY]));
});

test('only nurses have compact eligibility, only doctors specialties, only nurses certifications', () => {
  const compact = people.filter((row) => row.COMPACT_ELIGIBILITY !== '');
  expect(new Set(column(compact, 'BOARD'))).toEqual(new Set(['Nursing Board']));
  expect(new Set(column(compact, 'COMPACT_ELIGIBILITY'))).toEqual(new Set(['Multi-State', 'Single-State']));
  const specialists = people.filter((row) => row.MED_SPECIALTY_1 !== '');
  expect(new Set(column(specialists, 'BOARD'))).toEqual(new Set(['Medical Board']));
  const certified = people.filter((row) => row.NATIONAL_CERTIFICATION_ORGANIZATION_1 !== '');
  expect(new Set(column(certified, 'TYPE'))).toEqual(new Set(['Registered Nurse (RN)']));
});

test('the next day differs only in the run date and in the given share of rows', async () => {
  const next = { rows: ROWS, seed: SEED, date: '2026-07-02' };
  const unchanged = await writeSampleData({ ...next, directory: join(folder, 'unchanged') });
  for (const file of ['individual', 'business'] as const) {
    const text = await readFile(unchanged[file], 'utf8');
    expect(text.replaceAll(`,${next.date}\n`, `,${DAY}\n`) === (await readFile(day1[file], 'utf8'))).toBe(
      true,
    );
  }

  const changedRows = async (changed: number) => {
    const files = await writeSampleData({ ...next, changed, directory: join(folder, `changed${changed}`) });
    const rows = await readRows(files.individual);
    expect(rows).toHaveLength(people.length);
    return rows.map((row, at) => INDIVIDUAL_COLUMNS.filter((name) => row[name] !== people[at]?.[name]));
  };
  const few = (await changedRows(0.01)).flatMap((names, at) => (names.length > 1 ? [at] : []));
  expect(few.length / people.length).toBeGreaterThan(0.007);
  expect(few.length / people.length).toBeLessThan(0.013);

  const many = await changedRows(0.05);
  expect(few.every((at) => (many[at]?.length ?? 0) > 1)).toBe(true);
  const differing = new Set(many.flat());
  for (const name of ['STATUS', 'SUB_STATUS', 'PARCEL_CITY', 'EXPIRATION_DATE'])
    expect(differing).toContain(name);
  for (const name of ['LICENSEE_NAME', 'LICENSE_NUMBER', 'TYPE', 'BOARD'])
    expect(differing).not.toContain(name);
});

test('with a share of 1, every row but the examples changes', async () => {
  const options = { rows: 5000, seed: SEED, date: DAY };
  const before = await writeSampleData({ ...options, directory: join(folder, 'before') });
  const after = await writeSampleData({ ...options, changed: 1, directory: join(folder, 'after') });
  for (const file of ['individual', 'business'] as const) {
    const old = await readRows(before[file]);
    const changed = await readRows(after[file]);
    const unchanged = changed.filter((row, at) => JSON.stringify(row) === JSON.stringify(old[at]));
    expect(unchanged.every(isExample)).toBe(true);
  }
});

function isExample({ LICENSE_NUMBER = '' }: Row): boolean {
  return EXAMPLE_NUMBERS.has(LICENSE_NUMBER);
}

test.each([
  ['the fewest rows', { rows: 1000 }],
  ['another seed', { seed: 8 }],
  ['a later day', { date: '2026-08-01', changed: 1, added: 1, removed: 1, renamed: 1, renumbered: 1 }],
])('the examples are the same with %s', async (name, options) => {
  const examplesOf = async (files: SampleDataFiles) =>
    [...(await readRows(files.individual)), ...(await readRows(files.business))]
      .filter(isExample)
      .map(({ QUERY_RUN_DATE: _, ...row }) => row)
      .toSorted((one, other) => ((one.LICENSE_NUMBER ?? '') < (other.LICENSE_NUMBER ?? '') ? -1 : 1));
  const directory = join(folder, name);
  const expected = await examplesOf(day1);
  expect(column(expected, 'LICENSE_NUMBER').toSorted()).toEqual([...EXAMPLE_NUMBERS].toSorted());
  expect(
    await examplesOf(await writeSampleData({ directory, rows: 5000, seed: SEED, date: DAY, ...options })),
  ).toEqual(expected);
});

test('no example has a board action or a disciplinary status', () => {
  const examples = [...people, ...businesses].filter(isExample);
  expect(new Set(column(examples, 'BOARD_ACTION'))).toEqual(new Set(['No']));
  expect(new Set(examples.map((row) => `${row.STATUS} ${row.SUB_STATUS}`))).toEqual(
    new Set(['Active ', 'Inactive Lapsed']),
  );
});

test('the manifest has the arguments and the hashes of both files', async () => {
  const sha256 = async (path: string) =>
    createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
  expect(JSON.parse(await readFile(day1.manifest, 'utf8'))).toEqual({
    generated: true,
    rows: ROWS,
    seed: SEED,
    date: DAY,
    changed: 0,
    added: 0,
    removed: 0,
    renamed: 0,
    renumbered: 0,
    sha256: { individual: await sha256(day1.individual), business: await sha256(day1.business) },
  });
});

test('progress is reported up to the last row', async () => {
  const seen: number[] = [];
  const onProgress = (rows: number) => seen.push(rows);
  await writeSampleData({ directory: join(folder, 'seen'), rows: ROWS, seed: 1, date: DAY, onProgress });
  expect(seen.length).toBeGreaterThan(2);
  expect(seen.at(-1)).toBe(ROWS);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
});

test('an aborted generation leaves no file', async () => {
  const directory = join(folder, 'stopped');
  const stop = new AbortController();
  const onProgress = () => stop.abort();
  const options = { directory, rows: ROWS, seed: 1, date: DAY, onProgress, signal: stop.signal };
  await expect(writeSampleData(options)).rejects.toThrow('aborted');
  expect(await readdir(directory)).toEqual([]);
});

test.each([
  ['rows', { rows: 999 }],
  ['rows', { rows: 1000.5 }],
  ['seed', { seed: -1 }],
  ['seed', { seed: Number.NaN }],
  ['date', { date: '2026-02-30' }],
  ['date', { date: '02/03/2026' }],
  ['changed', { changed: 1.01 }],
  ['changed', { changed: Number.NaN }],
])('the argument %s is refused by name if it is out of range: %o', async (name, wrong) => {
  const directory = join(folder, 'refused');
  const written = writeSampleData({ directory, rows: 1000, seed: 1, date: DAY, ...wrong });
  await expect(written).rejects.toThrow(RangeError);
  await expect(written).rejects.toThrow(name);
  await expect(access(directory)).rejects.toThrow('ENOENT');
});
