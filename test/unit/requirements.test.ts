import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { REQUIREMENTS, requirement } from '../requirements.ts';

const TESTS = resolve(import.meta.dirname, '..');
const CALL = /\bverifies\(\s*(\[[^\]]*\]|'[^']*')/g;

/** The ids that each test file says it verifies. */
function verifiedIds(): Map<string, string[]> {
  const files = readdirSync(TESTS, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.test.ts'),
  );
  return new Map(
    files.map((path) => {
      const calls = [...readFileSync(join(TESTS, path), 'utf8').matchAll(CALL)];
      return [
        path,
        calls.flatMap(([, ids = '']) => [...ids.matchAll(/'([^']*)'/g)].map(([, id = '']) => id)),
      ];
    }),
  );
}

test('every id that a test verifies is a requirement', () => {
  for (const [file, ids] of verifiedIds()) {
    expect([file, ids.filter((id) => !(id in REQUIREMENTS))]).toEqual([file, []]);
  }
  expect(() => requirement('SPEC-0-01')).toThrow('There is no requirement SPEC-0-01');
});

test('an id names the section that its sentence stands in, and no sentence stands twice', () => {
  const entries = Object.entries(REQUIREMENTS);
  for (const [id, { source }] of entries) {
    const expected = id.startsWith('SPEC-') ? `SPEC-${source}-` : 'DESIGN-';
    expect([id, id.startsWith(expected)]).toEqual([id, true]);
  }
  expect(new Set(entries.map(([, { text }]) => text)).size).toBe(entries.length);
});
