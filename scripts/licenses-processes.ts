import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CommandResult, runProgram } from './programs.ts';

const ROOT = resolve(import.meta.dirname, '..');

/** What every process of a test starts with; Node keeps what it compiled, so that the next starts sooner. */
const ENVIRONMENT = {
  PATH: process.env.PATH ?? '',
  HOME: process.env.HOME ?? '',
  NODE_COMPILE_CACHE: resolve(ROOT, '.local/compile-cache'),
};

/** Far above what a start takes, for machines that do much else. */
const PRINTED_WITHIN_MS = 120_000;

/** A process of this service, with what it has printed. */
export interface RunningProcess {
  readonly child: ChildProcess;
  output(): string;
  /** Waits until it has printed this. @throws {Error} with its output when it ends or two minutes pass first */
  printed(text: string): Promise<void>;
  /** Asks it to stop and waits until it has. */
  stop(): Promise<void>;
  /** Kills it (SIGKILL) and waits until it has gone. @throws {Error} when it had ended before */
  kill(): Promise<void>;
}

/** Under load, a process may print more than a string can hold: of what it printed, so much is kept. */
const MAX_OUTPUT = 8_000_000;

/** Starts a script of the checkout under the node that runs the tests. */
export function startProcess(
  script: string,
  variables: Record<string, string>,
  ...parameters: string[]
): RunningProcess {
  const child = spawn(process.execPath, [resolve(ROOT, script), ...parameters], {
    cwd: ROOT,
    env: { ...ENVIRONMENT, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // Joined only when it is asked for: to cut one long string at each piece took a third of a core in benches.
  const pieces: string[] = [];
  let kept = 0;
  const output = () => pieces.join('');
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      pieces.push(text);
      kept += text.length;
      while (kept > MAX_OUTPUT) kept -= pieces.shift()?.length ?? 0;
    });
  }

  async function printed(text: string): Promise<void> {
    const deadline = Date.now() + PRINTED_WITHIN_MS;
    while (!output().includes(text)) {
      if (child.exitCode !== null || Date.now() > deadline) {
        throw new Error(`${script} did not print "${text}":\n${output()}`);
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

  async function kill(): Promise<void> {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    if (child.signalCode !== 'SIGKILL') throw new Error(`${script} had ended before it was killed.`);
  }
  return { child, output, printed, stop, kill };
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

/** Runs `licenses` with these arguments to its end. */
export function licenses(variables: Record<string, string>, ...parameters: string[]): Promise<CommandResult> {
  return runProgram([process.execPath, resolve(ROOT, 'src/cli/main.ts'), ...parameters], {
    cwd: ROOT,
    variables: { ...ENVIRONMENT, ...variables },
  });
}
