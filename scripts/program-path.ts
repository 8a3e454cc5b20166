import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The path of a program in the folders of PATH; `undefined` if it is not installed. */
export function programPath(name: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

/** Whether a program can be found in PATH. */
export function isInstalled(name: string): boolean {
  return programPath(name) !== undefined;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Whether `setpriv` (util-linux) is available to change a process's user. */
export const HAS_SETPRIV = process.platform === 'linux' && isInstalled('setpriv');

/** Whether this process has the rights of root. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}
