import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';

const BENCH = resolve(import.meta.dirname, '../../bench');

/** Every file that these import, directly or not, they included. */
async function importedBy(files: readonly string[], seen = new Map<string, string>()) {
  for (const file of files) {
    if (seen.has(file)) continue;
    const text = await readFile(file, 'utf8');
    seen.set(file, text);
    const paths = [...text.matchAll(/from '(\.[^']+\.ts)'/g)].map(([, path = '']) => path);
    await importedBy(
      paths.map((path) => resolve(file, '..', path)),
      seen,
    );
  }
  return seen;
}

test('benches, and the test support that they import, do not import Jest', async () => {
  const files = await importedBy(globSync('**/*.ts', { cwd: BENCH }).map((name) => resolve(BENCH, name)));
  expect(files.size).toBeGreaterThan(50);
  const needJest = [...files].filter(([, text]) => text.includes("from '@jest/globals'"));
  expect(needJest.map(([file]) => file)).toEqual([]);
});
