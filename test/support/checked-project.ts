import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { runProgram } from '../../scripts/processes.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** The output of one of this project's source checkers for a project with a single file, `src/one.ts`. */
export function checkerOf(script: string) {
  const temporary = temporaryFolder();
  let projects = 0;
  return async (source: string) => {
    projects += 1;
    const folder = temporary.path(String(projects));
    await mkdir(join(folder, 'src'), { recursive: true });
    const config = { compilerOptions: { strict: true }, include: ['src'] };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
    await writeFile(join(folder, 'src/one.ts'), source);
    const path = resolve(import.meta.dirname, '../../scripts', script);
    const { code, stdout } = await runProgram([process.execPath, path, folder], { cwd: folder });
    return { code, lines: stdout.split('\n').filter((line) => line.startsWith('src/')) };
  };
}
