import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { countsByName } from '../../licenses/counts.ts';

const savedProgress = z.object({
  /** What was asked: the roster's hash and the options. Another question begins anew. */
  question: z.string(),
  /** How many rows of the roster are answered. */
  rows: z.int(),
  /** How many bytes of the result file hold their answers. What follows was not finished. */
  bytes: z.int(),
  /** The header row of the answers. */
  header: z.string(),
  outcomes: countsByName,
  /** The run dates of the datasets that answered. */
  dates: z.array(z.string()),
});

/** How far a roster is verified. */
export type SavedProgress = z.output<typeof savedProgress>;

/** Where the progress is saved while the result file grows. */
function progressPath(resultPath: string): string {
  return `${resultPath}.progress.json`;
}

/** The progress of an earlier call that was interrupted; `undefined` without one, or for another question. */
export async function readProgress(resultPath: string, question: string): Promise<SavedProgress | undefined> {
  try {
    const saved = savedProgress.parse(JSON.parse(await readFile(progressPath(resultPath), 'utf8')));
    return saved.question === question ? saved : undefined;
  } catch {
    return undefined;
  }
}

export async function saveProgress(resultPath: string, progress: SavedProgress): Promise<void> {
  const path = progressPath(resultPath);
  await writeFile(`${path}.new`, JSON.stringify(progress));
  await rename(`${path}.new`, path);
}

export async function forgetProgress(resultPath: string): Promise<void> {
  await rm(progressPath(resultPath), { force: true });
}
