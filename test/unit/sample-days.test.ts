import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { DayShares } from '../../sample-data/generator/changes.ts';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import { readCsv } from '../../src/dataset/csv.ts';

const ROWS = 20_000;
const SHARE = 0.02;

/** The persons of a day: all other fields by board and number. */
type Day = ReadonlyMap<string, { readonly surname: string; readonly given: string; readonly others: string }>;

let folder: string;
let first: Day;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sample-days-'));
  first = await dayOf({});
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function dayOf(shares: DayShares): Promise<Day> {
  const directory = join(folder, Object.keys(shares).join('-') || 'first');
  const files = await writeSampleData({ directory, rows: ROWS, seed: 7, date: '2026-07-01', ...shares });
  const day = new Map<string, { surname: string; given: string; others: string }>();
  let header: readonly string[] | undefined;
  let rows = 0;
  for await (const batch of readCsv(createReadStream(files.individual, 'utf8'))) {
    for (const { fields } of batch) {
      if (header === undefined) {
        header = fields.map((name) => name.replace('\ufeff', ''));
        continue;
      }
      rows += 1;
      const values = new Map(header.map((name, at) => [name, fields[at] ?? '']));
      const [surname = '', given = ''] = (values.get('LICENSEE_NAME') ?? '').split(/, ?/);
      const id = `${values.get('BOARD')}/${values.get('LICENSE_NUMBER')}`;
      for (const name of ['BOARD', 'LICENSE_NUMBER', 'LICENSEE_NAME']) values.delete(name);
      day.set(id, { surname, given, others: [...values.values()].join() });
    }
  }
  expect([rows, day.size]).toEqual([files.individualRows, files.individualRows]);
  return day;
}

/** The licenses of one day that the other does not have. */
function missing(from: Day, other: Day): string[] {
  return [...from.keys()].filter((id) => !other.has(id));
}

function differing(day: Day): string[] {
  return [...day.keys()].filter(
    (id) => first.has(id) && JSON.stringify(first.get(id)) !== JSON.stringify(day.get(id)),
  );
}

function expectShare(ids: readonly string[]): void {
  expect(ids.length / first.size).toBeGreaterThan(SHARE * 0.7);
  expect(ids.length / first.size).toBeLessThan(SHARE * 1.3);
}

test('added licenses have new numbers, and all others are unchanged', async () => {
  const day = await dayOf({ added: SHARE });
  expectShare(missing(day, first));
  expect([missing(first, day), differing(day)]).toEqual([[], []]);
});

test('removed licenses are missing, and all others are unchanged', async () => {
  const day = await dayOf({ removed: SHARE });
  expectShare(missing(first, day));
  expect([missing(day, first), differing(day)]).toEqual([[], []]);
});

test('renamed persons have another surname and are otherwise unchanged', async () => {
  const day = await dayOf({ renamed: SHARE });
  expect([missing(first, day), missing(day, first)]).toEqual([[], []]);
  const renamed = differing(day);
  expectShare(renamed);
  for (const id of renamed) {
    expect(day.get(id)).toEqual({ ...first.get(id), surname: expect.any(String) });
  }
});

test('renumbered licenses have another number and are otherwise unchanged', async () => {
  const day = await dayOf({ renumbered: SHARE });
  expect(day.size).toBe(first.size);
  const [before, after] = [missing(first, day), missing(day, first)];
  expectShare(before);
  expect(after.map((id) => day.get(id))).toEqual(before.map((id) => first.get(id)));
  expect(differing(day)).toEqual([]);
});

test('a larger share changes the same licenses and more', async () => {
  const [few, many] = [await dayOf({ removed: SHARE }), await dayOf({ removed: 2 * SHARE })];
  expect(missing(first, few).filter((id) => many.has(id))).toEqual([]);
  expect(missing(first, many).length).toBeGreaterThan(missing(first, few).length);
});
