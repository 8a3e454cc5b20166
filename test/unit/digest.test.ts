import { crc32 } from 'node:zlib';
import { expect, test } from '@jest/globals';
import {
  type Difference,
  type Digest,
  type DigestEntry,
  differences,
  digestEntries,
  emptyDigest,
  recordHash,
} from '../../src/changes/digest.ts';
import { documentJson, type LicenseRecord, licenseDocument, recordText } from '../../src/licenses/license.ts';
import { refuseTooLarge } from '../../workers/publish/tally.ts';
import { nurseRecord } from '../support/records.ts';

const RECORD = nurseRecord({ extra_data: { ZIP: '43215', 'Board Action': 'No' } });

const entry = (id: string, record = 'a', row = 'a') => ({ id, record: recordHash(record), row: crc32(row) });

function digestOf(entries: readonly DigestEntry[]): Digest {
  const digest = emptyDigest();
  for (const each of entries) digest.add(each);
  return digest;
}

const entriesIn = (digest: Digest) => [...digest.parts()].flatMap((part) => [...digestEntries(part)]);

function compared(before: readonly DigestEntry[], after: readonly DigestEntry[]): Difference[] {
  const left = [...digestOf(before).parts()];
  return [...digestOf(after).parts()].flatMap((part, at) => [
    ...differences(left[at] ?? Buffer.alloc(0), part),
  ]);
}

test('a digest returns every entry, also those with long or accented numbers', () => {
  const numbers = Array.from({ length: 20_000 }, (_, at) => `MED/35.${at}`);
  const ids = ['NUR/RN.1', 'NUR/ÉÑ-1', `PHR/${'9'.repeat(3000)}`, ...numbers];
  const byId = (one: DigestEntry, other: DigestEntry) => (one.id < other.id ? -1 : 1);
  const entries = ids.map((id) => entry(id, id, `row ${id}`));
  expect(entriesIn(digestOf(entries)).toSorted(byId)).toEqual(entries.toSorted(byId));
});

test('a digest larger than half of the memory is refused before the process runs out of memory', () => {
  const digest = digestOf(Array.from({ length: 30_000 }, (_, at) => entry(`NUR/RN.${at}`)));
  const stored = [...digest.parts()].map(({ length }) => length);
  expect(digest.bytes()).toBeGreaterThanOrEqual(stored.reduce((sum, bytes) => sum + bytes));
  const most = 500_000;
  refuseTooLarge(most, most);
  expect(() => refuseTooLarge(digest.bytes(), most)).toThrow(
    /^memory: The digest takes \d+ MB, and may take half of the worker's memory, 1 MB\./,
  );
  refuseTooLarge(100_000_000);
  expect(() => refuseTooLarge(2 ** 50)).toThrow(/^memory: /);
});

test('of a license that several rows have, those that are taken out are gone, and no more', () => {
  const digest = digestOf([entry('NUR/1'), entry('NUR/1', 'b'), entry('NUR/1', 'c'), entry('NUR/1')]);
  for (const each of [entry('NUR/2'), entry('NUR/3'), entry('NUR/3')]) digest.add(each);
  digest.remove([entry('NUR/1', 'b'), entry('NUR/1'), entry('NUR/1'), entry('NUR/2'), entry('NUR/3')]);
  const left = entriesIn(digest).toSorted((each, other) => (each.id < other.id ? -1 : 1));
  expect(left).toEqual([entry('NUR/1', 'c'), entry('NUR/3')]);
});

/** Entries as `RECORD ROW` of the license A/1. */
const one = (text: string) => {
  const [record, row] = text.split(' ');
  return text === '' ? [] : [entry('A/1', record, row)];
};

test.each([
  ['nothing', 'a x', 'a x', undefined, false],
  ['another row of the same record', 'a x', 'a y', undefined, false],
  ['added', '', 'a x', 'added', false],
  ['removed', 'a x', '', 'removed', false],
  ['changed', 'a x', 'b y', 'changed', false],
  ['read differently', 'a x', 'b x', 'changed', true],
])('the difference of two digests: %s', (_what, before, after, kind, isSameRow) => {
  const expected = kind === undefined ? [] : [{ license: 'A/1', kind, isSameRow }];
  expect(compared(one(before), one(after))).toEqual(expected);
});

