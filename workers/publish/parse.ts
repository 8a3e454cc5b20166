import { type DigestEntry, recordHash } from '../../src/changes/digest.ts';
import type { DatasetFile } from '../../src/dataset/columns.ts';
import type { CsvRow } from '../../src/dataset/csv.ts';
import { rowHash } from '../../src/dataset/row-hash.ts';
import { licensesOfRow } from '../../src/dataset/row-to-licenses.ts';
import type { UnknownLabel } from '../../src/dataset/unknown-labels.ts';
import { type Discipline, disciplineOf } from '../../src/licenses/discipline.ts';
import {
  documentJson,
  type LicenseDocument,
  licenseId,
  recordText,
} from '../../src/licenses/license-document.ts';
import { readRows, type SourceFile } from './read.ts';

/** A license on its way into the index. */
export interface PublicationDocument {
  /** `BOARD/number`: two boards may use the same number, one board may not use it twice. */
  readonly id: string;
  readonly board: string;
  /** The primary status; empty without one. */
  readonly status: string;
  readonly discipline: Discipline | undefined;
  readonly sourceRow: string;
  readonly file: DatasetFile;
  /** The row it comes from, in case it is rejected. */
  readonly row: Pick<CsvRow, 'line' | 'raw'>;
}

/** The creation of one document, as bulk requests have it. */
export interface BulkOperation {
  readonly document: PublicationDocument;
  /** The request's two lines. */
  readonly body: string;
}

/** A license as it was read: the creation of its document, and what its digest has of it. */
export interface ParsedLicense extends BulkOperation {
  readonly digest: DigestEntry;
  /** The hash of the row without the columns that the live publication's files did not have. */
  readonly comparableRow: number;
}

/** The columns of a file that the live publication's file had too; `undefined` without one to compare with. */
export type ComparableColumns = readonly string[] | undefined;

/** Called while a file is parsed. */
export interface ParseListener {
  readonly onBytes: (bytes: number) => void;
  readonly onRows: (rows: number) => void;
  readonly onDocuments: (licenses: number, endorsements: number) => void;
  readonly onRejected: (file: DatasetFile, row: CsvRow, reason: string) => void;
  readonly onUnknownLabels: (labels: readonly UnknownLabel[]) => void;
  /** With how many more lines are not UTF-8. */
  readonly onWindows1252: (file: DatasetFile, lines: number) => void;
  readonly onCutOff: (file: DatasetFile) => void;
}

/**
 * The licenses of one file, in batches. Each row that gives none is reported with the reason.
 *
 * @param runDate the date that every row of the file must have
 * @param comparable the columns of the live publication's file
 */
export async function* parseFile(
  source: SourceFile,
  runDate: string,
  comparable: ComparableColumns,
  listener: ParseListener,
): AsyncGenerator<readonly ParsedLicense[], void, undefined> {
  const hashesOf = rowHashes(source, comparable);
  const { onBytes } = listener;
  const onWindows1252 = (lines: number) => listener.onWindows1252(source.file, lines);
  for await (const rows of readRows(source, { onBytes, onWindows1252 })) {
    yield parseRows(rows, source, runDate, hashesOf, listener);
  }
}

interface RowHashes {
  readonly row: number;
  readonly comparableRow: number;
}

function rowHashes({ header }: SourceFile, comparable: ComparableColumns): (row: CsvRow) => RowHashes {
  const { named } = header;
  const before = new Set(comparable);
  const known = named.filter(({ name }) => before.has(name));
  const hasNewColumns = comparable !== undefined && known.length < named.length;
  return (csvRow) => {
    const row = rowHash(csvRow, named);
    return { row, comparableRow: hasNewColumns ? rowHash(csvRow, known) : row };
  };
}

function parseRows(
  rows: readonly CsvRow[],
  source: SourceFile,
  runDate: string,
  hashesOf: (row: CsvRow) => RowHashes,
  listener: ParseListener,
): ParsedLicense[] {
  const operations: ParsedLicense[] = [];
  let licenses = 0;
  for (const row of rows) {
    const parsed = licensesOfRow(row, source.header, runDate);
    if ('rejection' in parsed) {
      listener.onRejected(source.file, row, parsed.rejection);
      if (row.isTruncated) listener.onCutOff(source.file);
      continue;
    }
    licenses += 1;
    if (parsed.unknownLabels.length > 0) listener.onUnknownLabels(parsed.unknownLabels);
    for (const rejection of parsed.rejectedEndorsements) listener.onRejected(source.file, row, rejection);
    const hashes = hashesOf(row);
    for (const license of parsed.documents) operations.push(bulkOperation(license, source.file, row, hashes));
  }
  listener.onRows(rows.length);
  listener.onDocuments(licenses, operations.length - licenses);
  return operations;
}

function bulkOperation(
  license: LicenseDocument,
  file: DatasetFile,
  row: CsvRow,
  hashes: RowHashes,
): ParsedLicense {
  const id = licenseId(license.board, license.license_number);
  const text = recordText(license);
  return {
    document: {
      id,
      board: license.board,
      status: license.status ?? '',
      discipline: disciplineOf(license),
      sourceRow: license.source_row,
      file,
      row: { line: row.line, raw: row.raw },
    },
    body: `{"create":{"_id":${JSON.stringify(id)}}}\n${documentJson(text, license)}\n`,
    digest: { id, record: recordHash(text), row: hashes.row },
    comparableRow: hashes.comparableRow,
  };
}
