import { type DigestEntry, recordHash } from '../../src/changes/digest.ts';
import type { CsvRow } from '../../src/dataset/csv.ts';
import { rowHash } from '../../src/dataset/header.ts';
import { licensesOfRow, type UnknownLabel } from '../../src/dataset/row-to-licenses.ts';
import type { FileTextListener } from '../../src/dataset/source-file.ts';
import { documentJson, type LicenseDocument, licenseId, recordText } from '../../src/licenses/license.ts';
import { readRows, type SourceFile } from './sources.ts';

/** What is counted of a license, and told where OpenSearch refuses it. */
export type CountedLicense = Pick<
  LicenseDocument,
  'board' | 'license_type' | 'status' | 'raw_status' | 'extra_data' | 'source_row'
>;

/** The creation of one document, as bulk requests have it. */
export interface BulkOperation {
  /** `BOARD/number`: two boards may use the same number, one board may not use it twice. */
  readonly id: string;
  /** The row it comes from, in case it is rejected. */
  readonly row: Pick<CsvRow, 'line' | 'raw'>;
  /** The request's two lines. */
  readonly body: string;
}

/** A license as it was read: the creation of its document, and what its digest has of it. */
export interface ParsedLicense extends BulkOperation {
  readonly license: LicenseDocument;
  readonly digest: DigestEntry;
}

/** What a batch of rows gave. */
export interface ParsedRows {
  readonly rows: number;
  /** How many rows gave a license. */
  readonly licenses: number;
  /** The licenses, and the endorsements that their rows list. */
  readonly operations: readonly ParsedLicense[];
  /** Each row that gave no license, or an endorsement less, and why. */
  readonly rejections: readonly { readonly row: CsvRow; readonly reason: string }[];
  /** The labels that no catalog knows, for each row that has some, with the row's board. */
  readonly unknownLabels: readonly { readonly board: string; readonly labels: readonly UnknownLabel[] }[];
  /** Whether the file ends inside the last row. */
  readonly isCutOff: boolean;
}

/**
 * What the rows of one file give, in batches.
 *
 * @param runDate the date that every row of the file must have
 */
export async function* parseFile(
  source: SourceFile,
  runDate: string,
  listener: FileTextListener = {},
): AsyncGenerator<ParsedRows, void, undefined> {
  for await (const rows of readRows(source, listener)) yield parseRows(rows, source, runDate);
}

function parseRows(rows: readonly CsvRow[], { header }: SourceFile, runDate: string): ParsedRows {
  const operations: ParsedLicense[] = [];
  const rejections: { row: CsvRow; reason: string }[] = [];
  const unknownLabels: { board: string; labels: readonly UnknownLabel[] }[] = [];
  let licenses = 0;
  let isCutOff = false;
  for (const row of rows) {
    const parsed = licensesOfRow(row, header, runDate);
    if ('rejection' in parsed) {
      rejections.push({ row, reason: parsed.rejection });
      isCutOff ||= row.isTruncated === true;
      continue;
    }
    licenses += 1;
    const { unknownLabels: labels } = parsed;
    if (labels.length > 0) unknownLabels.push({ board: parsed.documents[0]?.board ?? '', labels });
    for (const reason of parsed.rejectedEndorsements) rejections.push({ row, reason });
    const hash = rowHash(row, header);
    for (const license of parsed.documents) operations.push(bulkOperation(license, row, hash));
  }
  return { rows: rows.length, licenses, operations, rejections, unknownLabels, isCutOff };
}

function bulkOperation(license: LicenseDocument, row: CsvRow, hash: number): ParsedLicense {
  const id = licenseId(license.board, license.license_number);
  const text = recordText(license);
  return {
    ...{ id, license, row },
    body: `{"create":{"_id":${JSON.stringify(id)}}}\n${documentJson(text, license)}\n`,
    digest: { id, record: recordHash(text), row: hash },
  };
}
