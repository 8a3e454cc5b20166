import { copyFile, readFile } from 'node:fs/promises';
import { basename, delimiter, join } from 'node:path';
import { runProgram } from '../../scripts/processes.ts';
import { installedFolder } from './installed-folder.ts';

const PACKAGE_FILES = ['package.json', 'package-lock.json', '.npmrc'];

/** npm chooses the files that differ from machine to machine. */
const MACHINE = `${process.platform} ${process.arch}`;

const INSTALLED_WITHIN_MS = 280_000;

/**
 * Installs the packages listed in a folder of this checkout into a folder under STATE_DIR, unless they are installed.
 * Their install scripts do not run.
 *
 * @param packages the folder with package.json and its lock file
 * @returns the folder that contains their `node_modules`
 * @throws {Error} with npm's output
 */
export async function installedPackages(packages: string): Promise<string> {
  const lock = await readFile(join(packages, 'package-lock.json'), 'utf8');
  return installedFolder(basename(packages), [lock, MACHINE], async (folder) => {
    for (const file of PACKAGE_FILES) await copyFile(join(packages, file), join(folder, file));
    const { code, stdout, stderr } = await runProgram(
      ['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund'],
      { cwd: folder, variables: { ...process.env, PATH: machinePath() }, withinMs: INSTALLED_WITHIN_MS },
    );
    if (code !== 0) throw new Error(`npm could not install ${packages}:\n${stdout}${stderr}`);
  });
}

/**
 * PATH without the entries that npm scripts add: under a different Node than the machine's own, npm does not find its
 * settings.
 */
function machinePath(): string {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.filter((folder) => !folder.includes('node_modules')).join(delimiter);
}
