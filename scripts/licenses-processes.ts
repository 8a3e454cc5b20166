import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { Config } from '../src/config.ts';
import { type ProcessOptions, type RunningProcess, startProcess, waitUntilReady } from './processes.ts';
import { type CommandResult, runProgram } from './programs.ts';

const ROOT = resolve(import.meta.dirname, '..');

/** What tests and benches start processes with; Node keeps what it compiled, so that the next starts sooner. */
const ENVIRONMENT = {
  PATH: process.env.PATH ?? '',
  HOME: process.env.HOME ?? '',
  NODE_COMPILE_CACHE: resolve(ROOT, '.local/compile-cache'),
};

/** The programs of the checkout. */
export const SCRIPTS = {
  API: 'src/server.ts',
  worker: 'workers/main.ts',
  licenses: 'src/cli/main.ts',
} as const;

const READY_MS = 60_000;
const ANSWER_MS = 2_000;
const WARN = 40;

/** Starts a script of the checkout under this Node, with these settings and no others. */
export function startScript(
  script: string,
  variables: Record<string, string>,
  ...parameters: string[]
): RunningProcess {
  const env = { ...ENVIRONMENT, ...variables };
  return startProcess(script, process.execPath, [resolve(ROOT, script), ...parameters], { cwd: ROOT, env });
}

/** The API process with these settings, once it listens. */
export async function startApi(variables: Record<string, string>): Promise<RunningProcess> {
  const api = startScript(SCRIPTS.API, variables);
  await api.printed('API ready');
  return api;
}

/** The worker process with these settings, once it takes jobs. */
export async function startWorker(variables: Record<string, string>): Promise<RunningProcess> {
  const worker = startScript(SCRIPTS.worker, variables);
  await worker.printed('worker ready');
  return worker;
}

/** Runs `licenses` with these settings and arguments to its end. */
export function licenses(variables: Record<string, string>, ...parameters: string[]): Promise<CommandResult> {
  return runProgram([process.execPath, resolve(ROOT, SCRIPTS.licenses), ...parameters], {
    cwd: ROOT,
    variables: { ...ENVIRONMENT, ...variables },
  });
}

/**
 * Starts the API or the worker for `npm start`. Its whole output goes to a log file, its warnings and errors to the
 * terminal too.
 */
export function startLogged(
  name: 'API' | 'worker',
  { config, env, show }: { config: Config; env: NodeJS.ProcessEnv; show: (line: string) => void },
): RunningProcess {
  const options: ProcessOptions = {
    env,
    logFile: join(resolve(config.STATE_DIR), 'logs', `${name.toLowerCase()}.log`),
    onLine: (line) => {
      const shown = warningIn(line);
      if (shown !== undefined) show(`${name}: ${shown}`);
    },
  };
  return startProcess(name, process.execPath, [resolve(ROOT, SCRIPTS[name])], options);
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
