import { randomUUID } from 'node:crypto';
import { rename, rm, stat, writeFile } from 'node:fs/promises';

const OWNER_ALONE = 0o600;

/** The end of a temporary file's name, after the name of the final file. */
export const PART_ENDING = /\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.part$/;

/**
 * Writes a file that only its owner can read. The file gets its name once it is complete on disk. Until then, an
 * existing file of that name is unchanged, even while two processes write it at once. A path that is not a regular
 * file, such as `/dev/stdout`, is written to directly.
 *
 * @param mayReplace is called before the file gets its name; if it throws, the existing file stays
 */
export async function writeWhole(
  file: string,
  content: AsyncIterable<string>,
  mayReplace?: () => Promise<void>,
): Promise<void> {
  const existing = await stat(file).catch(() => undefined);
  if (existing?.isFile() === false) return writeFile(file, content);
  const part = `${file}.${randomUUID()}.part`;
  try {
    await writeFile(part, content, { flag: 'wx', mode: OWNER_ALONE, flush: true });
    await mayReplace?.();
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}
