import { testEnvironment } from '../../scripts/environment.ts';
import { startWorker } from '../../scripts/licenses-processes.ts';
import { command } from './in-process.ts';
import type { DatasetFiles } from './publishing.ts';

/** The `licenses` command, which runs in this process, and a worker, in an environment of their own. */
export type CommandLine = Awaited<ReturnType<typeof commandLine>>;

export async function commandLine() {
  const environment = await testEnvironment();
  const worker = await startWorker(environment.variables);
  const run = (...parameters: string[]) => command(environment.variables, ...parameters);
  return {
    environment,
    worker,
    run,
    /** Runs `licenses publish` for these files. */
    publish: ({ individual, business }: DatasetFiles, ...more: string[]) =>
      run('publish', '--individual', individual, '--business', business, ...more),
  };
}
