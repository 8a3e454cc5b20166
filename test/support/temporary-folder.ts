import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEndOfTestFile } from '../../scripts/clean-up.ts';

/** A folder for the calling test file, which is removed with its contents at the end of the file. */
export function temporaryFolder(): { path(...parts: string[]): string } {
  const folder = mkdtempSync(join(tmpdir(), 'licenses-test-'));
  atEndOfTestFile(() => rm(folder, { recursive: true, force: true }));
  return { path: (...parts) => join(folder, ...parts) };
}
