/** @room lookups */

import { once } from 'node:events';
import { connect } from 'node:net';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { childrenOf } from '../../bench/usage.ts';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { startApi, startWorker } from '../../scripts/licenses-processes.ts';
import { freePort } from '../../scripts/ports.ts';
import type { RunningProcess } from '../../scripts/processes.ts';
import { readKeyUsage } from '../../src/access/usage.ts';
import { type ApiClient, apiClient } from '../support/api.ts';
import { inLongFormOnly } from '../support/fault-form.ts';
import { FIXTURES } from '../support/fixtures.ts';
import { filesOf, nurses } from '../support/publication-days.ts';
import { publishFiles } from '../support/publishing.ts';
import { rawRequest } from '../support/raw-http.ts';
import { valueAt } from '../support/series.ts';
import { installation, publish } from '../support/worker-installation.ts';

const FAULTS = { NODE_OPTIONS: `--import=${resolve(import.meta.dirname, '../support/injected-fault.ts')}` };
/** Far longer than stopping takes. */
const ENDS_WITHIN_MS = 60_000;
const LOOKUP = JSON.stringify({ board: 'Nursing Board', license_number: 'RN.700001' });

let environment: TestEnvironment;
let rest: ApiClient;
const running: RunningProcess[] = [];

beforeAll(async () => {
  environment = await testEnvironment({ LOG_LEVEL: 'info', WEB_REQUESTS_PER_MINUTE: '10000' });
  await publishFiles(environment, FIXTURES);
  rest = await apiClient(environment);
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.stop()));
});

async function faultyApi(): Promise<RunningProcess> {
  const api = await startApi({ ...environment.variables, ...FAULTS });
  running.push(api);
  return api;
}

const logLine = z.looseObject({ level: z.number(), msg: z.string(), stack: z.string().optional() });

/** The lines of the log with this message. */
function logged(of: RunningProcess, message: string) {
  return of
    .output()
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? logLine.parse(JSON.parse(line)) : []))
    .filter(({ msg }) => msg === message);
}

function getPage() {
  const { PORT: port } = environment.config;
  return rawRequest({ port, method: 'GET', path: '/', headers: { host: 'localhost' } });
}

describe('an API process', () => {
  test('goes on after an error in an event handler of one request, and says so in log and metrics', async () => {
    const api = await faultyApi();
    const { ADMIN_PORT } = environment.config;
    expect((await getPage()).status).toBe(200);
    expect((await rest.verify(JSON.parse(LOOKUP))).status).toBe(200);
    expect(await valueAt(ADMIN_PORT, 'licenses_uncaught_errors_total')).toBe(1);
    await api.printed('injected by a test, in an event handler');
    await api.printed('"msg":"request"');
    expect(api.child.exitCode).toBeNull();
  });

  test.each([
    ['a timer', 'SIGUSR2'],
    ['a promise', 'SIGALRM'],
  ] as const)('ends in order after an error in %s: it answers what is under way', async (where, signal) => {
    const api = await faultyApi();
    const { PORT } = environment.config;
    const socket = connect(PORT, '127.0.0.1');
    const answer = text(socket);
    socket.write(
      `POST /api/v1/lookup/verify HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${rest.key}\r\nExpect: 100-continue\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${LOOKUP.length}\r\n\r\n`,
    );
    const [first] = await once(socket, 'data');
    expect(String(first)).toContain('100 Continue');

    api.child.kill(signal);
    await api.printed(`injected by a test, in ${where}`);
    const late = await fetch(`http://127.0.0.1:${PORT}/`).then(
      ({ status }) => status,
      () => 'no connection',
    );
    expect(late).toBe('no connection');
    socket.write(LOOKUP);
    expect(await answer).toMatch(/HTTP\/1\.1 200 OK\r\n.*"license_number":"RN\.700001"/s);
    await api.ended;
    expect(api.child.exitCode).toBe(1);
    const [line] = logged(api, 'uncaught error; the process ends');
    expect(line).toMatchObject({ level: 60, stack: expect.stringContaining('injected-fault.ts') });
    expect(logged(api, 'request')).not.toEqual([]);
  });

  test('ends with exit code 1 when the error comes while it stops', async () => {
    const api = await startApi({ ...environment.variables, ...FAULTS, DRAIN_SECONDS: '60' });
    running.push(api);
    api.child.kill('SIGTERM');
    await api.printed('stopping; still answering');
    const { ADMIN_PORT } = environment.config;
    const ready = await rawRequest({ port: ADMIN_PORT, method: 'GET', path: '/readyz' });
    expect([ready.status, ready.body]).toEqual([503, expect.objectContaining({ stopping: true })]);
    expect((await rest.verify(JSON.parse(LOOKUP))).status).toBe(200);
    api.child.kill('SIGUSR2');
    await api.ended;
    expect(api.child.exitCode).toBe(1);
    expect(logged(api, 'uncaught error; the process ends')).toHaveLength(1);
  });

  inLongFormOnly(() => {
    test('ends with exit code 1 when nothing reads its log and the pipe is full', async () => {
      const api = await faultyApi();
      api.child.stdout?.pause();
      // Each writes a stack. Together they exceed the buffers of the pipe and of this process.
      await Promise.all(Array.from({ length: 800 }, getPage));
      const exited = once(api.child, 'exit');
      api.child.kill('SIGUSR2');
      const tooLate = setTimeout(() => api.child.kill('SIGKILL'), ENDS_WITHIN_MS);
      await exited;
      clearTimeout(tooLate);
      expect(api.child.exitCode).toBe(1);
      api.child.stdout?.resume();
      await api.ended;
      expect(logged(api, 'request failed')).not.toEqual([]);
      expect(logged(api, 'uncaught error; the process ends')).toEqual([]);
    });
  });

  test('ends with exit code 1 and says so when it can not stop in order', async () => {
    const api = await startApi({ ...environment.variables, ...FAULTS, DRAIN_SECONDS: '0' });
    running.push(api);
    api.child.kill('SIGHUP');
    api.child.kill('SIGTERM');
    await api.ended;
    expect(api.child.exitCode).toBe(1);
    const message = 'API not stopped in order, as where a client keeps a connection busy; it ends';
    expect(logged(api, message)).toHaveLength(1);
  });
});

