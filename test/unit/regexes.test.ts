import { expect, test } from '@jest/globals';
import { checkerOf } from '../support/checked-project.ts';

const checkOf = checkerOf('check-regexes.ts');
const check = (...lines: string[]) => checkOf(lines.join('\n'));

test('check-regexes reports each expression that is not linear or that it can not see', async () => {
  const checked = await check(
    'export const ends = /\\s+$/;',
    'export const isNumber = (text: string) => /^(\\d+)+$/.test(text);',
    "const BLANKS = '[ ,]+';",
    'export const built = new RegExp(BLANKS + "[a-z]");',
    'export const builtFrom = (text: string) => new RegExp(text);',
    'export const found = (text: string, other: string) => text.match(other);',
  );
  const lines = [6, 5, 1, 2, 4].map((line) => expect.stringMatching(`^src/one.ts:${line} `));
  expect(checked).toEqual({ code: 1, lines });
});

test('check-regexes accepts linear expressions', async () => {
  const checked = await check(
    'export const ends = /(?<!\\s)\\s+$/;',
    "const BLANKS = '[ ,]+';",
    'export const built = new RegExp("^" + BLANKS);',
    'export const found = (text: string) => text.match(built) ?? [1].includes(text.search(/a/));',
  );
  expect(checked).toEqual({ code: 0, lines: [] });
});
