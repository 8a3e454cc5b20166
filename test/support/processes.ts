import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const ROOT = resolve(import.meta.dirname, '../..');

/** What every process of a test starts with; Node keeps what it compiled, so that the next starts sooner. */
const ENVIRONMENT = {
  PATH: process.env.PATH ?? '',
  HOME: process.env.HOME ?? '',
  NODE_COMPILE_CACHE: resolve(ROOT, '.local/compile-cache'),
};

/** A process of this service, with what it has printed. */
export interface RunningProcess {
  readonly child: ChildProcess;
  output(): string;
  /** Waits until it has printed this. @throws {Error} with its output when it ends or 30 seconds pass first */
  printed(text: string): Promise<void>;
  /** Asks it to stop and waits until it has. */
  stop(): Promise<void>;
}

/** Under load, a process may print more than a string can hold. */
const MOST_OUTPUT = 8_000_000;

/** Starts a script of the checkout under the node that runs the tests. */
export function startProcess(script: string, variables: Record<string, string>): RunningProcess {
  const child = spawn(process.execPath, [resolve(ROOT, script)], {
    cwd: ROOT,
    env: { ...ENVIRONMENT, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      output = (output + text).slice(-MOST_OUTPUT);
    });
  }

  async function printed(text: string): Promise<void> {
    const deadline = Date.now() + 30_000;
    while (!output.includes(text)) {
      if (child.exitCode !== null || Date.now() > deadline) {
        throw new Error(`${script} did not print "${text}":\n${output}`);
      }
      await sleep(20);
    }
  }

  async function stop(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }
  return { child, output: () => output, printed, stop };
}

/** The API process, once it listens. */
export async function startApi(variables: Record<string, string>): Promise<RunningProcess> {
  const api = startProcess('src/server.ts', variables);
  await api.printed('API ready');
  return api;
}

/** The worker process, once it takes jobs. */
export async function startWorker(variables: Record<string, string>): Promise<RunningProcess> {
  const worker = startProcess('workers/main.ts', variables);
  await worker.printed('worker ready');
  return worker;
}

/** How a command of `npx licenses` ended. */
export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** No command takes as long; one that waits for a worker that a failed test has stopped would wait for ever. */
const COMMAND_ENDS_WITHIN_MS = 150_000;

/** Runs `licenses` with these arguments to its end. */
export async function licenses(
  variables: Record<string, string>,
  ...parameters: string[]
): Promise<CommandResult> {
  const child = spawn(process.execPath, [resolve(ROOT, 'src/cli/main.ts'), ...parameters], {
    cwd: ROOT,
    env: { ...ENVIRONMENT, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: COMMAND_ENDS_WITHIN_MS,
    killSignal: 'SIGKILL',
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  await once(child, 'close');
  return { code: child.exitCode, stdout, stderr };
}
