import { resolve } from 'node:path';
import type { Config } from '../../src/config.ts';
import { downloadSource, isAddress } from '../../src/dataset/download.ts';
import type { PublishProgress } from '../../src/publications/job.ts';

/** A file on this machine, and what to call it. */
export interface FetchedFile {
  readonly path: string;
  readonly name?: string;
}

interface FetchContext {
  readonly config: Config;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: PublishProgress) => void;
}

/**
 * The file at a path or an https URL, downloaded where it has to be.
 *
 * @throws {DownloadError} when it can't be
 */
export async function fetchSource(
  location: string,
  { config, signal, onProgress }: FetchContext,
  progress: PublishProgress,
): Promise<FetchedFile> {
  if (!isAddress(location)) return { path: location };
  const { path, name } = await downloadSource(location, {
    directory: resolve(config.STATE_DIR, 'downloads'),
    signal,
    onBytes: (bytes, total) => {
      progress.bytes = bytes;
      progress.total_bytes = total ?? 0;
      onProgress(progress);
    },
  });
  return { path, name };
}
