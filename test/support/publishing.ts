import { inspectFile } from '../../src/dataset/source-file.ts';
import type { PublishProgress, PublishResult } from '../../src/publications/job.ts';
import { newRunId } from '../../src/publications/run-id.ts';
import { publish } from '../../workers/publish/publish.ts';
import type { TestEnvironment } from './environment.ts';

/** The State's two files, by their paths. */
export interface DatasetFiles {
  readonly individual: string;
  readonly business: string;
}

interface PublishingOptions {
  readonly date?: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: PublishProgress) => void;
}

/** Publishes two files in this process: the worker's own steps, without the queue. */
export async function publishFiles(
  { client, config }: TestEnvironment,
  files: DatasetFiles,
  { date, signal, onProgress }: PublishingOptions = {},
): Promise<PublishResult> {
  const [individual, business] = [await inspectFile(files.individual), await inspectFile(files.business)];
  const job = {
    publication: newRunId(),
    individual: { path: individual.path, sha256: individual.sha256 },
    business: { path: business.path, sha256: business.sha256 },
    ...(date === undefined ? {} : { date }),
  };
  return publish(job, {
    client,
    config,
    signal: signal ?? new AbortController().signal,
    onProgress: onProgress ?? (() => undefined),
  });
}
