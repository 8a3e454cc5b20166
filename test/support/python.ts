import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { type CommandResult, runProgram } from '../../scripts/processes.ts';
import { installedFolder } from './installed-folder.ts';

const INSTALLED_WITHIN_MS = 300_000;

/**
 * Prints the Python version and platform for which wheels are made. Fails if Python is older than the requirements
 * need, or has no pip.
 */
const ABOUT = `
import json, pip, sys, sysconfig
assert sys.version_info >= (3, 11)
about = {"version": sys.version_info[:2], "platform": sysconfig.get_platform(), "pip": True}
print(json.dumps(about, separators=(",", ":")), end="")
`;

const python = spawnSync('python3', ['-c', ABOUT], { encoding: 'utf8' });

/** The reason why this machine cannot run Python with installed requirements; `undefined` if it can. */
export const NO_PYTHON =
  python.status === 0
    ? undefined
    : 'python3 of 3.11 or later with pip is missing; install it (Debian: apt-get install python3 python3-pip)';

/**
 * Installs a requirements file into a folder under STATE_DIR, unless it is installed. Wheels are specific to a version
 * of Python and a kind of machine, so each combination has its own folder.
 *
 * @param requirements the path of the file, which pins every package by its hashes
 * @returns the folder, for `runPython`
 * @throws {Error} with pip's output
 */
export async function installedRequirements(requirements: string): Promise<string> {
  const contents = [await readFile(requirements, 'utf8'), python.stdout];
  return installedFolder('python', contents, (folder) => install(requirements, folder));
}

/**
 * Installs only wheels, because build dependencies would not be pinned. The file lists every package, so dependencies
 * are not resolved.
 */
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

/**
 * Runs Python until it ends. Python imports the packages in this folder, but not those installed by the user.
 *
 * @param parameters a file, or `-m` and a module, followed by their arguments
 * @param options.variables additional environment variables
 */
export function runPython(
  installed: string,
  parameters: readonly string[],
  { variables, ...options }: Parameters<typeof runProgram>[1] = {},
): Promise<CommandResult> {
  const onlyInstalled = { PYTHONPATH: installed, PYTHONNOUSERSITE: '1' };
  return runProgram(['python3', ...parameters], {
    ...options,
    variables: { ...process.env, ...onlyInstalled, ...variables },
  });
}
