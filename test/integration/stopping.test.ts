import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type TestEnvironment, testEnvironment } from '../support/environment.ts';
import { type RunningProcess, startApi } from '../support/processes.ts';
import { rawRequest } from '../support/raw-http.ts';

const ENDS_WITHIN_MS = 10_000;
/** Their log lines are more than a pipe holds. */
const MANY_REQUESTS = 4000;
const AT_ONCE = 100;

let environment: TestEnvironment;

beforeAll(async () => {
  environment = await testEnvironment();
});
afterAll(() => environment.cleanUp());

async function askedFor(count: number): Promise<void> {
  for (let at = 0; at < count; at += AT_ONCE) {
    await Promise.all(
      Array.from({ length: AT_ONCE }, () =>
        rawRequest({ port: environment.config.PORT, method: 'GET', path: '/' }),
      ),
    );
  }
}

/** How it ended after SIGTERM; a process that does not is killed. */
async function stopped({ child }: RunningProcess): Promise<{ code: number | null; ms: number }> {
  const begun = Date.now();
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const tooLate = setTimeout(() => child.kill('SIGKILL'), 2 * ENDS_WITHIN_MS);
  await ended;
  clearTimeout(tooLate);
  return { code: child.exitCode, ms: Date.now() - begun };
}

describe('an API process that is asked to stop ends', () => {
  test('with its last log line written', async () => {
    const api = await startApi(environment.variables);
    await askedFor(AT_ONCE);
    const { code, ms } = await stopped(api);
    expect(code).toBe(0);
    expect(ms).toBeLessThan(ENDS_WITHIN_MS);
    expect(api.output().match(/"msg":"request"/g)).toHaveLength(AT_ONCE);
    expect(api.output()).toContain('"msg":"stopping; still answering"');
  });

  test('when whoever read its log has gone', async () => {
    const api = await startApi(environment.variables);
    api.child.stdout?.destroy();
    const { code, ms } = await stopped(api);
    expect(code).toBe(0);
    expect(ms).toBeLessThan(ENDS_WITHIN_MS);
  });

  test('when nobody reads its log', async () => {
    const api = await startApi(environment.variables);
    api.child.stdout?.pause();
    await askedFor(MANY_REQUESTS);
    const { code, ms } = await stopped(api);
    expect(code).toBe(0);
    expect(ms).toBeLessThan(ENDS_WITHIN_MS);
  });
});
