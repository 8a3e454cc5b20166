import { type Board, boardByLabel, isLicenseTypeOf } from '../licenses/boards.ts';
import { isoDate } from '../licenses/dates.ts';
import { numberKey } from '../licenses/fold.ts';
import {
  isPossibleId,
  type LicenseDocument,
  type LicenseRecord,
  licenseDocument,
  licenseId,
} from '../licenses/license.ts';
import { fullName } from '../licenses/names.ts';
import {
  boardAction,
  endorsedLicenseAttributes,
  isKnownBoardAction,
  isKnownStatus,
  isKnownSubStatus,
  recordStatus,
} from '../licenses/standing.ts';
import type { CsvRow } from './csv.ts';
import type { EndorsementColumns, ExtraColumn, Header } from './header.ts';

/** A label that is missing from the catalogs of boards and statuses. */
export interface UnknownLabel {
  readonly kind: 'board' | 'license type' | 'status' | 'sub-status' | 'board action';
  /** The text in the row. A license type has its board's code before it. */
  readonly label: string;
}

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
  try {
    return licensesOf(row, header, runDate);
  } catch (error) {
    if (error instanceof FieldError) return { rejection: error.message };
    throw error;
  }
}

/** @throws {FieldError} when the row's own license can't be read */
function licensesOf(row: CsvRow, header: Header, runDate: string): RowLicenses {
  const { columns } = header;
  const kind = header.file === 'individual' ? 'person' : 'business';
  const name = requiredText(row, columns.name, 'the name', MAX_NAME_LENGTH);
  const boardLabel = requiredText(row, columns.board, 'BOARD', MAX_BOARD_LENGTH);
  const board = boardByLabel(boardLabel);
  const number = licenseNumber(row, columns.number, 'LICENSE_NUMBER');
  const issueDate = dateField(row, columns.issueDate, 'ISSUE_DATE');
  const expirationDate = dateField(row, columns.expirationDate, 'EXPIRATION_DATE');
  const rowDate = dateField(row, columns.runDate, 'QUERY_RUN_DATE') ?? runDate;
  if (rowDate !== runDate) throw new FieldError(`QUERY_RUN_DATE is ${rowDate}, not ${runDate}`);

  const status = fieldText(row, columns.status);
  const subStatus = fieldText(row, columns.subStatus);
  const record: LicenseRecord = {
    license_number: number,
    full_name: kind === 'person' ? fullName(name) : name,
    board: board?.name ?? boardLabel,
    license_type: fieldText(row, columns.type) || null,
    ...recordStatus(status, subStatus),
    expiry_date: expirationDate,
    city: unlessHidden(fieldText(row, columns.city)) || null,
    state: unlessHidden(fieldText(row, columns.state)) || null,
    county: unlessHidden(fieldText(row, columns.county)) || null,
    issue_date: issueDate,
    extra_data: extraData(row, header.extra),
  };
  requirePossibleId(record, 'LICENSE_NUMBER');
  const documents = [licenseDocument(record, kind, sourceRowId(row, header, 0))];
  const unknown: UnknownLabel[] = [];
  if (board === undefined) unknown.push({ kind: 'board', label: boardLabel });
  noteUnknownLabels(unknown, board, record, status, subStatus);
  const rejectedEndorsements: string[] = [];
  for (const [index, endorsementColumns] of header.endorsements.entries()) {
    if (fieldText(row, endorsementColumns.number) === '') continue;
    try {
      const endorsement = endorsementRecord(row, endorsementColumns, record, { status, subStatus });
      documents.push(licenseDocument(endorsement, kind, sourceRowId(row, header, index + 1)));
      const { status: itsStatus, subStatus: itsSubStatus } = endorsementColumns;
      noteUnknownLabels(unknown, board, endorsement, fieldText(row, itsStatus), fieldText(row, itsSubStatus));
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      rejectedEndorsements.push(`endorsement ${index + 1}: ${error.message}`);
    }
  }
  return { documents, unknownLabels: unknown, rejectedEndorsements };
}

