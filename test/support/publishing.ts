import type { TestEnvironment } from '../../scripts/environment.ts';
import { licenses } from '../../scripts/licenses-processes.ts';
import type { CommandResult } from '../../scripts/processes.ts';
import type { PublishResult } from '../../src/publications/history.ts';
import { type PublishProgress, sourceAt } from '../../src/publications/job.ts';
import { newId } from '../../src/publications/metadata.ts';
import { publish } from '../../workers/publish/publish.ts';
import { waitForLive } from './api.ts';

/** The State's two files, by their paths. */
export interface DatasetFiles {
  readonly individual: string;
  readonly business: string;
}

/** Runs `licenses publish` for two files, as a process. */
export function publishByCommand(
  variables: Readonly<Record<string, string>>,
  { individual, business }: DatasetFiles,
  ...options: readonly string[]
): Promise<CommandResult> {
  return licenses(variables, 'publish', '--individual', individual, '--business', business, ...options);
}

export interface PublishingOptions {
  /** Its id, as for a second attempt; a new one unless given. */
  readonly publication?: string;
  readonly date?: string;
  /** Whether the guards stand in the way; left out, the publication is forced. */
  readonly isGuarded?: boolean;
  /** Why it is forced. */
  readonly force?: string;
  /** The guards that may fail, as `--accept` takes them. */
  readonly accept?: string[];
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: PublishProgress) => void;
  readonly giveUpAfterMs?: number;
}

/**
 * Publishes two files in this process: the worker's own steps, without the queue. When they are live, the API of the
 * environment answers from them, where one runs.
 */
export async function publishFiles(
  environment: TestEnvironment,
  files: DatasetFiles,
  {
    publication = newId(),
    date,
    isGuarded = false,
    force = 'a test of something else',
    accept,
    signal,
    onProgress,
    giveUpAfterMs,
  }: PublishingOptions = {},
): Promise<PublishResult> {
  const job = {
    publication,
    individual: await sourceAt(files.individual),
    business: await sourceAt(files.business),
    ...(date === undefined ? {} : { date }),
    ...(isGuarded ? {} : { force }),
    ...(accept === undefined ? {} : { accept }),
  };
  const result = await publish(job, {
    store: environment.store,
    config: environment.config,
    signal: signal ?? new AbortController().signal,
    onProgress: onProgress ?? (() => undefined),
    giveUpAfterMs,
  });
  if (result.state === 'live') await waitForLive(environment);
  return result;
}