describe('an API process ends on SIGTERM', () => {
  /** Starts it, does this to its log, and asks it to stop. @returns its exit code; `null` where it had to be killed */
  async function exitCodeAfter(work: (api: RunningProcess) => unknown): Promise<number | null> {
    const api = await startApi(environment.variables);
    running.push(api);
    await work(api);
    const exited = once(api.child, 'exit');
    api.child.kill('SIGTERM');
    const tooLate = setTimeout(() => api.child.kill('SIGKILL'), ENDS_WITHIN_MS);
    await exited;
    clearTimeout(tooLate);
    api.child.stdout?.resume();
    await api.ended;
    return api.child.exitCode;
  }

  test('when the reader of its log has closed the pipe; it writes how often each key was used', async () => {
    const found = async () =>
      (await readKeyUsage(environment.store, '2000-01-01')).reduce(
        (sum, { counts }) => sum + (counts.found ?? 0),
        0,
      );
    const before = await found();
    const exitCode = await exitCodeAfter(async (api) => {
      expect((await rest.verify(JSON.parse(LOOKUP))).status).toBe(200);
      api.child.stdout?.destroy();
    });
    expect([exitCode, await found()]).toEqual([0, before + 1]);
  });

  test('when nothing reads its log and the pipe is full', async () => {
    const sendRequests = async (api: RunningProcess) => {
      api.child.stdout?.pause();
      // So many that their log lines exceed the buffer of a pipe.
      for (let at = 0; at < 20; at += 1) await Promise.all(Array.from({ length: 100 }, getPage));
    };
    expect(await exitCodeAfter(sendRequests)).toBe(0);
  });
});

describe('a worker', () => {
  test('ends in order, with exit code 1', async () => {
    const worker = await startWorker({ ...environment.variables, ...FAULTS });
    running.push(worker);
    worker.child.kill('SIGUSR2');
    await worker.ended;
    expect(worker.child.exitCode).toBe(1);
    const [line] = logged(worker, 'uncaught error; the process ends');
    expect(line).toMatchObject({ level: 60, stack: expect.stringContaining('in a timer') });
    expect(logged(worker, 'worker stopping')).toHaveLength(1);
  });

  inLongFormOnly(() => {
    test.each([
      ['its own', (worker: RunningProcess) => Promise.resolve([worker.child.pid ?? 0])],
      ['its child’s', (worker: RunningProcess) => childrenOf(worker.child.pid ?? 0)],
    ] as const)(
      'hands a publication back after an error in %s process, and it goes live',
      async (whose, processes) => {
        const installed = await installation();
        try {
          const files = await filesOf(installed.environment, '2026-11-20', { individual: nurses(3000) });
          const workerPort = await freePort();
          const worker = await installed.startWorker({ ...FAULTS, WORKER_ADMIN_PORT: String(workerPort) });
          const loading = installed.at(/_bulk/, async () => {
            for (const id of await processes(worker)) process.kill(id, 'SIGUSR2');
            await worker.printed('injected by a test, in a timer');
          });
          const publishing = publish(installed, files);
          await loading;
          if (whose === 'its own') {
            await worker.ended;
            expect(worker.child.exitCode).toBe(1);
            await installed.startWorker();
          }
          expect((await publishing).stdout).toContain('"state":"live"');
          if (whose !== 'its own') {
            expect(await valueAt(workerPort, 'licenses_uncaught_errors_total')).toBe(1);
            expect(logged(worker, 'uncaught error; the publication starts again')).toHaveLength(1);
            expect(worker.child.exitCode).toBeNull();
          }
        } finally {
          await installed.cleanUp();
        }
      },
    );
  });
});
