import { existsSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { z } from 'zod';
import { idsInName } from '../test/support/requirement-ids.ts';

const ROOT = resolve(import.meta.dirname, '..');

const assertion = z.object({
  title: z.string(),
  fullName: z.string(),
  status: z.string(),
  location: z.object({ line: z.number() }).nullish(),
  failureMessages: z.array(z.string().nullable()).nullish(),
});

/** A test file in Jest's report (`--json`). */
const testedFile = z.object({
  name: z.string().transform((path) => relative(ROOT, path)),
  /** Also `failed` if the file could not be loaded or a hook failed. */
  status: z.string(),
  message: z.string(),
  startTime: z.number(),
  endTime: z.number(),
  assertionResults: z.array(assertion),
});

export type TestedFile = z.output<typeof testedFile>;

const jestReport = z.object({ testResults: z.array(testedFile) });

/** The files in Jest's report; empty if Jest wrote no report. */
export function readReport(file: string): TestedFile[] {
  if (!existsSync(file)) return [];
  return jestReport.parse(JSON.parse(readFileSync(file, 'utf8'))).testResults;
}

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Counts the results. A file that failed without any failed test counts as one failure. */
export function counts(files: readonly TestedFile[]): Counts {
  const tests = files.flatMap(({ assertionResults }) => assertionResults);
  const count = (statuses: readonly string[]) =>
    tests.filter(({ status }) => statuses.includes(status)).length;
  const withoutTests = files.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && assertionResults.every((each) => each.status !== 'failed'),
  );
  return {
    passed: count(['passed']),
    failed: count(['failed']) + withoutTests.length,
    skipped: count(['pending', 'todo', 'skipped', 'disabled']),
  };
}

export function failedFiles(files: readonly TestedFile[]): string[] {
  return files.filter(({ status }) => status === 'failed').map(({ name }) => name);
}

/** Each failed test with its place, the start of its error, its logs and the command to repeat it. */
export function failures(
  files: readonly TestedFile[],
  { command, logsOf }: { readonly command: string; readonly logsOf: (file: string) => string | undefined },
): string[] {
  return files
    .filter(({ status }) => status === 'failed')
    .flatMap(({ name, message, assertionResults }) => {
      const failed = assertionResults
        .filter(({ status }) => status === 'failed')
        .flatMap(({ fullName, location, failureMessages }) => {
          const error = failureMessages?.[0] ?? '';
          const line = error.split(`${name}:`)[1]?.match(/^\d+/)?.[0] ?? location?.line ?? 1;
          return [`FAILED ${name}:${line} ${fullName}`, `  ${firstLines(error)}`];
        });
      const lines = failed.length > 0 ? failed : [`FAILED ${name}:1`, `  ${firstLines(message)}`];
      const logs = logsOf(name);
      return [...lines, ...(logs === undefined ? [] : [`  logs: ${logs}`]), `  repeat: ${command} ${name}`];
    });
}

const LINES_SHOWN = 4;
const COLORS = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*m`, 'g');

/** The message of an error, without its stack. */
function firstLines(message: string): string {
  const lines = message.replaceAll(COLORS, '').split('\n');
  const said = lines.map((line) => line.trim()).filter((line) => line !== '' && !/^(●|at )/.test(line));
  return said.slice(0, LINES_SHOWN).join(' | ');
}

/** The slowest files, one line each. */
export function slowest(files: readonly TestedFile[], count: number): string[] {
  return files
    .map((file) => ({ name: file.name, seconds: secondsOf(file) }))
    .toSorted((one, other) => other.seconds - one.seconds)
    .slice(0, count)
    .map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${name}`);
}

export function secondsOf({ startTime, endTime }: TestedFile): number {
  return (endTime - startTime) / 1000;
}

/** The requirements that no passed test verified, as `id: sentence`. */
export function unverifiedRequirements(
  files: readonly Pick<TestedFile, 'assertionResults'>[],
  requirements: Readonly<Record<string, string>>,
): string[] {
  const passed = files
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'passed');
  const verified = new Set(passed.flatMap(({ title }) => idsInName(title)));
  return Object.entries(requirements).flatMap(([id, sentence]) =>
    verified.has(id) ? [] : [`${id}: ${sentence}`],
  );
}
