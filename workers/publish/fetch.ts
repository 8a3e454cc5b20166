import { resolve } from 'node:path';
import { downloadSource } from '../../src/dataset/download/download-source.ts';
import { isUrl } from '../../src/dataset/download/source-url.ts';
import type { FetchedFile } from './read.ts';
import type { PublishRun } from './run.ts';

/**
 * The file at a path or an https URL. A URL is downloaded first.
 *
 * @throws {DownloadError} when the download fails
 */
export async function fetchSource(
  location: string,
  { config, signal, progress, onProgress }: PublishRun,
): Promise<FetchedFile> {
  if (!isUrl(location)) return { path: location };
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
