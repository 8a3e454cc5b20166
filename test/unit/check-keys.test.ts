import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { runProgram } from '../../scripts/processes.ts';
import { checkerOf } from '../support/checked-project.ts';

const check = checkerOf('check-keys.ts');

const DECLARED = `
declare const record: Record<string, number>;
declare const text: string;
declare const sized: Record<'small' | 'large', number>;
declare const size: 'small' | 'large';
declare const list: number[];
`;

test('check-keys reports each key that may be any text', async () => {
  const found = [
    ['export const read = record[text];', 'record[text]'],
    ['record[text] = 1;', 'record[text]'],
    ["export const byDefault = record[text ?? ''];", "record[text ?? '']"],
    ['export const mayBeText = (key: string | 1) => record[key];', 'record[key]'],
    ["export const joined = record['a' + text];", "record['a' + text]"],
    ['export const byType = <K extends string>(key: K) => record[key];', 'record[key]'],
    ['export const isIn = text in record;', 'text in record'],
    ['export const { [text]: destructured } = record;', '[text]'],
    ['export const checkedInOther = Object.hasOwn(sized, text) ? record[text] : 0;', 'record[text]'],
  ];
  const lines = found.map(([, key], at) => `src/one.ts:${7 + at} ${key}`);
  expect(await check(DECLARED + found.map(([line]) => line).join('\n'))).toEqual({ code: 1, lines });
});

test('check-keys accepts lists, known keys, Maps and keys that Object.hasOwn has checked', async () => {
  const safe = [
    ...['list[0]', 'list[list.length - 1]', 'sized[size]', "sized['small']", "'small' in record"],
    'new Map(Object.entries(record)).get(text)',
    'Object.hasOwn(record, text) ? record[text] : 0',
    '{ [text]: 1 }',
  ];
  const source = safe.map((expression, at) => `export const a${at} = ${expression};`).join('\n');
  expect(await check(DECLARED + source)).toEqual({ code: 0, lines: [] });
});

test('check-keys fails if it finds no files to check', async () => {
  const script = resolve(import.meta.dirname, '../../scripts/check-keys.ts');
  expect((await runProgram([process.execPath, script, '/'], { cwd: '/' })).code).toBe(1);
});
