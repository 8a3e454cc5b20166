import { boardByLabel, isLicenseTypeOf } from '../licenses/boards.ts';
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
import type { ExtraColumn, Header, NumberedColumns } from './header.ts';

/** A label that is missing from the catalogs of boards and statuses. */
export interface UnknownLabel {
  readonly kind: 'board' | 'license type' | 'status' | 'sub-status' | 'board action';
  /** The text in the row. A license type is preceded by its board's code. */
  readonly label: string;
}

/** The licenses of one row, or why the row was rejected. */
export type RowLicenses = ReturnType<typeof licensesOfRow>;

/**
 * Makes the license records of one row: its own license, and one for each endorsement with a number. An
 * advanced-practice nurse's number, for example, appears only in the endorsement columns of the RN's row (dataset.md).
 *
 * @param runDate the run date that every row of the file must have
 */
export function licensesOfRow(row: CsvRow, header: Header, runDate: string) {
  if (row.problem !== undefined) return { rejection: row.problem };
  try {
    return licensesOf(row, header, runDate);
  } catch (error) {
    if (error instanceof FieldError) return { rejection: error.message };
    throw error;
  }
}

/** @throws {FieldError} when the row's own license cannot be read */
function licensesOf(row: CsvRow, header: Header, runDate: string) {
  const { columns } = header;
  const kind = header.file === 'individual' ? 'person' : 'business';
  const name = requiredText(row, columns.name, 'the name', MAX_NAME_LENGTH);
  const boardLabel = requiredText(row, columns.board, 'BOARD', MAX_BOARD_LENGTH);
  const board = boardByLabel(boardLabel);
  /** The row's own license first, then its endorsements. */
  const documents: LicenseDocument[] = [];
  const unknownLabels: UnknownLabel[] = board === undefined ? [{ kind: 'board', label: boardLabel }] : [];

  /** @param endorsement the endorsement's position in the row; 0 for the row's own license */
  function add(record: LicenseRecord, { status, subStatus }: Statuses, endorsement: number): void {
    if (!isPossibleId(licenseId(record.board, record.license_number))) {
      const column = endorsement === 0 ? 'LICENSE_NUMBER' : 'ENDORSEMENT_NUMBER';
      throw new FieldError(`BOARD and ${column} are too long to make an id`);
    }
    documents.push(licenseDocument(record, kind, `${header.file}:${row.line}:${endorsement}`));
    const type = record.license_type ?? '';
    const action = boardAction(record);
    if (board !== undefined && type !== '' && !isLicenseTypeOf(board, type))
      unknownLabels.push({ kind: 'license type', label: `${board.code}: ${type}` });
    if (!isKnownStatus(status)) unknownLabels.push({ kind: 'status', label: status });
    if (!isKnownSubStatus(subStatus)) unknownLabels.push({ kind: 'sub-status', label: subStatus });
    if (!isKnownBoardAction(action)) unknownLabels.push({ kind: 'board action', label: action });
  }

  const own = numberedLicense(row, columns, '');
  const rowDate = dateField(row, columns.runDate, 'QUERY_RUN_DATE') ?? runDate;
  if (rowDate !== runDate) throw new FieldError(`QUERY_RUN_DATE is ${rowDate}, not ${runDate}`);
  const record: LicenseRecord = {
    ...own.fields,
    full_name: kind === 'person' ? fullName(name) : name,
    board: board?.name ?? boardLabel,
    city: unlessHidden(fieldText(row, columns.city)) || null,
    state: unlessHidden(fieldText(row, columns.state)) || null,
    county: unlessHidden(fieldText(row, columns.county)) || null,
    extra_data: extraData(row, header.extra),
  };
  add(record, own, 0);
  /** One message for each rejected endorsement of the row. */
  const rejectedEndorsements: string[] = [];
  for (const [index, endorsementColumns] of header.endorsements.entries()) {
    if (fieldText(row, endorsementColumns.number) === '') continue;
    try {
      const endorsement = numberedLicense(row, endorsementColumns, 'ENDORSEMENT_');
      const extra_data = {
        ...endorsedLicenseAttributes(record, own),
        ...placeOf(record.extra_data),
        ...extraData(row, endorsementColumns.extra),
      };
      add({ ...record, ...endorsement.fields, extra_data }, endorsement, index + 1);
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      rejectedEndorsements.push(`endorsement ${index + 1}: ${error.message}`);
    }
  }
  return { documents, unknownLabels, rejectedEndorsements };
}

/** A field cannot be read. The message says which field and why. */
class FieldError extends Error {}

/** The STATUS and SUB_STATUS of a license as written in the row. */
type Statuses = Pick<ReturnType<typeof numberedLicense>, 'status' | 'subStatus'>;

/**
 * The fields of one license in a row: the row's own, or an endorsement with a number.
 *
 * @param of the prefix of the column names
 * @throws {FieldError} when the license cannot be read
 */
function numberedLicense(row: CsvRow, columns: NumberedColumns, of: '' | 'ENDORSEMENT_') {
  const status = fieldText(row, columns.status);
  const subStatus = fieldText(row, columns.subStatus);
  const fields = {
    license_number: licenseNumber(row, columns.number, `${of || 'LICENSE_'}NUMBER`),
    license_type: fieldText(row, columns.type) || null,
    ...recordStatus(status, subStatus),
    issue_date: dateField(row, columns.issueDate, `${of}ISSUE_DATE`),
    expiry_date: dateField(row, columns.expirationDate, `${of}EXPIRATION_DATE`),
  };
  return { status, subStatus, fields };
}

/** The State writes HIDDEN for a place that it withholds. It counts as blank. */
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

/** The attributes of a license that its endorsements share: where the holder is. */
function placeOf(extra: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(extra).filter(([label]) => PLACE_LABELS.has(label)));
}

/** A field's text, without surrounding blanks; empty if the file lacks the column. */
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

/** Nearly every number begins like this. It has a letter or digit, so there is no need to compute its key. */
const COMMON_NUMBER = /^[A-Z0-9]/;

/** @throws {FieldError} when the number is blank, too long, or has an empty key */
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
