import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { withoutPartEnding } from './whole-file.ts';

const fileError = z.object({ code: z.string(), path: z.string().optional(), syscall: z.string() });

/**
 * What is wrong with a file or a folder.
 *
 * @returns a sentence for the operator; `undefined` for an error that is not one of the file system
 */
export function fileTrouble(error: unknown): string | undefined {
  const { data } = fileError.safeParse(error);
  const { code, path } = data ?? {};
  const named = path === undefined ? 'one of the files' : JSON.stringify(withoutPartEnding(path));
  switch (code) {
    case 'ENOENT':
      if (path === undefined) return undefined;
      return existsSync(dirname(path))
        ? `There is no file ${named}.`
        : `There is no folder ${JSON.stringify(dirname(path))} for the file ${named}.`;
    case 'EISDIR':
      return `A folder is given for ${named}; give a file.`;
    case 'ENOTDIR':
      return `${named} can't be in a file; give a folder.`;
    case 'EACCES':
    case 'EPERM':
      return path && `The user of this process has no permission for ${named}.`;
    case 'EROFS':
      return `The file system of ${named} is read-only.`;
    case 'ENOSPC':
      return `The disk of ${named} is full.`;
    default:
      return undefined;
  }
}
