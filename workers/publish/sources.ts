import { resolve } from 'node:path';
import type { DatasetFile } from '../../src/dataset/columns.ts';
import { type CsvRow, NoCsvError, readCsv } from '../../src/dataset/csv.ts';
import { deleteOtherDownloads, downloadSource } from '../../src/dataset/download.ts';
import { type Header, mapHeader } from '../../src/dataset/header.ts';
import {
  type FileTextListener,
  fileText,
  type InspectedFile,
  inspectFile,
} from '../../src/dataset/source-file.ts';
import {
  DownloadError,
  datedLocation,
  hasSecrets,
  isUrl,
  withoutSecrets,
} from '../../src/dataset/source-url.ts';
import { isoDate } from '../../src/licenses/dates.ts';
import { type PublishRun, refused } from './run.ts';

export const FILES = ['individual', 'business'] as const satisfies readonly DatasetFile[];

/** One of the State's two files, ready to be read. */
export type SourceFile = Awaited<ReturnType<typeof openSource>>;

/** The State's two files, ready to be read. */
export type Sources = Readonly<Record<DatasetFile, SourceFile>>;

/**
 * Downloads the files that are URLs, then hashes both files and maps their headers.
 *
 * @throws {RefusedError} when a file is empty, is not CSV, or has changed since the publication was requested
 */
export async function openSources(run: PublishRun): Promise<Sources> {
  const { job } = run;
  if (FILES.some((file) => isUrl(job[file].location))) run.enter('downloading');
  const [one, other] = [await fetchSource('individual', run), await fetchSource('business', run)];
  await deleteOtherDownloads(downloadsOf(run.config), [one.path, other.path]);
  run.enter('reading');
  const individual = await openSource('individual', one);
  const business = await openSource('business', other);
  const sources = { individual, business };
  if (individual.sha256 === business.sha256) {
    const same = `The individual file ${individual.name} and the business file ${business.name} are the same.`;
    throw refused('columns', same);
  }
  const changed = FILES.filter((file) => ![undefined, sources[file].sha256].includes(job[file].sha256));
  if (changed.length > 0) {
    const names = changed.map((file) => sources[file].name).join(' and ');
    throw refused('changed', `${names} changed after the publication was asked for.`);
  }
  return sources;
}

/**
 * Returns the path of the job's file. A URL is downloaded first.
 *
 * @throws {DownloadError} when the download fails
 */
async function fetchSource(file: DatasetFile, { job, config, signal, advance }: PublishRun) {
  const { location } = job[file];
  if (!isUrl(location)) return { path: datedLocation(location) };
  const { path, url } = await downloadSource(datedLocation(withItsSecrets(file, location, config)), {
    directory: downloadsOf(config),
    signal,
    onBytes: (bytes, total = 0) => advance(bytes, total),
  });
  return { path, name: url };
}

export function downloadsOf({ STATE_DIR }: PublishRun['config']): string {
  return resolve(STATE_DIR, 'downloads');
}

/** The setting with the URL of a file, including its secrets. */
const SETTING = { individual: 'DATASET_INDIVIDUAL', business: 'DATASET_BUSINESS' } as const;

/** Adds the secrets to a job's URL. The job has the URL without them; they are in the worker's settings. */
function withItsSecrets(file: DatasetFile, location: string, config: PublishRun['config']): string {
  const setting = config[SETTING[file]];
  if (setting !== undefined && withoutSecrets(setting) === location) return setting;
  if (!hasSecrets(location)) return location;
  throw new DownloadError(
    `${withoutSecrets(location)} was asked for, but it is not the ${SETTING[file]} of the worker, which alone has its user name, password or query.`,
  );
}

/**
 * Hashes a file and maps its header.
 *
 * @throws {HeaderError} when a required column is missing
 * @throws {RefusedError} when the file is empty or not CSV
 */
export async function openSource(
  file: DatasetFile,
  { path, name }: { readonly path: string; readonly name?: string },
) {
  const found = await inspectFile(path);
  const inspected = { ...found, name: name ?? found.name };
  let header: Header | undefined;
  let problem: string | undefined;
  for await (const rows of rowsOf(inspected)) {
    for (const row of rows) {
      if (header === undefined) {
        if (row.problem !== undefined) throw refused('columns', `The ${file} file's header ${row.problem}.`);
        header = mapHeader(file, row.fields);
      } else if (row.problem === undefined) {
        return { ...inspected, file, header, runDate: runDateOf(row, header) };
      } else problem ??= row.problem;
    }
  }
  if (problem !== undefined) {
    const sentence = `No row of the ${file} file (${inspected.name}) can be read: the first ${problem}.`;
    throw refused('columns', sentence);
  }
  throw refused('no_rows', `The ${file} file (${inspected.name}) has no rows.`);
}

/** Returns the QUERY_RUN_DATE of a row, if it has one. */
function runDateOf(row: CsvRow, header: Header): string | undefined {
  const position = header.columns.runDate;
  return position === undefined ? undefined : isoDate((row.fields[position] ?? '').trim());
}

/**
 * Yields the file's rows after the header, in batches of about 64 KB of text.
 *
 * @throws {RefusedError} when the file is not CSV
 */
export async function* readRows(source: SourceFile, listener: FileTextListener) {
  let isHeader = true;
  for await (const rows of rowsOf(source, listener, source.header.width)) {
    yield isHeader ? rows.slice(1) : rows;
    isHeader = false;
  }
}

async function* rowsOf({ path, name }: InspectedFile, listener?: FileTextListener, width?: number) {
  try {
    yield* readCsv(fileText(path, listener), width);
  } catch (error) {
    if (!(error instanceof NoCsvError)) throw error;
    throw refused('columns', `${name} is no CSV file. ${error.message}`);
  }
}
