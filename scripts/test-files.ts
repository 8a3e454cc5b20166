import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { StartError } from './processes.ts';

const ROOT = resolve(import.meta.dirname, '..');

/**
 * The seconds that each test file took in one run. `npm run test:durations` copies those of the last run to this file.
 */
const DURATIONS = 'test/durations.json';

/** A test file and the markers in the comment at its top. */
export interface TestFile {
  /** The path from the root of the checkout: `test/unit/number.test.ts`. */
  readonly path: string;
  /** `@room NAME`: `npm run test:long` runs it, in its long form, with nothing beside it. */
  readonly room: string | undefined;
  /** `@long`: only `npm run test:long` runs it. */
  readonly isLong: boolean;
}

const TOP_COMMENT = /^\/\*\*.*?\*\//s;

function testFile(path: string): TestFile {
  const [comment = ''] = TOP_COMMENT.exec(readFileSync(join(ROOT, path), 'utf8')) ?? [];
  return {
    path,
    room: /@room (\w+)/.exec(comment)?.[1],
    isLong: /@long\b/.test(comment),
  };
}

/** The tests to run: `default` leaves out faults and browser tests, `all` is the set of CI. */
export type Form = 'default' | 'all' | 'long';

/**
 * The test files of a form, slowest first.
 *
 * @param wanted paths or parts of paths; in the long form also rooms. If empty, all files.
 */
export function testFiles(form: Form, wanted: readonly string[]): TestFile[] {
  const all = globSync('test/**/*.test.ts', { cwd: ROOT }).toSorted().map(testFile);
  const files = all.filter(({ path, isLong, room }) => {
    if (wanted.includes(path)) return true;
    if (form === 'long' ? room === undefined : isLong) return false;
    if (wanted.length > 0) return wanted.some((part) => part === room || path.includes(part));
    return form !== 'default' || !/^test\/(faults|browser)\//.test(path);
  });
  if (files.length === 0) throw new StartError(`No test file matches ${wanted.join(' ')}.`);
  const seconds = durations(join(ROOT, DURATIONS));
  // A file without a recorded duration may be slow, so it comes first.
  const secondsOf = ({ path }: TestFile) => seconds.get(path) ?? Number.MAX_VALUE;
  return files.toSorted((one, other) => secondsOf(other) - secondsOf(one));
}

/** The seconds of each test file, as recorded by a run; empty if the file does not exist. */
export function durations(file: string): Map<string, number> {
  if (!existsSync(file)) return new Map();
  return new Map(
    Object.entries(z.record(z.string(), z.number()).parse(JSON.parse(readFileSync(file, 'utf8')))),
  );
}
