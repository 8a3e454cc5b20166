import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { readConfig } from '../../src/config.ts';

const REQUIREMENTS = resolve(import.meta.dirname, '../python/requirements.txt');

/** What the requirements themselves need. */
const OLDEST = { major: 3, minor: 11 };

const INSTALLED_WITHIN_MS = 300_000;

/** Prints the version, the machine, and whether there is a pip. */
const ABOUT = `
import importlib.util, json, sys, sysconfig
print(json.dumps({
    "version": sys.version_info[:2],
    "platform": sysconfig.get_platform(),
    "pip": importlib.util.find_spec("pip") is not None,
}))
`;

const about = z.object({
  version: z.tuple([z.number(), z.number()]),
  platform: z.string(),
  pip: z.boolean(),
});

type Python = z.output<typeof about>;

/** How a Python program ended; all that it printed, in the order in which it came. */
export interface PythonResult {
  readonly code: number | null;
  readonly output: string;
}

function found(): Python | undefined {
  const { status, stdout } = spawnSync('python3', ['-c', ABOUT], { encoding: 'utf8' });
  return status === 0 ? about.parse(JSON.parse(stdout)) : undefined;
}

const python = found();

/** Why this machine can't run the requirements; `undefined` where it can. */
export function pythonIsMissing(): string | undefined {
  if (python === undefined) return 'there is no python3';
  const [major, minor] = python.version;
  if (major !== OLDEST.major || minor < OLDEST.minor) {
    return `python3 is ${major}.${minor}, not ${OLDEST.major}.${OLDEST.minor} or later`;
  }
  return python.pip ? undefined : 'python3 has no pip';
}

/**
 * Installs test/python/requirements.txt into a folder under STATE_DIR, unless it is there. Wheels are made for
 * one version of Python and one kind of machine, so each has its own.
 *
 * @returns the folder, which `runPython` takes
 * @throws {Error} with what pip printed
 */
export async function installedRequirements(): Promise<string> {
  const missing = pythonIsMissing();
  if (missing !== undefined) throw new Error(`The requirements can not be installed: ${missing}.`);
  const hash = createHash('sha256').update(await readFile(REQUIREMENTS));
  const name = hash.update(JSON.stringify(python)).digest('hex').slice(0, 12);
  const stateDir = resolve(readConfig().STATE_DIR);
  const folder = join(stateDir, `python-${name}`);
  if (existsSync(folder)) return folder;

  await mkdir(stateDir, { recursive: true });
  const temporary = await mkdtemp(`${folder}-`);
  try {
    await install(temporary);
    await rename(temporary, folder);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    // Another test file may have been first.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

/** Only wheels: what pip would need for building one is not pinned. */
async function install(folder: string): Promise<void> {
  const options = ['--require-hashes', '--only-binary=:all:', '--no-cache-dir', '--no-input', '--quiet'];
  const { code, output } = await run(
    ['-m', 'pip', 'install', ...options, '--target', folder, '-r', REQUIREMENTS],
    { PIP_DISABLE_PIP_VERSION_CHECK: '1', PIP_ROOT_USER_ACTION: 'ignore' },
    { cwd: folder, withinMs: INSTALLED_WITHIN_MS },
  );
  if (code !== 0) throw new Error(`pip could not install ${REQUIREMENTS}:\n${output}`);
}

interface RunOptions {
  readonly cwd: string;
  /** After so many milliseconds it is killed. */
  readonly withinMs: number;
}

/** Runs a module of the installed requirements (`python3 -m`) to its end. */
export function runPython(
  installed: string,
  [module, ...parameters]: readonly [module: string, ...parameters: string[]],
  options: RunOptions,
): Promise<PythonResult> {
  return run(['-m', module, ...parameters], { PYTHONPATH: installed, PYTHONNOUSERSITE: '1' }, options);
}

async function run(
  parameters: readonly string[],
  environment: Record<string, string>,
  { cwd, withinMs }: RunOptions,
): Promise<PythonResult> {
  const child = spawn('python3', parameters, {
    cwd,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: withinMs,
    killSignal: 'SIGKILL',
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  await once(child, 'close');
  return { code: child.exitCode, output };
}
