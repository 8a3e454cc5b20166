import { randomUUID } from 'node:crypto';
import { rename, rm, stat, writeFile } from 'node:fs/promises';

const OWNER_ALONE = 0o600;

/** What the name of a part has after that of its file. */
export const PART_ENDING = /\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.part$/;

/**
 * Writes a file that only its owner can read. It gets its name once it is on disk; until then, an existing file of that
 * name stays as it was, also while two processes write it at once. What is no file, such as `/dev/stdout`, is written to.
 *
 * @param mayReplace is asked before the file gets its name; what it throws leaves the existing one
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
