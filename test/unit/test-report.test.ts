import { expect, test } from '@jest/globals';
import { counts, failures, type TestedFile, unverifiedRequirements } from '../../scripts/test-report.ts';

function file(name: string, results: Record<string, string>, values: Partial<TestedFile> = {}): TestedFile {
  const assertionResults = Object.entries(results).map(([title, status]) => ({
    title,
    fullName: `a list ${title}`,
    status,
    location: { line: 7 },
    failureMessages:
      status === 'failed' ? ['Error: wrong\n\nExpected: 1\n    at f (/x/test/unit/one.test.ts:9:3)'] : [],
  }));
  const status = Object.values(results).includes('failed') ? 'failed' : 'passed';
  return { name, status, message: '', startTime: 0, endTime: 1500, assertionResults, ...values };
}

const FILES = [
  file('test/unit/one.test.ts', {
    'passes [SERVICE-01 SERVICE-02]': 'passed',
    'fails [SERVICE-04]': 'failed',
    'is skipped [SERVICE-05]': 'pending',
    'is not written yet [SERVICE-06]': 'todo',
  }),
  file(
    'test/unit/two.test.ts',
    {},
    { status: 'failed', message: '\n  ● Test suite failed\n\n  SyntaxError: x' },
  ),
  file('test/unit/three.test.ts', { passes: 'passed' }),
];

test('a file that could not be loaded counts as one failure', () => {
  expect(counts(FILES)).toEqual({ passed: 2, failed: 2, skipped: 2 });
});

test('each failure has its place, its error, its logs and the command that repeats it', () => {
  const logsOf = (name: string) => (name.includes('one') ? '.local/test-logs/one' : undefined);
  expect(failures(FILES, { command: 'SEED=1 npm test --', logsOf })).toEqual([
    'FAILED test/unit/one.test.ts:9 a list fails [SERVICE-04]',
    '  Error: wrong | Expected: 1',
    '  logs: .local/test-logs/one',
    '  repeat: SEED=1 npm test -- test/unit/one.test.ts',
    'FAILED test/unit/two.test.ts:1',
    '  SyntaxError: x',
    '  repeat: SEED=1 npm test -- test/unit/two.test.ts',
  ]);
});

test('a requirement is verified by a test that ran and passed, and by no other', () => {
  expect(
    unverifiedRequirements(FILES, {
      ...{ 'SERVICE-01': 'passed', 'SERVICE-02': 'passed', 'SERVICE-04': 'failed' },
      ...{ 'SERVICE-05': 'skipped', 'SERVICE-06': 'todo', 'BOARDS-01': 'in no test' },
    }),
  ).toEqual(['SERVICE-04: failed', 'SERVICE-05: skipped', 'SERVICE-06: todo', 'BOARDS-01: in no test']);
});
