import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readConfig } from '../src/config.ts';
import { openSearchNodes } from '../src/storage/errors.ts';
import { REQUIREMENTS } from '../test/requirements.ts';
import { aborted, runCommand } from './interrupts.ts';
import { print, type RunningProcess, StartError, startProcess } from './processes.ts';
import { startServices } from './services.ts';
import { testReport, unverifiedRequirements } from './test-report.ts';

/** `all` is every test, as in CI. Without arguments, those of `npm run test:faults` are left out. */
const ARGUMENTS = process.argv.slice(2);
const RUNS_EVERY_TEST = ARGUMENTS[0] === 'all';
const JEST_ARGUMENTS = RUNS_EVERY_TEST ? ARGUMENTS.slice(1) : ARGUMENTS;
const IS_LONG_FORM = process.env.FAULTS === 'full';

/** Unit tests alone need neither OpenSearch nor Redis. */
const UNIT_TESTS = /^test\/unit(\/|$)/;
const NEEDS_SERVERS = JEST_ARGUMENTS.length === 0 || !JEST_ARGUMENTS.every((path) => UNIT_TESTS.test(path));

/**
 * Test files at a time. Most tests wait: three files took four fifths of the time of two, on two cores. Fault tests
 * measure time, so nothing runs beside them.
 */
const JEST_WORKERS = IS_LONG_FORM ? 1 : 3;

const JEST = 'node_modules/jest/bin/jest.js';
const JEST_STOP_MS = 10_000;
const NODE_OPTIONS = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];

/** This machine's own addresses: tests write and delete, so they run against no others. */
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

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

function countsIn(reportFile: string): Counts {
  if (!existsSync(reportFile)) return { passed: 0, failed: 0, skipped: 0 };
  const report = testReport.parse(JSON.parse(readFileSync(reportFile, 'utf8')));
  const unverified = RUNS_EVERY_TEST ? unverifiedRequirements(report, REQUIREMENTS) : [];
  for (const each of unverified) print(`No test that ran and passed verifies ${each}`);
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + report.numRuntimeErrorTestSuites + unverified.length,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

async function test(signal: AbortSignal): Promise<Counts> {
  refuseOtherMachines();
  const stateDir = resolve(readConfig().STATE_DIR);
  const reportFile = join(stateDir, 'jest.json');
  const services = NEEDS_SERVERS ? await startServices({ signal, isShortLived: true }) : undefined;
  mkdirSync(stateDir, { recursive: true });
  rmSync(reportFile, { force: true });
  const addresses = services && { OPENSEARCH_URL: services.opensearch, REDIS_URL: services.redis };
  const jest = startJest(reportFile, addresses);
  try {
    const lost = await Promise.race([
      jest.ended.then(() => undefined),
      ...(services === undefined ? [] : [services.lost]),
      aborted(signal),
    ]);
    if (lost !== undefined) throw new StartError(lost);
    return countsIn(reportFile);
  } finally {
    await jest.stop(JEST_STOP_MS);
    await services?.stop();
  }
}

/** Runs jest on this terminal, with the arguments that this was called with. */
function startJest(reportFile: string, addresses: NodeJS.ProcessEnv | undefined): RunningProcess {
  const args = [
    ...NODE_OPTIONS,
    JEST,
    `--maxWorkers=${JEST_WORKERS}`,
    '--json',
    `--outputFile=${reportFile}`,
  ];
  return startProcess('jest', process.execPath, [...args, ...JEST_ARGUMENTS], {
    ownsTerminal: true,
    stopsGroup: true,
    env: {
      ...process.env,
      ...addresses,
      NODE_ENV: 'test',
      ...(ARGUMENTS.length === 0 && { LEAVE_OUT: '<rootDir>/test/(faults|browser)/' }),
    },
  });
}

await runCommand(async (signal) => {
  const { passed, failed, skipped } = await test(signal);
  print(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  return failed > 0 || passed === 0 ? 1 : 0;
});
