import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { readConfig } from '../src/config.ts';
import { openSearchNodes } from '../src/storage/errors.ts';
import { REQUIREMENTS } from '../test/requirements.ts';
import { SERVICES_VARIABLE, serveServices } from '../test/support/shared-service.ts';
import { aborted, runCommand } from './interrupts.ts';
import { keepLogsIn, print, StartError, startProcess } from './processes.ts';
import { type Services, startServices } from './services.ts';
import { durations, type Form, type TestFile, testFiles } from './test-files.ts';
import {
  type Counts,
  counts,
  failedFiles,
  failures,
  readReport,
  secondsOf,
  slowest,
  type TestedFile,
  unverifiedRequirements,
} from './test-report.ts';

/**
 * The first argument may be `all` (every test in the short form, as in CI) or `long` (the long form). Paths or rooms
 * may follow, then Jest options. Without arguments, the tests of `npm run test:faults` are left out.
 */
const [first = '', ...others] = process.argv.slice(2);
const FORM: Form = first === 'all' || first === 'long' ? first : 'default';
const ARGUMENTS = FORM === 'default' ? process.argv.slice(2) : others;
const FIRST_OPTION = ARGUMENTS.findIndex((argument) => argument.startsWith('-'));
const WANTED = FIRST_OPTION < 0 ? ARGUMENTS : ARGUMENTS.slice(0, FIRST_OPTION);
const JEST_OPTIONS = FIRST_OPTION < 0 ? [] : ARGUMENTS.slice(FIRST_OPTION);

/** The seed of every random choice in a test, and of the order of the tests in a file. */
const SEED = process.env.SEED ?? '1';

/**
 * The number of test files that run in parallel. The long form runs one at a time, because it starts Java processes and
 * measures time. Most tests wait: on two cores, three parallel files left a fifth of the CPU unused.
 */
const JEST_WORKERS = 4;

/** With more failures than this, failed files are not run again, because something that all tests need is broken. */
const MAX_RERUNS = 10;
const SLOWEST_SHOWN = 20;

const JEST = 'node_modules/jest/bin/jest.js';
const JEST_STOP_MS = 10_000;

const STATE_DIR = resolve(readConfig().STATE_DIR);
const LOGS = join(STATE_DIR, 'test-logs');
const DURATIONS = join(STATE_DIR, 'durations.json');

/** The loopback addresses. Tests write and delete data, so they run only against servers at these addresses. */
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

function refuseOtherMachines(): void {
  const config = readConfig();
  const hosts = [...openSearchNodes(config), config.REDIS_URL].map((url) => new URL(url).hostname);
  const other = hosts.find((host) => !LOOPBACK.test(host));
  if (other === undefined) return;
  throw new StartError(
    `OPENSEARCH_URL or REDIS_URL points to ${other}, but tests write and delete: they run against a loopback address only.`,
  );
}

async function test(signal: AbortSignal): Promise<Counts> {
  refuseOtherMachines();
  const files = testFiles(FORM, WANTED);
  mkdirSync(STATE_DIR, { recursive: true });
  rmSync(LOGS, { recursive: true, force: true });
  const needsServers = files.some(({ path }) => !path.startsWith('test/unit/'));
  const services = needsServers ? await startServices({ signal, isShortLived: true }) : undefined;
  try {
    /** Each run has its own services, so that a repeated file does not find data that it wrote before. */
    const jest = async (some: readonly TestFile[], workers: number, logs = LOGS) => {
      const shared = await serveServices(() => keepLogsIn(join(LOGS, 'shared')));
      try {
        return await runJest(some, { workers, services, shared: shared.url, signal, logs });
      } finally {
        await shared.close();
      }
    };
    const tested = await jest(files, FORM === 'long' ? 1 : JEST_WORKERS);
    if (FORM !== 'long') noteDurations(tested);
    print(`\nThe slowest files:\n${slowest(tested, SLOWEST_SHOWN).join('\n')}\n`);

    const failed = new Set(failedFiles(tested));
    const isRerun = failed.size > 0 && failed.size <= MAX_RERUNS;
    if (isRerun) print(`Running again, alone: ${[...failed].join(' ')}\n`);
    const rerun = isRerun
      ? await jest(
          files.filter(({ path }) => failed.has(path)),
          1,
          join(LOGS, 'again'),
        )
      : [];
    return report(tested, rerun);
  } finally {
    await services?.stop();
  }
}

