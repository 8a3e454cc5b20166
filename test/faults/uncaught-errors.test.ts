/** @room lookups */

import { once } from 'node:events';
import { connect } from 'node:net';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { childrenOf } from '../../bench/usage.ts';
import { testEnvironment } from '../../scripts/environment.ts';
import { startApi, startWorker } from '../../scripts/licenses-processes.ts';
import { freePort } from '../../scripts/ports.ts';
import type { RunningProcess } from '../../scripts/processes.ts';
import { readKeyUsage } from '../../src/access/usage.ts';
import { apiClient } from '../support/api.ts';
import { inLongFormOnly } from '../support/fault-form.ts';
import { FIXTURES, times } from '../support/fixtures.ts';
import { filesOf, nurses } from '../support/publication-days.ts';
import { publishFiles } from '../support/publishing.ts';
import { rawRequest } from '../support/raw-http.ts';
import { valueAt } from '../support/series.ts';
import { installation, publish } from '../support/worker-installation.ts';

const FAULTS = { NODE_OPTIONS: `--import=${resolve(import.meta.dirname, '../support/injected-fault.ts')}` };
/** Far longer than stopping takes. */
const ENDS_WITHIN_MS = 60_000;
const LOOKUP = { board: 'Nursing Board', license_number: 'RN.700001' };
const ENDS = 'uncaught error; the process ends';

const running: RunningProcess[] = [];
const environment = await testEnvironment({ LOG_LEVEL: 'info', WEB_REQUESTS_PER_MINUTE: '10000' });
const { PORT, ADMIN_PORT } = environment.config;
await publishFiles(environment, FIXTURES);
const rest = await apiClient(environment);

// All APIs have one port.
afterEach(() => Promise.all(running.splice(0).map((each) => each.stop())));

async function faulty(start = startApi, settings: Record<string, string> = FAULTS): Promise<RunningProcess> {
  const process = await start({ ...environment.variables, ...settings });
  running.push(process);
  return process;
}

const logLine = z.looseObject({ level: z.number(), msg: z.string(), stack: z.string().optional() });

/** The lines of the log with this message. */
const logged = (of: RunningProcess, message: string) =>
  of
    .output()
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? logLine.parse(JSON.parse(line)) : []))
    .filter(({ msg }) => msg === message);

const getPage = () => rawRequest(PORT, '/', { headers: { host: 'localhost' } });

/** Sends it a signal while nothing may read its log. @returns its exit code; `null` where it had to be killed */
async function exitCodeAfter({ child, ended }: RunningProcess, signal: NodeJS.Signals) {
  const exited = once(child, 'exit');
  child.kill(signal);
  const tooLate = setTimeout(() => child.kill('SIGKILL'), ENDS_WITHIN_MS);
  await exited;
  clearTimeout(tooLate);
  child.stdout?.resume();
  await ended;
  return child.exitCode;
}

