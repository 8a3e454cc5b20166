import { readdir, readFile } from 'node:fs/promises';

/** The process ids of a process's children (Linux). */
export async function childrenOf(parent: number): Promise<number[]> {
  const tasks = await readdir(`/proc/${parent}/task`);
  const lists = await Promise.all(
    tasks.map((task) => readFile(`/proc/${parent}/task/${task}/children`, 'utf8')),
  );
  return lists
    .flatMap((list) => list.trim().split(/\s+/))
    .filter((id) => id !== '')
    .map(Number);
}
