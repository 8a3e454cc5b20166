import { z } from 'zod';
import { isoDate } from '../licenses/dates.ts';
import { numberKey } from '../licenses/number.ts';
import type { CsvRow } from './csv.ts';
import type { EndorsementColumns, Header } from './header.ts';

/** A field's text, without the blanks around it; empty when the file does not have the column. */
export function fieldText(row: CsvRow, position: number | undefined): string {
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
export type Checked<Schema extends z.ZodType> =
  | { readonly fields: z.output<Schema>; readonly problem?: undefined }
  | { readonly problem: string };

/** Checks a row's own fields. */
export function checkFields(row: CsvRow, { columns }: Header): Checked<typeof checkedFields> {
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
export function checkEndorsementFields(
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
