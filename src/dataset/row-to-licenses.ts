import { z } from 'zod';
import { type Board, boardByLabel, isLicenseTypeOf } from '../licenses/boards.ts';
import { isoDate } from '../licenses/dates.ts';
import { boardAction, isKnownBoardAction } from '../licenses/discipline.ts';
import { endorsedLicenseAttributes } from '../licenses/endorsements.ts';
import {
  isPossibleId,
  type LicenseDocument,
  licenseDocument,
  licenseId,
} from '../licenses/license-document.ts';
import type { LicenseRecord } from '../licenses/license-record.ts';
import { numberKey } from '../licenses/number.ts';
import { fullName } from '../licenses/person-name.ts';
import { isKnownStatus, isKnownSubStatus, recordStatus } from '../licenses/status.ts';
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
  const unknown: UnknownLabel[] = [];
  if (board === undefined) unknown.push({ kind: 'board', label: fields.board });
  noteUnknownLabels(unknown, board, record, status, subStatus);
  const rejectedEndorsements: string[] = [];
  for (const [index, endorsementColumns] of header.endorsements.entries()) {
    if (fieldText(row, endorsementColumns.number) === '') continue;
    const endorsement = endorsementRecord(row, endorsementColumns, record, { status, subStatus });
    if (typeof endorsement === 'string') {
      rejectedEndorsements.push(`endorsement ${index + 1}: ${endorsement}`);
      continue;
    }
    documents.push(licenseDocument(endorsement, kind, sourceRowId(row, header, index + 1)));
    const [itsStatus, itsSubStatus] = [endorsementColumns.status, endorsementColumns.subStatus];
    noteUnknownLabels(unknown, board, endorsement, fieldText(row, itsStatus), fieldText(row, itsSubStatus));
  }
  return { documents, unknownLabels: unknown, rejectedEndorsements };
}

const ARE_TOO_LONG = 'are too long to make an id';

function hasPossibleId({ board, license_number: number }: LicenseRecord): boolean {
  return isPossibleId(licenseId(board, number));
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

/** A field's text, without the blanks around it; empty when the file does not have the column. */
function fieldText(row: CsvRow, position: number | undefined): string {
  return position === undefined ? '' : (row.fields[position] ?? '').trim();
}

const date = (name: string) =>
  z.string().transform((text, context) => {
    if (text === '') return null;
    const iso = isoDate(text);
    if (iso !== undefined) return iso;
    context.addIssue({ code: 'custom', message: `${name} "${text.slice(0, 40)}" is not a date` });
    return z.NEVER;
  });

const requiredText = (name: string, maxLength: number) =>
  z.string().min(1, `${name} is blank`).max(maxLength, `${name} is over ${maxLength} characters`);

/** Without letters and digits, a license number's key would be empty. */
const licenseNumber = (name: string) =>
  requiredText(name, 100).refine((number) => numberKey(number) !== '', `${name} has no letter and no digit`);

const MAX_NAME_LENGTH = 1000;
const MAX_BOARD_LENGTH = 200;

/** The fields of a row for which not every text is valid. */
export const checkedFields = z.object({
  name: requiredText('the name', MAX_NAME_LENGTH),
  board: requiredText('BOARD', MAX_BOARD_LENGTH),
  number: licenseNumber('LICENSE_NUMBER'),
  issueDate: date('ISSUE_DATE'),
  expirationDate: date('EXPIRATION_DATE'),
  runDate: date('QUERY_RUN_DATE'),
});

const checkedEndorsementFields = z.object({
  number: licenseNumber('ENDORSEMENT_NUMBER'),
  issueDate: date('ENDORSEMENT_ISSUE_DATE'),
  expirationDate: date('ENDORSEMENT_EXPIRATION_DATE'),
});

/** Valid fields, with ISO dates; or what is wrong with the first invalid one. */
type Checked<Schema extends z.ZodType> =
  | { readonly fields: z.output<Schema>; readonly problem?: undefined }
  | { readonly problem: string };

/** Checks a row's own fields. */
function checkFields(row: CsvRow, { columns }: Header): Checked<typeof checkedFields> {
  const fields = {
    name: fieldText(row, columns.name),
    board: fieldText(row, columns.board),
    number: fieldText(row, columns.number),
    issueDate: fieldText(row, columns.issueDate),
    expirationDate: fieldText(row, columns.expirationDate),
    runDate: fieldText(row, columns.runDate),
  };
  if (!canSkipChecks(fields)) return parsed(checkedFields, fields);
  const { issueDate, expirationDate, runDate } = fields;
  return {
    fields: {
      ...fields,
      issueDate: issueDate || null,
      expirationDate: expirationDate || null,
      runDate: runDate || null,
    },
  };
}

/** Checks the fields of one numbered endorsement. */
function checkEndorsementFields(
  row: CsvRow,
  columns: EndorsementColumns,
): Checked<typeof checkedEndorsementFields> {
  return parsed(checkedEndorsementFields, {
    number: fieldText(row, columns.number),
    issueDate: fieldText(row, columns.issueDate),
    expirationDate: fieldText(row, columns.expirationDate),
  });
}

function parsed<Schema extends z.ZodType>(schema: Schema, fields: z.input<Schema>): Checked<Schema> {
  const result = schema.safeParse(fields);
  return result.success
    ? { fields: result.data }
    : { problem: result.error.issues[0]?.message ?? 'can not be read' };
}

const COMMON_NUMBER = /^[A-Z0-9][A-Z0-9.-]{0,99}$/;

/**
 * Whether the fields have the form of nearly every row, which `checkedFields` would not change. Its checks take a
 * tenth of a row's CPU time.
 */
export function canSkipChecks(fields: z.input<typeof checkedFields>): boolean {
  return (
    fields.name !== '' &&
    fields.name.length <= MAX_NAME_LENGTH &&
    fields.board !== '' &&
    fields.board.length <= MAX_BOARD_LENGTH &&
    COMMON_NUMBER.test(fields.number) &&
    isBlankOrIso(fields.issueDate) &&
    isBlankOrIso(fields.expirationDate) &&
    isBlankOrIso(fields.runDate)
  );
}

function isBlankOrIso(text: string): boolean {
  return text === '' || isoDate(text) === text;
}
