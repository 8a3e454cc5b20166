import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Far more than any program of a test takes, also on a busy machine. */
const ENDS_WITHIN_MS = 280_000;

/** Where a program is, looked for in the folders of PATH; `undefined` where this machine has none. */
export function programPath(name: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** How a program ended. */
export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface ProgramOptions {
  readonly cwd?: string;
  /** Beside these it has only PATH and HOME. */
  readonly variables?: NodeJS.ProcessEnv;
  /** What it reads from standard input. */
  readonly input?: string;
  /** After so many milliseconds it is killed. */
  readonly withinMs?: number;
}

/** Runs a program to its end, as a user's shell would. */
export async function runProgram(
  [command, ...parameters]: readonly [command: string, ...parameters: string[]],
  { cwd, variables = {}, input = '', withinMs = ENDS_WITHIN_MS }: ProgramOptions = {},
): Promise<CommandResult> {
  const child = spawn(command, parameters, {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...variables },
    timeout: withinMs,
    killSignal: 'SIGKILL',
    ...(cwd === undefined ? {} : { cwd }),
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  // One that ends early does not read what it is sent.
  child.stdin.on('error', () => undefined).end(input);
  await once(child, 'close');
  return { code: child.exitCode, stdout, stderr };
}
