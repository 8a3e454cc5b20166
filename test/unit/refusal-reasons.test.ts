import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = resolve(import.meta.dirname, '../..');
const PUBLISH = join(ROOT, 'workers/publish');

/** A reason stands at the beginning of a sentence in quotes: `fewer_rows: ${...}`. */
const REASON = /[`']([a-z_]+): (?:[A-Z]|\$\{)/g;

function namesIn(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, name = '']) => name);
}

test('docs/operations.md explains every reason for which a publication is refused, and no other', () => {
  const sources = readdirSync(PUBLISH).filter((file) => file.endsWith('.ts'));
  const given = sources.flatMap((file) => namesIn(readFileSync(join(PUBLISH, file), 'utf8'), REASON));
  const operations = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
  const [, table = ''] = /\| reason +\|[^\n]*\n\|[-| ]+\n((?:\|[^\n]*\n)+)/.exec(operations) ?? [];
  const explained = table.split('\n').flatMap((row) => namesIn(row.split('|')[1] ?? '', /`([a-z_]+)`/g));
  expect(new Set(explained)).toEqual(new Set(given));
  expect(explained.length).toBeGreaterThan(10);
});
