import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';

/**
 * A folder for the calling test file. It is created before the file's tests, and removed with its contents afterwards.
 */
export function temporaryFolder(): { path(...parts: string[]): string } {
  let folder: string | undefined;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'licenses-test-'));
  });
  afterAll(async () => {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });
  return {
    path: (...parts) => {
      if (folder === undefined) throw new Error('The folder exists only while tests run.');
      return join(folder, ...parts);
    },
  };
}
