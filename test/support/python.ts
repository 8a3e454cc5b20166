import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { type CommandResult, runProgram } from '../../scripts/processes.ts';
import { installedFolder } from './installed-folder.ts';

/** What the requirements themselves need. */
const OLDEST = { major: 3, minor: 11 };

const INSTALL = `install Python ${OLDEST.major}.${OLDEST.minor} or later with pip (Debian: apt-get install python3 python3-pip)`;

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

function found(): Python | undefined {
  const { status, stdout } = spawnSync('python3', ['-c', ABOUT], { encoding: 'utf8' });
  return status === 0 ? about.parse(JSON.parse(stdout)) : undefined;
}

const python = found();

/** Why this machine can't run the requirements, and what to install; `undefined` where it can. */
export function pythonIsMissing(): string | undefined {
  if (python === undefined) return `python3 is missing; ${INSTALL}`;
  const [major, minor] = python.version;
  if (major !== OLDEST.major || minor < OLDEST.minor) {
    return `python3 is ${major}.${minor}, not ${OLDEST.major}.${OLDEST.minor} or later; ${INSTALL}`;
  }
  return python.pip ? undefined : `python3 has no pip; ${INSTALL}`;
}

/**
 * Installs a file of requirements into a folder under STATE_DIR, unless it is there. Wheels are made for one
 * version of Python and one kind of machine, so each has its own.
 *
 * @param requirements the path of the file, which pins everything by its hashes
 * @returns the folder, which `runPython` and `runPythonFile` take
 * @throws {Error} with what pip printed
 */
export async function installedRequirements(requirements: string): Promise<string> {
  const missing = pythonIsMissing();
  if (missing !== undefined) throw new Error(`The requirements can not be installed: ${missing}.`);
  const contents = [await readFile(requirements, 'utf8'), JSON.stringify(python)];
  return installedFolder('python', contents, (folder) => install(requirements, folder));
}

/** Only wheels: what pip would need for building one is not pinned. All that is needed is, so nothing is sought. */
async function install(requirements: string, folder: string): Promise<void> {
  const options = ['--require-hashes', '--only-binary=:all:', '--no-deps', '--no-compile'];
  const manner = ['--no-cache-dir', '--no-input', '--quiet'];
  const { code, output } = await runProgram(
    ['python3', '-m', 'pip', 'install', ...options, ...manner, '--target', folder, '-r', requirements],
    {
      variables: { ...process.env, PIP_DISABLE_PIP_VERSION_CHECK: '1', PIP_ROOT_USER_ACTION: 'ignore' },
      cwd: folder,
      withinMs: INSTALLED_WITHIN_MS,
    },
  );
  if (code !== 0) throw new Error(`pip could not install ${requirements}:\n${output}`);
}

interface RunOptions {
  readonly cwd: string;
  /** After so many milliseconds it is killed. */
  readonly withinMs: number;
  /** Set for it besides those of this process. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** Runs a module of the installed requirements (`python3 -m`) to its end. */
export function runPython(
  installed: string,
  [module, ...parameters]: readonly [module: string, ...parameters: string[]],
  { variables, ...options }: RunOptions,
): Promise<CommandResult> {
  return runProgram(['python3', '-m', module, ...parameters], {
    ...options,
    variables: { ...process.env, ...onlyFrom(installed), ...variables },
  });
}

/** Runs a file that imports installed requirements to its end. */
export function runPythonFile(
  installed: string,
  [file, ...parameters]: readonly [file: string, ...parameters: string[]],
  input: string,
): Promise<CommandResult> {
  return runProgram(['python3', file, ...parameters], { variables: onlyFrom(installed), input });
}

/** The variables with which Python imports what is in this folder, and not what a user has installed. */
function onlyFrom(installed: string): Record<string, string> {
  return { PYTHONPATH: installed, PYTHONNOUSERSITE: '1' };
}
