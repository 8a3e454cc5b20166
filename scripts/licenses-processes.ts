import { join, resolve } from 'node:path';
import {
  type CommandResult,
  print,
  type RunningProcess,
  runProgram,
  startProcess,
  waitUntilReady,
} from './processes.ts';

const ROOT = resolve(import.meta.dirname, '..');

/**
 * The environment in which tests and benchmarks start processes. Node caches compiled code, so that later starts are
 * faster.
 */
const ENVIRONMENT = {
  PATH: process.env.PATH ?? '',
  HOME: process.env.HOME ?? '',
  NODE_COMPILE_CACHE: resolve(ROOT, '.local/compile-cache'),
};

/** The last commit of version 0.3.0, the starting point of upgrade tests. */
export const EARLIER_COMMIT = 'b18e83f';

/** The programs of the checkout. */
export const SCRIPTS = {
  API: 'src/server.ts',
  worker: 'workers/main.ts',
  licenses: 'src/cli/main.ts',
} as const;

const READY_MS = 60_000;
const ANSWER_MS = 2_000;

/** A log line with the level warning or above, or a line that is not from the log, such as a stack. */
const WARNING = /^(?!\{)|"level":[456]0\b/;

/** Starts a script of the checkout with the current Node and only these settings. */
export function startScript(
  script: string,
  variables: Record<string, string>,
  ...parameters: string[]
): RunningProcess {
  const env = { ...ENVIRONMENT, ...variables };
  return startProcess(script, process.execPath, [resolve(ROOT, script), ...parameters], { cwd: ROOT, env });
}

/** Starts the API process with these settings, and waits until it listens. */
export async function startApi(variables: Record<string, string>): Promise<RunningProcess> {
  const api = startScript(SCRIPTS.API, variables);
  await api.printed('API ready');
  return api;
}

/** Starts the worker process with these settings, and waits until it takes jobs. */
export async function startWorker(variables: Record<string, string>): Promise<RunningProcess> {
  const worker = startScript(SCRIPTS.worker, variables);
  await worker.printed('worker ready');
  return worker;
}

/** Runs `licenses` with these settings and arguments until it ends. */
export function licenses(variables: Record<string, string>, ...parameters: string[]): Promise<CommandResult> {
  return runProgram([process.execPath, resolve(ROOT, SCRIPTS.licenses), ...parameters], {
    cwd: ROOT,
    variables: { ...ENVIRONMENT, ...variables },
  });
}

/**
 * Starts the API or the worker for `npm start`. All its output goes to a log file; warnings and errors also go to the
 * terminal.
 */
export function startLogged(
  name: 'API' | 'worker',
  stateDir: string,
  env: NodeJS.ProcessEnv,
): RunningProcess {
  return startProcess(name, process.execPath, [resolve(ROOT, SCRIPTS[name])], {
    env,
    logFile: join(resolve(stateDir), 'logs', `${name.toLowerCase()}.log`),
    onLine: (line) => {
      if (WARNING.test(line)) print(`${name}: ${line}`);
    },
  });
}

/**
 * Waits until a process reports on its admin port that it is up (`/healthz`) or ready (`/readyz`). The worker is ready
 * when it has created the indices, the API when a publication is live.
 */
export async function waitForAnswer(
  process: RunningProcess,
  url: string,
  signal: AbortSignal,
): Promise<void> {
  const isReady = async () => {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => undefined);
    await response?.body?.cancel();
    return response?.ok === true;
  };
  await waitUntilReady(process, isReady, { deadlineMs: READY_MS, signal });
}

/** The URL at which this machine reaches a server that listens on this host and port. */
export function originOf(host: string, port: number): string {
  if (host === '0.0.0.0' || host === '::') return `http://127.0.0.1:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
