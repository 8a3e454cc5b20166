import type { DatasetFile } from '../../src/dataset/columns.ts';
import { type CsvRow, readCsv } from '../../src/dataset/csv.ts';
import { type Header, mapHeader } from '../../src/dataset/header.ts';
import { fileText, type InspectedFile, inspectFile } from '../../src/dataset/source-file.ts';
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
 * Hashes a file, detects its encoding and maps its header.
 *
 * @throws {HeaderError} when a required column is missing
 * @throws {RefusedError} when the file is empty
 */
export async function openSource(file: DatasetFile, { path, name }: FetchedFile): Promise<SourceFile> {
  const found = await inspectFile(path);
  const inspected = { ...found, name: name ?? found.name };
  let header: Header | undefined;
  for await (const rows of readCsv(fileText(inspected))) {
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

/** The file's rows after the header, in batches of about 128 KB of text. */
export async function* readRows(
  source: SourceFile,
  onBytes: (bytes: number) => void,
): AsyncGenerator<readonly CsvRow[], void, undefined> {
  let isHeader = true;
  for await (const rows of readCsv(fileText(source, onBytes), source.header.width)) {
    yield isHeader ? rows.slice(1) : rows;
    isHeader = false;
  }
}
