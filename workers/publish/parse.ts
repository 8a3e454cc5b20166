import type { DatasetFile } from '../../src/dataset/columns.ts';
import type { CsvRow } from '../../src/dataset/csv.ts';
import { licensesOfRow } from '../../src/dataset/row.ts';
import type { LicenseDocument } from '../../src/licenses/document.ts';
import { readRows, type SourceFile } from './read.ts';

/** A licence on its way into the index. */
export interface PublicationDocument {
  /** The licence number. */
  readonly id: string;
  readonly board: string;
  readonly sourceRow: string;
  /** The two lines of a bulk request that create it. */
  readonly body: string;
  readonly file: DatasetFile;
  /** The row it comes from, should it have to be set aside. */
  readonly row: Pick<CsvRow, 'line' | 'raw'>;
}

/** What parsing tells along the way. */
export interface ParseListener {
  readonly onBytes: (bytes: number) => void;
  readonly onRows: (rows: number) => void;
  readonly onDocuments: (licenses: number, endorsements: number) => void;
  readonly onSetAside: (file: DatasetFile, row: CsvRow, reason: string) => void;
  readonly onUnknownLabel: (label: string) => void;
}

/** The licences of one file, in batches, and each row that gives none told with its reason. */
export async function* parseFile(
  source: SourceFile,
  publicationDate: string,
  listener: ParseListener,
): AsyncGenerator<readonly PublicationDocument[], void, undefined> {
  for await (const rows of readRows(source, listener.onBytes)) {
    yield parseRows(rows, source, publicationDate, listener);
  }
}

function parseRows(
  rows: readonly CsvRow[],
  source: SourceFile,
  publicationDate: string,
  listener: ParseListener,
): PublicationDocument[] {
  const documents: PublicationDocument[] = [];
  let licenses = 0;
  for (const row of rows) {
    const parsed = licensesOfRow(row, source.header, publicationDate);
    if ('reason' in parsed) {
      listener.onSetAside(source.file, row, parsed.reason);
      continue;
    }
    licenses += 1;
    parsed.unknownLabels.forEach(listener.onUnknownLabel);
    for (const reason of parsed.reasons) listener.onSetAside(source.file, row, reason);
    for (const license of parsed.documents) documents.push(publicationDocument(license, source.file, row));
  }
  listener.onRows(rows.length);
  listener.onDocuments(licenses, documents.length - licenses);
  return documents;
}

function publicationDocument(license: LicenseDocument, file: DatasetFile, row: CsvRow): PublicationDocument {
  const id = license.license_number;
  return {
    id,
    board: license.board,
    sourceRow: license.source_row,
    body: `{"create":{"_id":${JSON.stringify(id)}}}\n${JSON.stringify(license)}\n`,
    file,
    row: { line: row.line, raw: row.raw },
  };
}
