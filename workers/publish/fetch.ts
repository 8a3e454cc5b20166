import { resolve } from 'node:path';
import type { DatasetFile } from '../../src/dataset/columns.ts';
import { downloadSource } from '../../src/dataset/download.ts';
import { DownloadError, hasSecrets, isUrl, withoutSecrets } from '../../src/dataset/source-url.ts';
import type { FetchedFile } from './read.ts';
import type { PublishRun } from './run.ts';

/**
 * The file that the job names, by a path or an https URL. A URL is downloaded first.
 *
 * @throws {DownloadError} when the download fails
 */
export async function fetchSource(
  file: DatasetFile,
  { job, config, signal, progress, onProgress }: PublishRun,
): Promise<FetchedFile> {
  const { location } = job[file];
  if (!isUrl(location)) return { path: location };
  const { path, name } = await downloadSource(withItsSecrets(file, location, config), {
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

/** The setting that holds the address of a file, with its secrets. */
const SETTING = { individual: 'DATASET_INDIVIDUAL', business: 'DATASET_BUSINESS' } as const;

/** A job names an address without its secrets. They are in the settings of the worker. */
function withItsSecrets(file: DatasetFile, location: string, config: PublishRun['config']): string {
  const setting = config[SETTING[file]];
  if (setting !== undefined && withoutSecrets(setting) === location) return setting;
  if (!hasSecrets(location)) return location;
  throw new DownloadError(
    `${withoutSecrets(location)} was asked for, but it is not the ${SETTING[file]} of the worker, which alone has its user name, password or query.`,
  );
}
