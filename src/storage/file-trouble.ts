import { getSystemErrorMessage } from 'node:util';
import { z } from 'zod';
import { PART_ENDING } from './whole-file.ts';

/** Reading a folder and writing to a full disk fail without a path. */
const fileError = z.union([
  z.object({ errno: z.int(), path: z.string() }),
  z.object({ errno: z.int(), path: z.undefined().optional(), code: z.enum(['EISDIR', 'ENOSPC']) }),
]);

/**
 * What is wrong with a file or a folder.
 *
 * @returns a sentence for the operator; `undefined` for an error that is not one of the file system
 */
export function fileTrouble(error: unknown): string | undefined {
  const { data } = fileError.safeParse(error);
  if (data === undefined) return undefined;
  const file =
    data.path === undefined ? 'A file' : `The file ${JSON.stringify(data.path.replace(PART_ENDING, ''))}`;
  return `${file} can't be used: ${getSystemErrorMessage(data.errno)}.`;
}
