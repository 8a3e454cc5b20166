/**
 * Mutation tests: Stryker changes the pure code, one change (a mutant) at a time, and the unit test of the changed
 * file must notice. Stryker prints the mutants that survived and the score of each file.
 *
 * Arguments are the source files to change; without arguments, all of `MUTATED` are changed.
 * The exit code is 1 below `MIN_SCORE`.
 */
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import { print, run } from '../../scripts/processes.ts';
import { readConfig } from '../../src/config.ts';
import { installedPackages } from '../support/npm-packages.ts';

const MUTATED = [
  'src/licenses/*.ts',
  'src/dataset/{columns,csv,header,row-to-licenses}.ts',
  'src/mcp/results.ts',
];

/** The unit tests of files that have none of their name, or more than that. */
const TESTS: Readonly<Record<string, string>> = {
  counts: 'tally',
  header: '{header,row-to-licenses}',
  filters: '{license-document,lookup,steps,typed-forms}',
  fold: '{fold,number,typed-forms}',
  license: '{license-document,license-record,row-to-licenses,typed-forms}',
  lookup: '{lookup,steps}',
  names: '{person-name,business-name,license-document,typed-forms}',
  results: 'mcp-results',
  'row-lookup': 'list',
  spelling: '{spelling,typed-forms}',
  standing: '{cautions,license-status,status}',
};

/** Percent of the mutants that the tests must notice. */
const MIN_SCORE = 80;

const ROOT = resolve(import.meta.dirname, '../..');
const REPORTS = join(resolve(readConfig().STATE_DIR), 'mutation-report');

const mutants = z.array(z.object({ status: z.string() }));
const report = z.object({ files: z.record(z.string(), z.object({ mutants })) });

/** Runs Stryker for one source file; it prints what survived, and the score. @returns what became of each mutant */
async function statusesOf(sourceFile: string, packages: string): Promise<string[]> {
  const name = basename(sourceFile, '.ts');
  const testFile = `test/unit/${TESTS[name] ?? name}.test.ts`;
  if (globSync(testFile, { cwd: ROOT }).length === 0) throw new Error(`${sourceFile} has no ${testFile}.`);
  const stryker = join(packages, 'node_modules/@stryker-mutator/core/bin/stryker.js');
  const config = join(import.meta.dirname, 'stryker.config.js');
  await run(process.execPath, [stryker, 'run', config], {
    name: `Stryker on ${sourceFile}`,
    cwd: ROOT,
    env: { ...process.env, SOURCE_FILE: sourceFile, TEST_FILE: testFile, REPORTS },
    ownsTerminal: true,
  });
  const { files } = report.parse(JSON.parse(await readFile(join(REPORTS, `${sourceFile}.json`), 'utf8')));
  return Object.values(files).flatMap(({ mutants }) => mutants.map(({ status }) => status));
}

const packages = await installedPackages(import.meta.dirname);
const named = process.argv.slice(2);
const sourceFiles = named.length > 0 ? named : globSync(MUTATED, { cwd: ROOT }).toSorted();
const statuses: string[][] = [];
for (const sourceFile of sourceFiles) statuses.push(await statusesOf(sourceFile, packages));
const count = (...wanted: readonly string[]) =>
  statuses.flat().filter((status) => wanted.includes(status)).length;
const noticed = count('Killed', 'Timeout');
// Those that cannot be loaded are not counted.
const score = (100 * noticed) / (noticed + count('Survived', 'NoCoverage'));
print(`Together: ${score.toFixed(1)} %. Reports: ${REPORTS}`);
if (score < MIN_SCORE) process.exitCode = 1;
