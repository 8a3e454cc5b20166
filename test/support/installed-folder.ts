import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { readConfig } from '../../src/config.ts';

/**
 * A folder under STATE_DIR with the files that `install` creates, unless it exists from an earlier run.
 *
 * @param kind the beginning of the folder's name
 * @param contents everything that determines what is installed; other contents use another folder
 */
export async function installedFolder(
  kind: string,
  contents: readonly string[],
  install: (folder: string) => Promise<void>,
): Promise<string> {
  const hash = createHash('sha256');
  for (const content of contents) hash.update(content);
  const stateDir = resolve(readConfig().STATE_DIR);
  const folder = join(stateDir, `${kind}-${hash.digest('hex').slice(0, 12)}`);
  if (existsSync(folder)) return folder;

  await mkdir(stateDir, { recursive: true });
  const temporary = await mkdtemp(`${folder}-`);
  try {
    await install(temporary);
    await rename(temporary, folder);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    // Another test file may have created it first.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