describe('an API process', () => {
  test('goes on after an error in an event handler of one request, and says so in log and metrics', async () => {
    const api = await faulty();
    expect([(await getPage()).status, (await rest.verify(LOOKUP)).status]).toEqual([200, 200]);
    expect(await valueAt(ADMIN_PORT, 'licenses_uncaught_errors_total')).toBe(1);
    await api.printed('injected by a test, in an event handler');
    await api.printed('"msg":"request"');
    expect(api.child.exitCode).toBeNull();
  });

  test.each([
    ['a timer', 'SIGUSR2'],
    ['a promise', 'SIGALRM'],
  ] as const)('ends in order after an error in %s: it answers what is under way', async (where, signal) => {
    const api = await faulty();
    const body = JSON.stringify(LOOKUP);
    const socket = connect(PORT, '127.0.0.1');
    const answer = text(socket);
    socket.write(
      `POST /api/v1/lookup/verify HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${rest.key}\r\nExpect: 100-continue\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    const [first] = await once(socket, 'data');
    expect(String(first)).toContain('100 Continue');

    api.child.kill(signal);
    await api.printed(`injected by a test, in ${where}`);
    await expect(fetch(`http://127.0.0.1:${PORT}/`)).rejects.toThrow('fetch failed');
    socket.write(body);
    expect(await answer).toMatch(/HTTP\/1\.1 200 OK\r\n.*"license_number":"RN\.700001"/s);
    await api.ended;
    expect(api.child.exitCode).toBe(1);
    const [line] = logged(api, ENDS);
    expect(line).toMatchObject({ level: 60, stack: expect.stringContaining('injected-fault.ts') });
    expect(logged(api, 'request')).not.toEqual([]);
  });

  test('ends with exit code 1 when the error comes while it stops', async () => {
    const api = await faulty(startApi, { ...FAULTS, DRAIN_SECONDS: '60' });
    api.child.kill('SIGTERM');
    await api.printed('stopping; still answering');
    const ready = await rawRequest(ADMIN_PORT, '/readyz');
    expect([ready.status, ready.body]).toEqual([503, expect.objectContaining({ stopping: true })]);
    expect((await rest.verify(LOOKUP)).status).toBe(200);
    expect(await exitCodeAfter(api, 'SIGUSR2')).toBe(1);
    expect(logged(api, ENDS)).toHaveLength(1);
  });

  inLongFormOnly(() => {
    test('ends with exit code 1 when nothing reads its log and the pipe is full', async () => {
      const api = await faulty();
      api.child.stdout?.pause();
      // Each writes a stack. Together they exceed the buffers of the pipe and of this process.
      await Promise.all(times(800, getPage));
      expect(await exitCodeAfter(api, 'SIGUSR2')).toBe(1);
      expect(logged(api, 'request failed')).not.toEqual([]);
      expect(logged(api, ENDS)).toEqual([]);
    });
  });

  test('ends with exit code 1 and says so when it can not stop in order', async () => {
    const api = await faulty();
    api.child.kill('SIGHUP');
    expect(await exitCodeAfter(api, 'SIGTERM')).toBe(1);
    const message = 'API not stopped in order, as where a client keeps a connection busy; it ends';
    expect(logged(api, message)).toHaveLength(1);
  });

  test('ends on SIGTERM when the reader of its log has closed the pipe; it writes how often each key was used', async () => {
    const found = async () => {
      const usage = await readKeyUsage(environment.store, '2000-01-01');
      return usage.reduce((sum, { counts }) => sum + (counts.found ?? 0), 0);
    };
    const before = await found();
    const api = await faulty(startApi, {});
    expect((await rest.verify(LOOKUP)).status).toBe(200);
    api.child.stdout?.destroy();
    expect([await exitCodeAfter(api, 'SIGTERM'), await found()]).toEqual([0, before + 1]);
  });

  test('ends on SIGTERM when nothing reads its log and the pipe is full', async () => {
    const api = await faulty(startApi, {});
    api.child.stdout?.pause();
    // So many that their log lines exceed the buffer of a pipe.
    for (let at = 0; at < 20; at += 1) await Promise.all(times(100, getPage));
    expect(await exitCodeAfter(api, 'SIGTERM')).toBe(0);
  });
});

describe('a worker', () => {
  test('ends in order, with exit code 1', async () => {
    const worker = await faulty(startWorker);
    expect(await exitCodeAfter(worker, 'SIGUSR2')).toBe(1);
    const [line] = logged(worker, ENDS);
    expect(line).toMatchObject({ level: 60, stack: expect.stringContaining('in a timer') });
    expect(logged(worker, 'worker stopping')).toHaveLength(1);
  });

  inLongFormOnly(() => {
    test.each(['its own', 'its child’s'])(
      'after an error in %s process hands its job back',
      async (whose) => {
        const installed = await installation();
        const isOwn = whose === 'its own';
        const files = await filesOf(installed.environment, '2026-11-20', { individual: nurses(3000) });
        const workerPort = await freePort();
        const worker = await installed.startWorker({ ...FAULTS, WORKER_ADMIN_PORT: String(workerPort) });
        const id = worker.child.pid ?? 0;
        const loading = installed.at(/_bulk/, async () => {
          for (const each of isOwn ? [id] : await childrenOf(id)) process.kill(each, 'SIGUSR2');
          await worker.printed('injected by a test, in a timer');
        });
        const publishing = publish(installed, files);
        await loading;
        if (isOwn) {
          await worker.ended;
          await installed.startWorker();
        }
        expect((await publishing).stdout).toContain('"state":"live"');
        expect(worker.child.exitCode).toBe(isOwn ? 1 : null);
        if (!isOwn) {
          expect(await valueAt(workerPort, 'licenses_uncaught_errors_total')).toBe(1);
          expect(logged(worker, 'uncaught error; the publication starts again')).toHaveLength(1);
        }
        await installed.stopWorkers();
      },
    );
  });
});