/** Prints the failed tests, and those that failed first and then passed alone. */
function report(tested: readonly TestedFile[], rerun: readonly TestedFile[]): Counts {
  const again = new Map(rerun.map((file) => [file.name, file]));
  const last = tested.map((file) => again.get(file.name) ?? file);
  const options = {
    command: `SEED=${SEED} ${FORM === 'long' ? 'npm run test:long --' : 'npm test --'}`,
    logsOf: (file: string) => {
      const logs = join(LOGS, file);
      return existsSync(logs) ? relative(process.cwd(), logs) : undefined;
    },
  };
  for (const line of failures(last, options)) print(line);
  const unsteady = tested.filter(
    ({ name, status }) => status === 'failed' && again.get(name)?.status === 'passed',
  );
  for (const line of failures(unsteady, options)) print(line.replace(/^FAILED/, 'FAILED ONCE'));
  for (const { name } of unsteady) print(`UNSTEADY ${name}`);
  const unverified = FORM === 'all' && WANTED.length === 0 ? unverifiedRequirements(last, REQUIREMENTS) : [];
  for (const each of unverified) print(`No test that ran and passed verifies ${each}`);
  const { failed, ...counted } = counts(last);
  return { ...counted, failed: failed + unverified.length };
}

/**
 * Adds the durations of this run to those of earlier runs, so that running one file keeps the durations of the others.
 */
function noteDurations(tested: readonly TestedFile[]): void {
  const seen = durations(DURATIONS);
  for (const file of tested) {
    if (file.status === 'passed') seen.set(file.name, Math.round(10 * secondsOf(file)) / 10);
  }
  const sorted = [...seen].toSorted(([one], [other]) => (one < other ? -1 : 1));
  writeFileSync(DURATIONS, `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`);
}

interface JestRun {
  /** The number of files that run in parallel. */
  readonly workers: number;
  readonly services: Services | undefined;
  /** The URL at which test files ask for a shared service. */
  readonly shared: string;
  readonly signal: AbortSignal;
  /** The folder for the output of processes of failed files. */
  readonly logs: string;
}

/** Runs Jest on this terminal for these files. @returns Jest's report for each file */
async function runJest(
  files: readonly TestFile[],
  { workers, services, shared, signal, logs }: JestRun,
): Promise<TestedFile[]> {
  const reportFile = join(STATE_DIR, 'jest.json');
  rmSync(reportFile, { force: true });
  // A failed file may leave connections open, and they must not keep the run from ending.
  const options = [
    '--json',
    `--outputFile=${reportFile}`,
    '--testLocationInResults',
    '--forceExit',
    `--seed=${SEED}`,
  ];
  const paths = files.map(({ path }) => path);
  const jest = startProcess(
    'jest',
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      JEST,
      `--maxWorkers=${workers}`,
      ...options,
      ...JEST_OPTIONS,
      '--runTestsByPath',
      ...paths,
    ],
    {
      ownsTerminal: true,
      stopsGroup: true,
      env: {
        ...process.env,
        ...(services && { OPENSEARCH_URL: services.opensearch, REDIS_URL: services.redis }),
        NODE_ENV: 'test',
        SEED,
        TEST_LOGS: logs,
        [SERVICES_VARIABLE]: shared,
        ...(FORM === 'long' && { LONG: '1' }),
      },
    },
  );
  try {
    const lost = await Promise.race([
      jest.ended.then(() => undefined),
      ...(services === undefined ? [] : [services.lost]),
      aborted(signal),
    ]);
    if (lost !== undefined) throw new StartError(lost);
    const tested = readReport(reportFile);
    if (tested.length < files.length)
      throw new StartError(`Jest ended (${await jest.ended}) before all files.`);
    return tested;
  } finally {
    await jest.stop(JEST_STOP_MS);
  }
}

await runCommand(async (signal) => {
  const { passed, failed, skipped } = await test(signal);
  print(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  return failed > 0 || passed === 0 ? 1 : 0;
});
