import { type DigestEntry, recordHash } from '../../src/changes/digest.ts';
import type { DatasetFile } from '../../src/dataset/columns.ts';
import type { CsvRow } from '../../src/dataset/csv.ts';
import { rowHash } from '../../src/dataset/row-hash.ts';
import { licensesOfRow, type UnknownLabel } from '../../src/dataset/row-to-licenses.ts';
import { type Discipline, disciplineOf } from '../../src/licenses/discipline.ts';
import { type LicenseDocument, licenseId, recordTextIn } from '../../src/licenses/license-document.ts';
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
}

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
 */
export async function* parseFile(
  source: SourceFile,
  runDate: string,
  listener: ParseListener,
): AsyncGenerator<readonly ParsedLicense[], void, undefined> {
  const { onBytes } = listener;
  const onWindows1252 = (lines: number) => listener.onWindows1252(source.file, lines);
  for await (const rows of readRows(source, { onBytes, onWindows1252 })) {
    yield parseRows(rows, source, runDate, listener);
  }
}

function parseRows(
  rows: readonly CsvRow[],
  source: SourceFile,
  runDate: string,
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
    const hash = rowHash(row, source.header.named);
    for (const license of parsed.documents) operations.push(bulkOperation(license, source.file, row, hash));
  }
  listener.onRows(rows.length);
  listener.onDocuments(licenses, operations.length - licenses);
  return operations;
}

function bulkOperation(
  license: LicenseDocument,
  file: DatasetFile,
  row: CsvRow,
  hash: number,
): ParsedLicense {
  const id = licenseId(license.board, license.license_number);
  const json = JSON.stringify(license);
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
    body: `{"create":{"_id":${JSON.stringify(id)}}}\n${json}\n`,
    digest: { id, record: recordHash(recordTextIn(json)), row: hash },
  };
}