const shuffled = (entries: readonly DigestEntry[]) =>
  entries.toSorted((one, other) => crc32(one.id) - crc32(other.id));
const many = (first: number, count: number, record?: string) =>
  Array.from({ length: count }, (_, at) => entry(`NUR/RN.${first + at}`, record));

test.each([
  ['none', many(0, 3000), many(0, 3000)],
  ['at the beginning', many(0, 3000), [...many(9000, 1000), ...many(1000, 2000)]],
  ['in the middle', many(0, 3000), [...many(0, 1000), ...many(9000, 500), ...many(1001, 1999)]],
  ['at the end', many(0, 3000), [...many(0, 2500), ...many(9000, 1000)]],
  ['here and there', many(0, 3000), many(0, 3000).filter((_, at) => at % 7 > 0)],
  ['in another order', many(0, 3000), shuffled(many(0, 3000))],
  ['in another order, and others', many(0, 3000), shuffled([...many(1000, 2500), ...many(0, 9, 'b')])],
])('the differences of digests of many licenses, changed %s', (_where, before, after) => {
  const records = (entries: readonly DigestEntry[]) => new Map(entries.map(({ id, record }) => [id, record]));
  const [old, now] = [records(before), records(after)];
  const kinds = new Map(compared(before, after).map(({ license, kind }) => [license, kind]));
  const expected = [...new Set([...old.keys(), ...now.keys()])].flatMap((id) => {
    if (old.get(id) === now.get(id)) return [];
    return [[id, old.has(id) ? (now.has(id) ? 'changed' : 'removed') : 'added'] as const];
  });
  expect(kinds).toEqual(new Map(expected));
});

test('the hash of a record changes with every field', () => {
  const hashOf = (record: LicenseRecord) => recordHash(recordText(record));
  const hash = hashOf(RECORD);
  expect(hash).toMatch(/^[0-9a-f]{12}$/);
  for (const name of Object.keys(RECORD).filter((each) => each !== 'extra_data'))
    expect(hashOf({ ...RECORD, [name]: 'other' })).not.toBe(hash);
  expect(hashOf({ ...RECORD, extra_data: { ...RECORD.extra_data, ZIP: '43216' } })).not.toBe(hash);
  expect(hashOf({ ...RECORD, extra_data: { ZIP: '43215' } })).not.toBe(hash);
});

test.each([
  RECORD,
  { ...RECORD, full_name: 'A ","source_row":" B', extra_data: { source_row: 'x', ',"source_row":"': '"' } },
])('the text of a record is the beginning of its document', (record) => {
  const text = recordText(record);
  expect(JSON.parse(`${text}}`)).toEqual(record);
  for (const kind of ['person', 'business'] as const) {
    const document = licenseDocument(record, kind, 'individual:7:1');
    expect(recordText(document)).toBe(text);
    expect(documentJson(text, document)).toBe(JSON.stringify(document));
  }
});

test('two ways to write one number are counterparts, where no other license has that number', () => {
  const before = 'PHR/PN.022589 PHR/PN.1 PHR/PN-1 PHR/PN.7 NUR/PN.8'.split(' ').map((id) => entry(id));
  expect(
    compared(before, [entry('PHR/PN-022589'), entry('PHR/PN 1'), entry('PHR/PN.7', 'b'), entry('PHR/PN-8')])
      .map(({ license, kind, counterpart }) => [kind, license, counterpart])
      .toSorted(),
  ).toEqual(
    [
      ['added', 'PHR/PN-022589', 'PHR/PN.022589'],
      ['removed', 'PHR/PN.022589', 'PHR/PN-022589'],
      ['added', 'PHR/PN 1', undefined],
      ['removed', 'PHR/PN.1', undefined],
      ['removed', 'PHR/PN-1', undefined],
      ['changed', 'PHR/PN.7', undefined],
      ['removed', 'NUR/PN.8', undefined],
      ['added', 'PHR/PN-8', undefined],
    ].toSorted(),
  );
});
