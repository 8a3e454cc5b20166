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

/** The ids of this machine's processes that were started with this in their environment (Linux). */
export async function processesWith(variable: string, value: string): Promise<number[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const environments = await Promise.all(
    ids.map((id) => readFile(`/proc/${id}/environ`, 'utf8').catch(() => '')),
  );
  return ids.filter((_, at) => environments[at]?.split('\0').includes(`${variable}=${value}`)).map(Number);
}
