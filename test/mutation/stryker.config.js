import { join } from 'node:path';

const { SOURCE_FILE = '', TEST_FILE = '', REPORTS = '' } = process.env;

/**
 * For one source file and its unit test, which main.ts names. All unit tests for each mutant would take hours.
 *
 * @type {Record<string, unknown>}
 */
export default {
  mutate: [SOURCE_FILE],
  plugins: ['@stryker-mutator/*', join(import.meta.dirname, 'ignore-descriptions.js')],
  ignorers: ['descriptions'],
  testRunner: 'jest',
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  jest: {
    configFile: 'jest.config.js',
    config: { testMatch: [`<rootDir>/${TEST_FILE}`] },
    enableFindRelatedTests: false,
  },
  // Not per test: a memoized function computes only in the first test that calls it, which may not be the one that checks.
  coverageAnalysis: 'all',
  concurrency: 1,
  // jest keeps the ES modules of every run in memory: a process of its own for each 40 mutants stays below 1 GB.
  maxTestRunnerReuse: 40,
  // With the default of 5 s, slow tests on a busy machine count as endless loops.
  timeoutMS: 20_000,
  // Stryker rewrites tsconfig.json with TypeScript's API, which TypeScript 7 does not have; jest does not read the file.
  ignorePatterns: ['/.ci', '/.local', '/bench', '/docs', '/examples', '/sample', '/tsconfig.json'],
  tempDirName: join(REPORTS, 'sandboxes'),
  reporters: ['clear-text', 'html', 'json'],
  clearTextReporter: { logTests: false, reportTests: false },
  htmlReporter: { fileName: join(REPORTS, `${SOURCE_FILE}.html`) },
  jsonReporter: { fileName: join(REPORTS, `${SOURCE_FILE}.json`) },
  logLevel: 'warn',
  warnings: { slow: false },
};
