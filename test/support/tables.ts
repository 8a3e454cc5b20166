import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** A text in test/fixtures. In the file, `\uXXXX`, `\t` and `\r` stand for invisible characters. */
export const fixtureText = (file: string): string =>
  readFileSync(resolve(import.meta.dirname, '../fixtures', file), 'utf8')
    .replaceAll(/\\u([0-9a-f]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll('\\t', '\t')
    .replaceAll('\\r', '\r');

/** The lines of a table. */
export const linesOf = (table: string): string[] => table.split('\n').filter((line) => line !== '');

/** Texts with their expected meanings: `TEXT = MEANING; TEXT = MEANING`. A meaning may be missing. */
export function pairsOf(table: string): [text: string, meaning: string][] {
  const pairs = linesOf(table).flatMap((line) => line.split('; '));
  return pairs.map((pair) => {
    const [text = '', meaning = ''] = pair.split(' = ');
    return [text, meaning];
  });
}

/** The cells of each line in a table: `A | B | C`. In a cell, `x*200` stands for `x` repeated 200 times. */
export const cellsOf = (table: string): string[][] =>
  linesOf(table).map((line) =>
    line
      .split(/ \|(?: |$)/)
      .map((cell) => cell.replace(/(\S)\*(\d+)/, (_, text: string, count) => text.repeat(Number(count)))),
  );
