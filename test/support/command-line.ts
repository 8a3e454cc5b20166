import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { startWorker } from '../../scripts/licenses-processes.ts';
import type { CommandResult, RunningProcess } from '../../scripts/processes.ts';
import { command } from './in-process.ts';
import type { DatasetFiles } from './publishing.ts';

/** The `licenses` command, which runs in this process, and a worker, in an environment of their own, until the test file ends. */
export interface CommandLine {
  readonly environment: TestEnvironment;
  readonly worker: RunningProcess;
  /** Runs `licenses` with these arguments. */
  run(...parameters: string[]): Promise<CommandResult>;
  /** Runs `licenses publish` for these files. */
  publish(files: DatasetFiles, ...more: string[]): Promise<CommandResult>;
}

export async function commandLine(): Promise<CommandLine> {
  const environment = await testEnvironment();
  const worker = await startWorker(environment.variables);
  const run = (...parameters: string[]) => command(environment.variables, ...parameters);
  return {
    environment,
    worker,
    run,
    publish: ({ individual, business }, ...more) =>
      run('publish', '--individual', individual, '--business', business, ...more),
  };
}
