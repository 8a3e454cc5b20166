import type { DatasetFile } from '../../src/dataset/columns.ts';
import { type CsvRow, NoCsvError, readCsv } from '../../src/dataset/csv.ts';
import { type Header, mapHeader } from '../../src/dataset/header.ts';
import {
  type FileTextListener,
  fileText,
  type InspectedFile,
  inspectFile,
} from '../../src/dataset/source-file.ts';
import { isoDate } from '../../src/licenses/dates.ts';
import { RefusedError, refusal } from './refusal.ts';

/** A file on this machine, and what to call it. */
export interface FetchedFile {
  readonly path: string;
  readonly name?: string;
}

/** One of the State's two files, ready to be read. */
export interface SourceFile extends InspectedFile {
  readonly file: DatasetFile;
  readonly header: Header;
  /** The QUERY_RUN_DATE of its first row, where it has one. */
  readonly runDate: string | undefined;
}

/**
 * Hashes a file and maps its header.
 *
 * @throws {HeaderError} when a required column is missing
 * @throws {RefusedError} when the file is empty or no CSV
 */
export async function openSource(file: DatasetFile, { path, name }: FetchedFile): Promise<SourceFile> {
  const found = await inspectFile(path);
  const inspected = { ...found, name: name ?? found.name };
  let header: Header | undefined;
  for await (const rows of rowsOf(inspected)) {
    for (const row of rows) {
      if (header === undefined) {
        if (row.problem !== undefined)
          throw new RefusedError([refusal('columns', `The ${file} file's header ${row.problem}.`)]);
        header = mapHeader(file, row.fields);
      } else if (row.problem === undefined) {
        return { ...inspected, file, header, runDate: runDateOf(row, header) };
      }
    }
  }
  throw new RefusedError([refusal('no_rows', `The ${file} file (${inspected.name}) has no rows.`)]);
}

function runDateOf(row: CsvRow, header: Header): string | undefined {
  const position = header.columns.runDate;
  return position === undefined ? undefined : isoDate((row.fields[position] ?? '').trim());
}

/**
 * The file's rows after the header, in batches of about 64 KB of text.
 *
 * @throws {RefusedError} when the file is no CSV
 */
export async function* readRows(
  source: SourceFile,
  listener: FileTextListener,
): AsyncGenerator<readonly CsvRow[], void, undefined> {
  let isHeader = true;
  for await (const rows of rowsOf(source, listener, source.header.width)) {
    yield isHeader ? rows.slice(1) : rows;
    isHeader = false;
  }
}

async function* rowsOf(
  { path, name }: InspectedFile,
  listener?: FileTextListener,
  width?: number,
): AsyncGenerator<readonly CsvRow[], void, undefined> {
  try {
    yield* readCsv(fileText(path, listener), width);
  } catch (error) {
    if (!(error instanceof NoCsvError)) throw error;
    throw new RefusedError([refusal('columns', `${name} is no CSV file. ${error.message}`)]);
  }
}
