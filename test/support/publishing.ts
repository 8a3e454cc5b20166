import type { TestEnvironment } from '../../scripts/environment.ts';
import type { PublishResult } from '../../src/publications/history.ts';
import { type PublishProgress, sourceAt } from '../../src/publications/job.ts';
import { newId } from '../../src/publications/metadata.ts';
import { publish } from '../../workers/publish/publish.ts';

/** The State's two files, by their paths. */
export interface DatasetFiles {
  readonly individual: string;
  readonly business: string;
}

interface PublishingOptions {
  /** Its id, as for a second attempt; a new one unless given. */
  readonly publication?: string;
  readonly date?: string;
  /** Whether the guards stand in the way; left out, the publication is forced. */
  readonly isGuarded?: boolean;
  /** Why it is forced. */
  readonly force?: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: PublishProgress) => void;
  readonly giveUpAfterMs?: number;
}

/** Publishes two files in this process: the worker's own steps, without the queue. */
export async function publishFiles(
  { store, config }: TestEnvironment,
  files: DatasetFiles,
  {
    publication = newId(),
    date,
    isGuarded = false,
    force = 'a test of something else',
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
  };
  return publish(job, {
    store,
    config,
    signal: signal ?? new AbortController().signal,
    onProgress: onProgress ?? (() => undefined),
    giveUpAfterMs,
  });
}
