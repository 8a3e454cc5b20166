import { recordHash } from '../../src/changes/digest.ts';
import type { CsvRow } from '../../src/dataset/csv.ts';
import { rowHash } from '../../src/dataset/header.ts';
import { licensesOfRow } from '../../src/dataset/row-to-licenses.ts';
import type { FileTextListener } from '../../src/dataset/source-file.ts';
import { documentJson, type LicenseDocument, licenseId, recordText } from '../../src/licenses/license.ts';
import { readRows, type SourceFile } from './sources.ts';
import type { ParsedLicense, Tally } from './tally.ts';

interface ParseOptions extends FileTextListener {
  /** Counts what is read. */
  readonly tally: Tally;
  /** Called with each row that gave no license or lacks an endorsement, and why. */
  readonly onRejected: (row: CsvRow, reason: string) => void;
}

/**
 * Yields the licenses in one file, and the endorsements listed in its rows, in batches.
 *
 * @param runDate the date that every row of the file must have
 * @throws {RefusedError} when the file is not CSV, or the part read so far must not be published
 */
export async function* parseFile(
  source: SourceFile,
  runDate: string,
  { tally, onRejected, ...listener }: ParseOptions,
): AsyncGenerator<readonly ParsedLicense[], void, undefined> {
  const { file, header } = source;
  for await (const rows of readRows(source, listener)) {
    tally.counts.rows += rows.length;
    tally.rowsOf[file] += rows.length;
    const licenses: ParsedLicense[] = [];
    for (const row of rows) {
      const parsed = licensesOfRow(row, header, runDate);
      if ('rejection' in parsed) {
        onRejected(row, parsed.rejection);
        if (row.isTruncated) tally.cutOff.add(file);
        continue;
      }
      const { documents, unknownLabels, rejectedEndorsements } = parsed;
      if (unknownLabels.length > 0) tally.noteUnknown(unknownLabels, documents[0]?.board ?? '');
      for (const reason of rejectedEndorsements) onRejected(row, reason);
      const hash = rowHash(row, header);
      for (const document of documents) {
        const license = parsedLicense(document, row, hash);
        tally.noteSent(license);
        licenses.push(license);
      }
    }
    yield licenses;
  }
}

function parsedLicense(license: LicenseDocument, row: CsvRow, hash: number): ParsedLicense {
  const id = licenseId(license.board, license.license_number);
  const text = recordText(license);
  return {
    ...{ id, license, row },
    body: `{"create":{"_id":${JSON.stringify(id)}}}\n${documentJson(text, license)}\n`,
    digest: { id, record: recordHash(text), row: hash },
  };
}
