import { z } from 'zod';
import { type Board, boardByLabel, isLicenseTypeOf } from '../licenses/boards.ts';
import { isoDate } from '../licenses/dates.ts';
import { type LicenseDocument, licenseDocument } from '../licenses/document.ts';
import { fullName } from '../licenses/name.ts';
import { numberKey } from '../licenses/number.ts';
import type { LicenseRecord } from '../licenses/record.ts';
import { isKnownStatus, isKnownSubStatus, recordStatus } from '../licenses/status.ts';
import type { CsvRow } from './csv.ts';
import type { EndorsementColumns, ExtraColumn, Header } from './header.ts';

/** A label that the catalogs of boards and statuses do not know. */
export interface UnknownLabel {
  readonly kind: 'board' | 'license type' | 'status' | 'sub-status';
  /** As it stands in the row; a license type's with its board's code before it. */
  readonly label: string;
}

/**
 * What a row of the dataset gives: its licenses, its own first, with why an endorsement of it can't be
 * published; or why the row can't be.
 */
export type RowLicenses =
  | {
      readonly documents: readonly LicenseDocument[];
      readonly unknownLabels: readonly UnknownLabel[];
      readonly reasons: readonly string[];
    }
  | { readonly reason: string };

const date = (name: string) =>
  z.string().transform((text, context) => {
    if (text === '') return null;
    const iso = isoDate(text);
    if (iso !== undefined) return iso;
    context.addIssue({ code: 'custom', message: `${name} "${text.slice(0, 40)}" is no date` });
    return z.NEVER;
  });

const needed = (name: string, most: number) =>
  z.string().min(1, `${name} is blank`).max(most, `${name} is over ${most} characters`);

/** OpenSearch takes ids of 512 bytes at the most; a number of separators alone could be found by anything. */
const licenseNumber = (name: string) =>
  needed(name, 100).refine((number) => numberKey(number) !== '', `${name} has neither letter nor digit`);

const LONGEST_NAME = 1000;
const LONGEST_BOARD = 200;

/** Those of a row's own columns in which not everything may stand. */
export const sourceRow = z.object({
  name: needed('the name', LONGEST_NAME),
  board: needed('BOARD', LONGEST_BOARD),
  number: licenseNumber('LICENSE_NUMBER'),
  issueDate: date('ISSUE_DATE'),
  expirationDate: date('EXPIRATION_DATE'),
  runDate: date('QUERY_RUN_DATE'),
});

const endorsementGroup = z.object({
  number: licenseNumber('ENDORSEMENT_NUMBER'),
  issueDate: date('ENDORSEMENT_ISSUE_DATE'),
  expirationDate: date('ENDORSEMENT_EXPIRATION_DATE'),
});

/**
 * Makes license records of one row: the row's own, and one for each endorsement with a number, which the
 * dataset has nowhere else (dataset.md: an advanced-practice nurse's number stands only in the RN's row).
 *
 * @param runDate the run date that every row of the file must have
 */
export function licensesOfRow(row: CsvRow, header: Header, runDate: string): RowLicenses {
  if (row.problem !== undefined) return { reason: row.problem };
  const own = checkedColumns(row, header);
  if ('reason' in own) return own;
  const free = freeColumns(row, header);
  if (own.runDate !== null && own.runDate !== runDate) {
    return { reason: `QUERY_RUN_DATE is ${own.runDate}, not ${runDate}` };
  }

  const board = boardByLabel(own.board);
  const place = { city: free.city || null, state: free.state || null, county: free.county || null };
  const extra = extraData(row, header.extra);
  const kind = holderKind(header);
  const record: LicenseRecord = {
    license_number: own.number,
    full_name: kind === 'person' ? fullName(own.name) : own.name,
    board: board?.name ?? own.board,
    license_type: free.type || null,
    ...recordStatus(free.status, free.subStatus),
    expiry_date: own.expirationDate,
    ...place,
    issue_date: own.issueDate,
    extra_data: extra,
  };
  const documents = [licenseDocument(record, kind, sourceRowId(row, header, 0))];
  const reasons: string[] = [];
  for (const [index, columns] of header.endorsements.entries()) {
    if (text(row, columns.number) === '') continue;
    const endorsement = endorsementRecord(row, columns, record);
    if (typeof endorsement === 'string') reasons.push(`endorsement ${index + 1}: ${endorsement}`);
    else documents.push(licenseDocument(endorsement, kind, sourceRowId(row, header, index + 1)));
  }
  const types = documents.map(({ license_type: type }) => type ?? '');
  return { documents, unknownLabels: unknownLabels(board, { ...free, board: own.board }, types), reasons };
}

