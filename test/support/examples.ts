import { cp, symlink } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { expect } from '@jest/globals';
import { runProgram } from '../../scripts/processes.ts';
import { installedPackages } from './npm-packages.ts';
import { NO_PYTHON } from './python.ts';

export const EXAMPLES = resolve(import.meta.dirname, '../../examples');

/** Runs npm in a folder, and expects success. */
export async function npm(folder: string, ...parameters: string[]): Promise<void> {
  const { code, stdout, stderr } = await runProgram(['npm', ...parameters], {
    cwd: folder,
    variables: process.env,
  });
  expect([code, code === 0 ? '' : stdout + stderr]).toEqual([0, '']);
}

/** Copies the TypeScript example to a folder with its dependencies, which are installed once for all test files. */
export async function installTypescriptExample(folder: string): Promise<void> {
  const example = resolve(EXAMPLES, 'typescript');
  await cp(example, folder, { recursive: true, filter: (path) => basename(path) !== 'node_modules' });
  const installed = await installedPackages(example);
  await symlink(join(installed, 'node_modules'), join(folder, 'node_modules'));
}

/** Returns these programs if Python can run them, else none. @throws {Error} with CI=true, if Python cannot run them */
export function inPython<Program>(...programs: readonly Program[]): readonly Program[] {
  if (NO_PYTHON === undefined) return programs;
  if (process.env.CI === 'true') throw new Error(`With CI=true nothing is skipped: ${NO_PYTHON}.`);
  return [];
}
