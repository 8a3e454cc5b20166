import { once } from 'node:events';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { startApi } from '../../scripts/licenses-processes.ts';
import type { RunningProcess } from '../../scripts/processes.ts';
import { rawRequest } from '../support/raw-http.ts';

/** Far longer than stopping takes. A process that has not ended by then never will. */
const ENDS_WITHIN_MS = 60_000;
/** Enough requests that their log lines exceed the buffer of a pipe. */
const MANY_REQUESTS = 4000;
const AT_ONCE = 100;

let environment: TestEnvironment;

beforeAll(async () => {
  environment = await testEnvironment();
});

async function sendRequests(count: number): Promise<void> {
  for (let at = 0; at < count; at += AT_ONCE) {
    await Promise.all(
      Array.from({ length: AT_ONCE }, () =>
        rawRequest({ port: environment.config.PORT, method: 'GET', path: '/' }),
      ),
    );
  }
}

/** The exit code after SIGTERM, once its output is read; `null` for a process that did not end and was killed. */
async function exitCodeOf({ child, ended }: RunningProcess): Promise<number | null> {
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const tooLate = setTimeout(() => child.kill('SIGKILL'), ENDS_WITHIN_MS);
  await exited;
  clearTimeout(tooLate);
  child.stdout?.resume();
  await ended;
  return child.exitCode;
}

describe('an API process ends on SIGTERM', () => {
  test('after writing its last log line', async () => {
    const api = await startApi(environment.variables);
    await sendRequests(AT_ONCE);
    expect(await exitCodeOf(api)).toBe(0);
    expect(api.output().match(/"msg":"request"/g)).toHaveLength(AT_ONCE);
    expect(api.output()).toContain('"msg":"stopping; still answering"');
  });

  test('when the reader of its log has closed the pipe', async () => {
    const api = await startApi(environment.variables);
    api.child.stdout?.destroy();
    expect(await exitCodeOf(api)).toBe(0);
  });

  test('when nothing reads its log and the pipe is full', async () => {
    const api = await startApi(environment.variables);
    api.child.stdout?.pause();
    await sendRequests(MANY_REQUESTS);
    expect(await exitCodeOf(api)).toBe(0);
  });
});
