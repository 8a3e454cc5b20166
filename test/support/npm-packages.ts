import { copyFile, readFile } from 'node:fs/promises';
import { basename, delimiter, join } from 'node:path';
import { runProgram } from '../../scripts/processes.ts';
import { installedFolder } from './installed-folder.ts';

const PACKAGE_FILES = ['package.json', 'package-lock.json', '.npmrc'];

/** What differs from machine to machine is chosen by npm. */
const MACHINE = `${process.platform} ${process.arch}`;

const INSTALLED_WITHIN_MS = 280_000;

/**
 * Installs the packages of a folder of this checkout into one under STATE_DIR, unless they are there. Their scripts
 * are not run.
 *
 * @param packages the folder that has package.json and its lock
 * @returns the folder that has their `node_modules`
 * @throws {Error} with what npm printed
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

/** Without what npm scripts put there: by another Node than the machine's own, npm does not find its settings. */
function machinePath(): string {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.filter((folder) => !folder.includes('node_modules')).join(delimiter);
}