/** A field can't be read. The message says which and why. */
class FieldError extends Error {}

/** @param column of the number, as the message names it */
function requirePossibleId({ board, license_number: number }: LicenseRecord, column: string): void {
  if (!isPossibleId(licenseId(board, number)))
    throw new FieldError(`BOARD and ${column} are too long to make an id`);
}

/** Adds the labels of a license that the catalogs of boards and statuses do not have, as the row has them. */
function noteUnknownLabels(
  unknown: UnknownLabel[],
  board: Board | undefined,
  record: LicenseRecord,
  status: string,
  subStatus: string,
): void {
  const type = record.license_type ?? '';
  const action = boardAction(record);
  if (board !== undefined && type !== '' && !isLicenseTypeOf(board, type))
    unknown.push({ kind: 'license type', label: `${board.code}: ${type}` });
  if (!isKnownStatus(status)) unknown.push({ kind: 'status', label: status });
  if (!isKnownSubStatus(subStatus)) unknown.push({ kind: 'sub-status', label: subStatus });
  if (!isKnownBoardAction(action)) unknown.push({ kind: 'board action', label: action });
}

/** The record of a numbered endorsement. @throws {FieldError} when it can't be read */
function endorsementRecord(
  row: CsvRow,
  columns: EndorsementColumns,
  endorsed: LicenseRecord,
  statusOfEndorsed: { readonly status: string; readonly subStatus: string },
): LicenseRecord {
  const number = licenseNumber(row, columns.number, 'ENDORSEMENT_NUMBER');
  const issueDate = dateField(row, columns.issueDate, 'ENDORSEMENT_ISSUE_DATE');
  const expirationDate = dateField(row, columns.expirationDate, 'ENDORSEMENT_EXPIRATION_DATE');
  const record: LicenseRecord = {
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
  requirePossibleId(record, 'ENDORSEMENT_NUMBER');
  return record;
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

const PLACE_LABELS: ReadonlySet<string> = new Set(['County', 'ZIP', 'Country']);

/** The attributes of a license that an endorsement of it shares: where its holder is. */
function placeOf(extra: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(extra).filter(([label]) => PLACE_LABELS.has(label)));
}

/** A field's text, without the blanks around it; empty when the file does not have the column. */
function fieldText(row: CsvRow, position: number | undefined): string {
  return position === undefined ? '' : (row.fields[position] ?? '').trim();
}

const MAX_NAME_LENGTH = 1000;
const MAX_BOARD_LENGTH = 200;
const MAX_NUMBER_LENGTH = 100;

/** @throws {FieldError} when it is blank or too long */
function requiredText(row: CsvRow, position: number | undefined, name: string, maxLength: number): string {
  const text = fieldText(row, position);
  if (text === '') throw new FieldError(`${name} is blank`);
  if (text.length > maxLength) throw new FieldError(`${name} is over ${maxLength} characters`);
  return text;
}

/** Nearly every number: its key need not be made to know that it has a letter or digit. */
const COMMON_NUMBER = /^[A-Z0-9]/;

/** @throws {FieldError} when it is blank, too long, or its key would be empty */
function licenseNumber(row: CsvRow, position: number | undefined, name: string): string {
  const number = requiredText(row, position, name, MAX_NUMBER_LENGTH);
  if (COMMON_NUMBER.test(number) || numberKey(number) !== '') return number;
  throw new FieldError(`${name} has no letter and no digit`);
}

/** An ISO date; null when it is blank. @throws {FieldError} when it is not a date */
function dateField(row: CsvRow, position: number | undefined, name: string): string | null {
  const text = fieldText(row, position);
  if (text === '') return null;
  const iso = isoDate(text);
  if (iso === undefined) throw new FieldError(`${name} "${text.slice(0, 40)}" is not a date`);
  return iso;
}
