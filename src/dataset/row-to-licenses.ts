import { boardByLabel } from '../licenses/boards.ts';
import { isoDate } from '../licenses/dates.ts';
import { boardAction } from '../licenses/discipline.ts';
import { endorsedLicenseAttributes } from '../licenses/endorsements.ts';
import {
  isPossibleId,
  type LicenseDocument,
  licenseDocument,
  licenseId,
} from '../licenses/license-document.ts';
import type { LicenseRecord } from '../licenses/license-record.ts';
import { fullName } from '../licenses/person-name.ts';
import { recordStatus } from '../licenses/status.ts';
import type { CsvRow } from './csv.ts';
import type { EndorsementColumns, ExtraColumn, Header } from './header.ts';
import { checkEndorsementFields, checkFields, fieldText } from './row-fields.ts';
import { type LicenseLabels, type UnknownLabel, unknownLabels } from './unknown-labels.ts';

/** The licenses of one row, or why the row was rejected. */
export type RowLicenses =
  | {
      /** The row's own license first, then its endorsements. */
      readonly documents: readonly LicenseDocument[];
      readonly unknownLabels: readonly UnknownLabel[];
      /** Why endorsements of the row were rejected, a message each. */
      readonly rejectedEndorsements: readonly string[];
    }
  | { readonly rejection: string };

/**
 * Makes the license records of one row: the row's own, and one for each endorsement with a number, because an
 * advanced-practice nurse's number is only in the endorsement columns of the RN's row (dataset.md).
 *
 * @param runDate the run date that every row of the file must have
 */
export function licensesOfRow(row: CsvRow, header: Header, runDate: string): RowLicenses {
  if (row.problem !== undefined) return { rejection: row.problem };
  const checked = checkFields(row, header);
  if (checked.problem !== undefined) return { rejection: checked.problem };
  const { fields } = checked;
  if (fields.runDate !== null && fields.runDate !== runDate) {
    return { rejection: `QUERY_RUN_DATE is ${fields.runDate}, not ${runDate}` };
  }

  const { columns } = header;
  const board = boardByLabel(fields.board);
  const kind = header.file === 'individual' ? 'person' : 'business';
  const status = fieldText(row, columns.status);
  const subStatus = fieldText(row, columns.subStatus);
  const record: LicenseRecord = {
    license_number: fields.number,
    full_name: kind === 'person' ? fullName(fields.name) : fields.name,
    board: board?.name ?? fields.board,
    license_type: fieldText(row, columns.type) || null,
    ...recordStatus(status, subStatus),
    expiry_date: fields.expirationDate,
    city: unlessHidden(fieldText(row, columns.city)) || null,
    state: unlessHidden(fieldText(row, columns.state)) || null,
    county: unlessHidden(fieldText(row, columns.county)) || null,
    issue_date: fields.issueDate,
    extra_data: extraData(row, header.extra),
  };
  if (!hasPossibleId(record)) return { rejection: `BOARD and LICENSE_NUMBER ${ARE_TOO_LONG}` };
  const documents = [licenseDocument(record, kind, sourceRowId(row, header, 0))];
  const labels = [labelsOf(record, status, subStatus)];
  const rejectedEndorsements: string[] = [];
  for (const [index, endorsementColumns] of header.endorsements.entries()) {
    if (fieldText(row, endorsementColumns.number) === '') continue;
    const endorsement = endorsementRecord(row, endorsementColumns, record, { status, subStatus });
    if (typeof endorsement === 'string') {
      rejectedEndorsements.push(`endorsement ${index + 1}: ${endorsement}`);
      continue;
    }
    documents.push(licenseDocument(endorsement, kind, sourceRowId(row, header, index + 1)));
    const { status: statusColumn, subStatus: subStatusColumn } = endorsementColumns;
    labels.push(labelsOf(endorsement, fieldText(row, statusColumn), fieldText(row, subStatusColumn)));
  }
  return { documents, unknownLabels: unknownLabels(board, fields.board, labels), rejectedEndorsements };
}

const ARE_TOO_LONG = 'are too long to make an id';

function hasPossibleId({ board, license_number: number }: LicenseRecord): boolean {
  return isPossibleId(licenseId(board, number));
}

function labelsOf(record: LicenseRecord, status: string, subStatus: string): LicenseLabels {
  return { type: record.license_type ?? '', status, subStatus, boardAction: boardAction(record) };
}

/** The record of a numbered endorsement, or why it is rejected. */
function endorsementRecord(
  row: CsvRow,
  columns: EndorsementColumns,
  endorsed: LicenseRecord,
  statusOfEndorsed: { readonly status: string; readonly subStatus: string },
): LicenseRecord | string {
  const checked = checkEndorsementFields(row, columns);
  if (checked.problem !== undefined) return checked.problem;
  const { number, issueDate, expirationDate } = checked.fields;
  if (!isPossibleId(licenseId(endorsed.board, number))) return `BOARD and ENDORSEMENT_NUMBER ${ARE_TOO_LONG}`;
  return {
    ...endorsed,
    license_number: number,
    license_type: fieldText(row, columns.type) || null,
    ...recordStatus(fieldText(row, columns.status), fieldText(row, columns.subStatus)),
    expiry_date: expirationDate,
    issue_date: issueDate,
    extra_data: {
      ...endorsedLicenseAttributes(endorsed, statusOfEndorsed),
      ...placeOf(endorsed.extra_data),
      ...(issueDate === null ? {} : { 'Issue Date': issueDate }),
      ...extraData(row, columns.extra),
    },
  };
}

/** The file, the line, and the endorsement's number in the line; 0 for the row's own license. */
function sourceRowId(row: CsvRow, header: Header, endorsement: number): string {
  return `${header.file}:${row.line}:${endorsement}`;
}

/** The State writes HIDDEN for a place that it withholds; it means blank. */
function unlessHidden(place: string): string {
  return place === 'HIDDEN' ? '' : place;
}

function extraData(row: CsvRow, columns: readonly ExtraColumn[]): Record<string, string> {
  const extra = new Map<string, string>();
  for (const column of columns) {
    const field = row.fields[column.position];
    if (field === undefined || field === '') continue;
    const trimmed = field.trim();
    const value = column.isPlace ? unlessHidden(trimmed) : trimmed;
    if (value !== '') extra.set(column.label, column.isDate ? (isoDate(value) ?? value) : value);
  }
  return Object.fromEntries(extra);
}

const PLACE_LABELS = ['County', 'ZIP', 'Country'] as const;

/** The attributes of a license that an endorsement of it shares: where its holder is. */
function placeOf(extra: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    PLACE_LABELS.flatMap((label) => {
      const value = extra[label];
      return value === undefined ? [] : [[label, value]];
    }),
  );
}
