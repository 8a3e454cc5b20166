import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { runProgram } from '../../scripts/processes.ts';
import { testReport, unverifiedRequirements } from '../../scripts/test-report.ts';
import { idsInName, nameWithIds } from '../support/requirement-ids.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const TESTS_WITH_IDS = '<rootDir>/test/fixtures/tests-with-ids.ts';

const folder = temporaryFolder();

test('a requirement is verified by a test that ran and passed, and by no other', async () => {
  const reportFile = folder.path('jest.json');
  const jest = [process.execPath, '--experimental-vm-modules', 'node_modules/jest/bin/jest.js'] as const;
  await runProgram([...jest, '--testMatch', TESTS_WITH_IDS, '--json', `--outputFile=${reportFile}`], {
    cwd: ROOT,
  });
  const report = testReport.parse(JSON.parse(await readFile(reportFile, 'utf8')));
  expect(report).toMatchObject({
    numPassedTests: 2,
    numFailedTests: 1,
    numPendingTests: 2,
    numTodoTests: 1,
  });
  const requirements = {
    'SERVICE-01': 'passed',
    'SERVICE-02': 'passed',
    'SERVICE-03': 'in a skipped describe',
    'SERVICE-04': 'failed',
    'SERVICE-05': 'skipped',
    'SERVICE-06': 'todo',
    'BOARDS-01': 'commented out',
  };
  expect(unverifiedRequirements(report, requirements)).toEqual([
    'SERVICE-03: in a skipped describe',
    'SERVICE-04: failed',
    'SERVICE-05: skipped',
    'SERVICE-06: todo',
    'BOARDS-01: commented out',
  ]);
});

test('the ids that a test name was made with are read back, and no others', () => {
  expect(idsInName(nameWithIds('is answered', ['SERVICE-01']))).toEqual(['SERVICE-01']);
  expect(idsInName(nameWithIds('is in [a] list', ['SERVICE-01', 'MCP-09']))).toEqual([
    'SERVICE-01',
    'MCP-09',
  ]);
  expect(idsInName('[SERVICE-01] stands first')).toEqual([]);
  expect(idsInName('has no ids')).toEqual([]);
});
