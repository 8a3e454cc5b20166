import { resolve } from 'node:path';
import { downloadSource, isAddress } from '../../src/dataset/download.ts';
import type { FetchedFile } from './read.ts';
import type { PublishRun } from './run.ts';

/**
 * The file at a path or an https URL, downloaded where it has to be.
 *
 * @throws {DownloadError} when it can't be
 */
export async function fetchSource(
  location: string,
  { config, signal, progress, onProgress }: PublishRun,
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
