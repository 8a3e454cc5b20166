import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../scripts/programs.ts';

/** Memory of processes that no file backs, in MiB; what they share is counted once (Linux). */
export async function processMebibytes(pids: readonly number[]): Promise<number> {
  const each = await Promise.all(
    pids.map(async (pid) => {
      const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
      const kibibytes = (name: string) =>
        Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(rollup)?.[1] ?? 0);
      return kibibytes('Pss_Anon') + kibibytes('Pss_Shmem');
    }),
  );
  return each.reduce((sum, kibibytes) => sum + kibibytes, 0) / 1024;
}

/** How much of these files is in the page cache, in MiB (util-linux). */
export async function pageCacheMebibytes(files: readonly string[]): Promise<number> {
  if (files.length === 0) return 0;
  const output = await run('fincore', ['--bytes', '--noheadings', '--output', 'RES', ...files]);
  const bytes = output.split(/\s+/).map(Number);
  return bytes.reduce((sum, each) => sum + each, 0) / 2 ** 20;
}

/** Every file below a folder that has something in it. */
export async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
