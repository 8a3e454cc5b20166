/**
 * Mutation tests: Stryker changes the pure code, one change (a mutant) at a time, and the unit test of the changed
 * file must notice. Prints the mutants that survived and the score of each file.
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

const mutant = z.object({
  mutatorName: z.string(),
  replacement: z.string().optional(),
  status: z.enum(['Killed', 'Timeout', 'Survived', 'NoCoverage', 'RuntimeError', 'CompileError', 'Ignored']),
  location: z.object({ start: z.object({ line: z.number(), column: z.number() }) }),
});
const report = z.object({ files: z.record(z.string(), z.object({ mutants: z.array(mutant) })) });

type Mutant = z.output<typeof mutant>;

/** Runs Stryker for one source file. */
async function mutantsOf(sourceFile: string, packages: string): Promise<Mutant[]> {
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
  return Object.values(files).flatMap(({ mutants }) => mutants);
}

function count(mutants: readonly Mutant[], ...statuses: readonly Mutant['status'][]): number {
  return mutants.filter(({ status }) => statuses.includes(status)).length;
}

/** Percent of the mutants that the tests noticed; those that cannot be loaded are not counted. */
function score(mutants: readonly Mutant[]): number {
  const noticed = count(mutants, 'Killed', 'Timeout');
  const unnoticed = count(mutants, 'Survived', 'NoCoverage');
  return noticed + unnoticed === 0 ? 100 : (100 * noticed) / (noticed + unnoticed);
}

function printScore(name: string, mutants: readonly Mutant[]): void {
  const counts = (['Killed', 'Timeout', 'Survived', 'NoCoverage', 'RuntimeError'] as const)
    .map((status) => `${count(mutants, status)} ${status}`)
    .join(', ');
  print(`${name}: ${score(mutants).toFixed(1)} % (${counts})`);
}

function printSurvivors(sourceFile: string, mutants: readonly Mutant[]): void {
  for (const { status, location, mutatorName, replacement = '' } of mutants) {
    if (status !== 'Survived' && status !== 'NoCoverage') continue;
    const { line, column } = location.start;
    print(`  ${sourceFile}:${line}:${column} ${status} ${mutatorName}: ${replacement.slice(0, 80)}`);
  }
}

const packages = await installedPackages(import.meta.dirname);
const named = process.argv.slice(2);
const sourceFiles = named.length > 0 ? named : globSync(MUTATED, { cwd: ROOT }).toSorted();
const all: Mutant[] = [];
for (const sourceFile of sourceFiles) {
  const mutants = await mutantsOf(sourceFile, packages);
  printScore(sourceFile, mutants);
  printSurvivors(sourceFile, mutants);
  all.push(...mutants);
}
printScore('Total', all);
print(`Reports: ${REPORTS}`);
if (score(all) < MIN_SCORE) process.exitCode = 1;
