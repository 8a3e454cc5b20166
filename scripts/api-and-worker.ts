import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Config } from '../src/config.ts';
import { type RunningProcess, startProcess, waitUntilReady } from './processes.ts';

const READY_MS = 60_000;
const ANSWER_MS = 2_000;
const WARN = 40;

/** Starts the worker process. */
export function startWorker(
  config: Config,
  env: NodeJS.ProcessEnv,
  show: (line: string) => void,
): RunningProcess {
  return startOurs('worker', '../workers/main.ts', config, env, show);
}

/** Starts the API process; nothing stands in front of it that would have to notice when it stops. */
export function startApi(
  config: Config,
  env: NodeJS.ProcessEnv,
  show: (line: string) => void,
): RunningProcess {
  return startOurs('API', '../src/server.ts', config, { DRAIN_SECONDS: '0', ...env }, show);
}

/** Waits until the API process answers that it is up, or ready to serve a publication. */
export function waitForApi(
  api: RunningProcess,
  path: '/healthz' | '/readyz',
  config: Config,
  signal: AbortSignal,
): Promise<void> {
  return waitUntilOk(api, `${originOf(config.ADMIN_HOST, config.ADMIN_PORT)}${path}`, signal);
}

/** Waits until the worker process has created the indices and reaches OpenSearch and Redis. */
export function waitForWorker(worker: RunningProcess, config: Config, signal: AbortSignal): Promise<void> {
  return waitUntilOk(worker, `${originOf(config.ADMIN_HOST, config.WORKER_ADMIN_PORT)}/readyz`, signal);
}

async function waitUntilOk(process: RunningProcess, url: string, signal: AbortSignal): Promise<void> {
  const isReady = async () => {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => undefined);
    await response?.body?.cancel();
    return response?.ok === true;
  };
  await waitUntilReady(process, isReady, { deadlineMs: READY_MS, signal });
}

/** The address at which something that listens on this host and port is reached from this machine. */
export function originOf(host: string, port: number): string {
  if (host === '0.0.0.0' || host === '::') return `http://127.0.0.1:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Its whole output goes to a log file, its warnings and errors to the terminal too. */
function startOurs(
  name: string,
  program: string,
  config: Config,
  env: NodeJS.ProcessEnv,
  show: (line: string) => void,
): RunningProcess {
  return startProcess(name, process.execPath, [fileURLToPath(new URL(program, import.meta.url))], {
    env,
    logFile: join(resolve(config.STATE_DIR), 'logs', `${name.toLowerCase()}.log`),
    onLine: (line) => {
      const shown = warningIn(line);
      if (shown !== undefined) show(`${name}: ${shown}`);
    },
  });
}

const logLine = z.looseObject({ level: z.number(), msg: z.string() });

/** What a log line warns of; lines that are no log lines are shown as they are. */
function warningIn(line: string): string | undefined {
  try {
    const { level, msg, time, pid, hostname, name, ...rest } = logLine.parse(JSON.parse(line));
    if (level < WARN) return undefined;
    return Object.keys(rest).length === 0 ? msg : `${msg} ${JSON.stringify(rest)}`;
  } catch {
    return line;
  }
}
