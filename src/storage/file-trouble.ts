import { getSystemErrorMessage } from 'node:util';
import { z } from 'zod';
import { PART_ENDING } from './whole-file.ts';

/** Errors of reading a folder and of writing to a full disk have no path. */
const fileError = z.union([
  z.object({ errno: z.int(), path: z.string() }),
  z.object({ errno: z.int(), path: z.undefined().optional(), code: z.enum(['EISDIR', 'ENOSPC']) }),
]);

/**
 * Describes what is wrong with a file or a folder.
 *
 * @returns a sentence for the operator; `undefined` for an error that does not come from the file system
 */
export function fileTrouble(error: unknown): string | undefined {
  const { data } = fileError.safeParse(error);
  if (data === undefined) return undefined;
  const file =
    data.path === undefined ? 'A file' : `The file ${JSON.stringify(data.path.replace(PART_ENDING, ''))}`;
  return `${file} can't be used: ${getSystemErrorMessage(data.errno)}.`;
}