/** A numbered endorsement as a license of its own, or why it can't be one. */
function endorsementRecord(
  row: CsvRow,
  columns: EndorsementColumns,
  endorsed: LicenseRecord,
): LicenseRecord | string {
  const parsed = endorsementGroup.safeParse({
    number: text(row, columns.number),
    issueDate: text(row, columns.issueDate),
    expirationDate: text(row, columns.expirationDate),
  });
  if (!parsed.success) return firstIssue(parsed.error);
  const { number, issueDate, expirationDate } = parsed.data;
  return {
    ...endorsed,
    license_number: number,
    license_type: text(row, columns.type) || null,
    ...recordStatus(text(row, columns.status), text(row, columns.subStatus)),
    expiry_date: expirationDate,
    issue_date: issueDate,
    extra_data: {
      'Endorsed License': endorsed.license_number,
      ...placeData(endorsed.extra_data),
      ...(issueDate === null ? {} : { 'Issue Date': issueDate }),
      ...extraData(row, columns.extra),
    },
  };
}

type CheckedColumns = z.output<typeof sourceRow>;

/** The columns that `sourceRow` checks; or why they can't be. */
function checkedColumns(row: CsvRow, { columns }: Header): CheckedColumns | { readonly reason: string } {
  const own = {
    name: text(row, columns.name),
    board: text(row, columns.board),
    number: text(row, columns.number),
    issueDate: text(row, columns.issueDate),
    expirationDate: text(row, columns.expirationDate),
    runDate: text(row, columns.runDate),
  };
  if (isPlain(own)) {
    const { issueDate, expirationDate, runDate } = own;
    return {
      ...own,
      issueDate: issueDate || null,
      expirationDate: expirationDate || null,
      runDate: runDate || null,
    };
  }
  const result = sourceRow.safeParse(own);
  return result.success ? result.data : { reason: firstIssue(result.error) };
}

const PLAIN_NUMBER = /^[A-Z0-9][A-Z0-9.-]{0,99}$/;

/**
 * Whether these columns are as they are in nearly every row, which `sourceRow` takes as they stand: its checks cost
 * a tenth of a row's CPU.
 */
export function isPlain(own: z.input<typeof sourceRow>): boolean {
  return (
    own.name !== '' &&
    own.name.length <= LONGEST_NAME &&
    own.board !== '' &&
    own.board.length <= LONGEST_BOARD &&
    PLAIN_NUMBER.test(own.number) &&
    isPlainDate(own.issueDate) &&
    isPlainDate(own.expirationDate) &&
    isPlainDate(own.runDate)
  );
}

function isPlainDate(text: string): boolean {
  return text === '' || isoDate(text) === text;
}

function freeColumns(row: CsvRow, { columns }: Header) {
  return {
    type: text(row, columns.type),
    status: text(row, columns.status),
    subStatus: text(row, columns.subStatus),
    city: visible(text(row, columns.city)),
    state: visible(text(row, columns.state)),
    county: visible(text(row, columns.county)),
  };
}

function text(row: CsvRow, position: number | undefined): string {
  return position === undefined ? '' : (row.fields[position] ?? '').trim();
}

/** A place that the State withholds reads HIDDEN, which means blank. */
function visible(place: string): string {
  return place === 'HIDDEN' ? '' : place;
}

function extraData(row: CsvRow, columns: readonly ExtraColumn[]): Record<string, string> {
  const extra: Record<string, string> = {};
  for (const column of columns) {
    const field = row.fields[column.position];
    if (field === undefined || field === '') continue;
    const trimmed = field.trim();
    const value = column.isPlace ? visible(trimmed) : trimmed;
    if (value !== '') extra[column.label] = column.isDate ? (isoDate(value) ?? value) : value;
  }
  return extra;
}

const PLACE_LABELS = ['County', 'ZIP', 'Country'] as const;

/** What an endorsement has in common with the license it endorses: where the holder is. */
function placeData(extra: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    PLACE_LABELS.flatMap((label) => {
      const value = extra[label];
      return value === undefined ? [] : [[label, value]];
    }),
  );
}

function holderKind(header: Header): 'person' | 'business' {
  return header.file === 'individual' ? 'person' : 'business';
}

function sourceRowId(row: CsvRow, header: Header, place: number): string {
  return `${header.file}:${row.line}:${place}`;
}

const NONE_UNKNOWN: readonly UnknownLabel[] = [];

function unknownLabels(
  board: Board | undefined,
  own: { readonly board: string; readonly status: string; readonly subStatus: string },
  types: readonly string[],
): readonly UnknownLabel[] {
  const labels: UnknownLabel[] = [];
  if (board === undefined) labels.push({ kind: 'board', label: own.board });
  else {
    for (const type of types) {
      if (type !== '' && !isLicenseTypeOf(board, type))
        labels.push({ kind: 'license type', label: `${board.code}: ${type}` });
    }
  }
  if (!isKnownStatus(own.status)) labels.push({ kind: 'status', label: own.status });
  if (!isKnownSubStatus(own.subStatus)) labels.push({ kind: 'sub-status', label: own.subStatus });
  return labels.length === 0 ? NONE_UNKNOWN : labels;
}

function firstIssue(error: z.ZodError): string {
  return error.issues[0]?.message ?? 'can not be read';
}
