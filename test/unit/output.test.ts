import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { isRefusing, tellingChecks, writeReport } from '../../src/cli/checks.ts';
import { described, printable, table } from '../../src/cli/output.ts';
import type { Check } from '../../src/publications/ledger.ts';
import { isAcceptable } from '../../src/publications/refusals.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();

test('a table of the command line has columns aligned under their headings, numbers with separators, times of Ohio, and nothing for null', () => {
  expect(
    table([
      { id: 'a', state: 'superseded', rows: 1234, 'last event': '2026-11-25T11:00:07.000Z' },
      { id: 'longer', state: 'live', rows: null, 'last event': undefined },
    ]),
  ).toEqual([
    'ID      STATE       ROWS   LAST EVENT',
    'a       superseded  1,234  2026-11-25 06:00:07 EST',
    'longer  live',
  ]);
});

test('a table of the command line fits 100 characters: the widest columns go on below', () => {
  const lines = table([
    { id: 'a1', board: 'x'.repeat(60), details: `${'word '.repeat(20)}end` },
    { id: 'a2', board: 'short', details: 'short' },
  ]);
  expect(lines.every((line) => line.length <= 100)).toBe(true);
  expect(lines[1]).toMatch(/^a1 {2}x{40,} {2}word/);
  expect(lines[2]).toMatch(/^ {4}x{10,} +word /);
  expect(lines[3]).toMatch(/end$/);
  expect(lines[4]).toMatch(/^a2 {2}short +short$/);
});

test('a table of the command line of nine columns fits, too, and breaks no id', () => {
  const row = {
    ...{ publication: 'mwwrwvb2c0448190', state: 'superseded (forced)', date: '2026-11-24' },
    rows: 2_600_000,
    ...{ rejected: 12_345, changes: 123_456, took: '123.4 s', 'last event': '2026-11-25T11:00:07.000Z' },
    reasons: 'unknown_board_actions (and 2 more)',
  };
  const lines = table([row]);
  expect(lines.filter((line) => line.length > 100)).toEqual([]);
  expect(lines[1]).toMatch(/^mwwrwvb2c0448190 {2}superseded {2}2026-11-24 {2}2,600,000 .* 2026-11-25 .*_$/);
});

test('a table of the command line takes a text of any length', () => {
  expect(table([{ id: 'a', details: 'x'.repeat(100_000) }])).toHaveLength(1 + Math.ceil(100_000 / 96));
});

test('a table of the command line without rows says so', () => {
  expect(table([])).toEqual(['None.']);
});

test('a result is described by its values: below each other, in tables and lists, without what is empty', () => {
  const result = {
    ...{ publication: 'mw1', rows: 1234, forced: undefined, reasons: ['one', 'two'] },
    ...{ boards: { 'Nursing Board': 2, '': 1 }, changes: {}, checks: [{ guard: 'canary', now: 3 }] },
  };
  expect(described(result)).toEqual([
    ...['publication  mw1', 'rows         1,234', 'reasons      one', 'reasons      two'],
    ...['', 'boards:', '  Nursing Board  2', '  (blank)        1'],
    ...['', 'checks:', 'GUARD   NOW', 'canary  3'],
  ]);
});

test.each([
  ['RN \u001b[31mred\u0007', 'RN \\u001b[31mred\\u0007'],
  ['two\r\nlines', 'two\\u000d\\u000alines'],
  ['\u009b2J', '\\u009b2J'],
  ['\u202egnp.exe', '\\u202egnp.exe'],
  ['a\u2028b', 'a\\u2028b'],
  ['\ud800', '\\ud800'],
  ['\u{e0001}', '\\udb40\\udc01'],
  ['Muñoz 🩺 “x”', 'Muñoz 🩺 “x”'],
])('text of the dataset in the terminal %j is printed as %j', (text, printed) => {
  expect(printable(text)).toBe(printed);
});

test('a table may have 200,000 rows', () => {
  expect(table(Array.from({ length: 200_000 }, () => ({ id: 'a' })))).toHaveLength(200_001);
});

test('a line break in a cell does not begin a new line of the table', () => {
  expect(table([{ type: 'x\nLive: y', rows: 1 }])).toEqual(['TYPE            ROWS', 'x\\u000aLive: y  1']);
});

const of = (fields: Partial<Check>): Check => ({
  ...{ check: 'fewer_rows', board: null, column: null, measured: 0, limit: 10, passed: true },
  ...fields,
});
const place = { board: 'A | B', column: 'STATUS' };
const refusing = of({ check: 'column_changed', ...place, measured: 60, passed: false });
const accepted: Check = { ...refusing, accepted: true };
const [far, half, close, closer] = [1, 5, 6, 9].map((measured) => of({ measured }));
const unlimited = of({ limit: 0 });
const ofSmallBoard = of({ measured: 37.5 });

test('what the guards found refuses what did not pass, unless that was accepted; close is beyond half of the limit, the closest first', () => {
  expect([refusing, accepted, close ?? refusing].map(isRefusing)).toEqual([true, false, false]);
  const all = [far, half, close, refusing, closer, unlimited, accepted, ofSmallBoard].filter(
    (each) => each !== undefined,
  );
  const { 'what came close': near, 'what the guards refuse': refused } = tellingChecks(all);
  expect([near, refused].map((rows) => rows.map(({ measured }) => measured))).toEqual([[60, 9, 6], [60]]);
  const guards = ['column_changed', 'column_changed:STATUS', 'no_rows', 'toString', 'column_changed:'];
  expect(guards.filter(isAcceptable)).toEqual(['column_changed', 'column_changed:STATUS']);
});

test('what the guards found is reported as Markdown, all of it code that no text of the files can end, with blank values as shares', async () => {
  const path = folder.path('report.md');
  const values = { 'A | B': { licenses: 8, blank: { CITY: 2, STATE: 0 }, unknown: { STATUS: 3 } } };
  const found = { publication: 'mw1', reasons: ['60 of <b>'], notes: ['A note.'], values };
  await writeReport(path, { ...found, state: 'would_be_refused', checks: [refusing, closer ?? refusing] });
  const [title, , ...lines] = (await readFile(path, 'utf8')).trimEnd().split('\n');
  expect(title).toBe('# Publication mw1: would be refused');
  expect(lines.filter((line) => line !== '    ' && !/^ {4}\S/.test(line))).toEqual([]);
  const row = 'column_changed A | B STATUS 60 10';
  const near = 'fewer_rows 9 10';
  const headings = 'GUARD BOARD COLUMN BEFORE NOW MEASURED LIMIT EXAMPLES';
  expect(lines.map((line) => line.trim().replaceAll(/ +/g, ' '))).toEqual([
    ...['reasons 60 of <b>', 'notes A note.', ''],
    ...['what the guards refuse:', headings, row, ''],
    ...['what came close:', headings, near, ''],
    ...['all checks:', headings, row, near, ''],
    ...['blank and unknown values:', 'BOARD COLUMN VALUES COUNT LICENSES PERCENT'],
    ...['A | B CITY blank 2 8 25.0 %', 'A | B STATUS unknown 3 8 37.5 %'],
  ]);
});
