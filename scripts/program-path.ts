import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where a program is, looked for in the folders of PATH; `undefined` where this machine has none. */
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

/** Whether `setpriv` (util-linux) is there to change a process's user. */
export const HAS_SETPRIV = process.platform === 'linux' && isInstalled('setpriv');

/** Whether this process may do all that the administrator may. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}
