import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { type CommandResult, runProgram } from '../../scripts/processes.ts';
import { installedFolder } from './installed-folder.ts';

const INSTALLED_WITHIN_MS = 300_000;

/** Prints what wheels are made for. It fails where Python is older than the requirements need, or has no pip. */
const ABOUT = `
import json, pip, sys, sysconfig
assert sys.version_info >= (3, 11)
about = {"version": sys.version_info[:2], "platform": sysconfig.get_platform(), "pip": True}
print(json.dumps(about, separators=(",", ":")), end="")
`;

const python = spawnSync('python3', ['-c', ABOUT], { encoding: 'utf8' });

/** Why this machine can't run Python with installed requirements; `undefined` where it can. */
export const NO_PYTHON =
  python.status === 0
    ? undefined
    : 'python3 of 3.11 or later with pip is missing; install it (Debian: apt-get install python3 python3-pip)';

/**
 * Installs a file of requirements into a folder under STATE_DIR, unless it is there. Wheels are made for one
 * version of Python and one kind of machine, so each has its own.
 *
 * @param requirements the path of the file, which pins everything by its hashes
 * @returns the folder, which `runPython` takes
 * @throws {Error} with what pip printed
 */
export async function installedRequirements(requirements: string): Promise<string> {
  const contents = [await readFile(requirements, 'utf8'), python.stdout];
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

/**
 * Runs Python to its end. It imports what is in this folder, and not what a user has installed.
 *
 * @param parameters a file, or `-m` and a module, and what that takes
 * @param options.variables set for it besides those of this process
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
