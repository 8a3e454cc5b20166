/** One row of a CSV file. */
export interface CsvRow {
  /** The line on which the row begins, counted from 1. */
  readonly line: number;
  readonly fields: readonly string[];
  /** The row's text in the file, without its line break. */
  readonly raw: string;
  /** Why the row could not be read. Its `fields` are then empty. */
  readonly problem?: string;
  /** Set when the file ends inside the row, or after it without a line break, or with an open quote. */
  readonly isTruncated?: true;
}

/** No field in the State's files is nearly this long. A longer field means that a quote was left open. */
export const MAX_FIELD_LENGTH = 4000;

/** The State's files have at most 154 columns. A first row with more columns than this is not a header. */
const MAX_COLUMNS = 1000;

/**
 * Far more than 154 fields of 4,000 characters. Longer text without a row end is not CSV and must not fill the memory.
 */
const MAX_ROW_LENGTH = 4_000_000;

/** The text is not CSV: it has no row end within the maximum length. */
export class NoCsvError extends Error {}

/**
 * Reads CSV text (RFC 4180: quoted fields may contain commas, doubled quotes and line breaks), one batch of rows for
 * each chunk of text.
 *
 * A row cannot be read when it has a field over 4,000 characters, text after a closing quote, a quote left open, or a
 * number of fields other than `width`. Reading then continues with the next line, so that an open quote does not hide
 * the rows after it. A quote inside an unquoted field is an ordinary character. Blank lines are skipped.
 *
 *
 * @param width the number of fields in each row; by default that of the first row, the header
 * @throws {NoCsvError} when no row ends within 4,000,000 characters
 */
export async function* readCsv(
  chunks: AsyncIterable<string>,
  width?: number,
): AsyncGenerator<CsvRow[], void, undefined> {
  const reader = { line: 1, width };
  let begun = '';
  for await (const chunk of chunks) {
    const lines = (begun + chunk).split('\n');
    // The text after the last line break is not a complete line yet.
    const next = lines.pop() ?? '';
    const rows = takeRows(reader, lines, false);
    begun = [...lines, next].join('\n');
    if (rows.length > 0) yield rows;
    if (begun.length > MAX_ROW_LENGTH)
      throw new NoCsvError(`No row ends within ${MAX_ROW_LENGTH} characters.`);
  }
  const rows = takeRows(reader, begun.split('\n'), true);
  const last = rows.at(-1);
  if (last !== undefined && !begun.endsWith('\n')) rows.splice(-1, 1, { ...last, isTruncated: true });
  if (rows.length > 0) yield rows;
}

interface Reader {
  line: number;
  width: number | undefined;
}

/**
 * Takes the rows from these lines. A row that is still incomplete at the end stays for the next call, unless these are
 * the last lines.
 */
function takeRows(reader: Reader, lines: string[], areLast: boolean): CsvRow[] {
  const rows: CsvRow[] = [];
  let at = 0;
  while (at < lines.length) {
    const firstLine = withoutCarriageReturn(lines[at] ?? '');
    // After an unreadable row, reading continues with the next line.
    const { fields = [], height = 1, problem } = firstLine === '' ? BLANK : readRow(reader, lines, at);
    if (problem === LEFT_OPEN && !areLast) break;
    if (firstLine !== '') {
      rows.push({
        line: reader.line,
        fields,
        raw: height === 1 ? firstLine : withoutCarriageReturn(lines.slice(at, at + height).join('\n')),
        ...(problem !== undefined && { problem }),
        ...(problem === LEFT_OPEN && { isTruncated: true }),
      });
    }
    at += height;
    reader.line += height;
  }
  lines.splice(0, at);
  return rows;
}

/** The fields of a row and its number of lines, or why it cannot be read. */
interface Row {
  readonly fields?: readonly string[];
  readonly height?: number;
  readonly problem?: string | undefined;
}

const BLANK: Row = {};

const TOO_LONG = `has a field of more than ${MAX_FIELD_LENGTH} characters (a quote left open?)`;
const LEFT_OPEN = 'has a quote left open at the end of the file';
const AFTER_QUOTE = 'has text after a closing quote';

/** Reads the row that begins on this line. */
function readRow(reader: Reader, lines: readonly string[], first: number): Row {
  const { width = MAX_COLUMNS } = reader;
  const fields: string[] = [];
  /** The part of a quoted field read so far. The field is closed when its number of quotes is even. */
  let open = '';
  let quotes = 0;
  for (let at = first; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const text = withoutCarriageReturn(line);
    // After the last quote, each field ends at the next comma.
    const comma = text.indexOf(',', text.lastIndexOf('"') + 1);
    const pieces = (comma < 0 ? text : text.slice(0, comma)).split(',');
    for (let place = 0; place < pieces.length; place += 1) {
      const piece = pieces[place] ?? '';
      if (open === '' && !piece.startsWith('"')) {
        if (piece.length > MAX_FIELD_LENGTH) return { problem: TOO_LONG };
        fields.push(piece);
        continue;
      }
      // The next line is then read as a row of its own. Without this limit, each line could be read to the end of the
      // file.
      if (fields.length > width) return { problem: moreFieldsThan(width) };
      open += open === '' ? piece : `${place === 0 ? '\n' : ','}${piece}`;
      for (let quote = piece.indexOf('"'); quote >= 0; quote = piece.indexOf('"', quote + 1)) quotes += 1;
      if (quotes % 2 === 1 && open.length <= LONGEST_QUOTED) continue;
      const { field, problem } = unquoted(open);
      if (field === undefined) return { problem };
      fields.push(field);
      [open, quotes] = ['', 0];
    }
    if (open === '') {
      const others = comma < 0 ? [] : text.slice(comma + 1).split(',');
      const isLong = text.length > MAX_FIELD_LENGTH && others.some(({ length }) => length > MAX_FIELD_LENGTH);
      const all = fields.concat(others);
      const problem = isLong ? TOO_LONG : problemOfWidth(reader, all.length);
      return problem === undefined ? { fields: all, height: at - first + 1 } : { problem };
    }
    open += (comma < 0 ? '' : text.slice(comma)) + line.slice(text.length);
  }
  return { problem: unquoted(open).problem };
}

/** The problem of a row whose number of fields differs from the first row's. */
function problemOfWidth(reader: Reader, length: number): string | undefined {
  if (reader.width === undefined && length <= MAX_COLUMNS) reader.width = length;
  if (length === reader.width) return undefined;
  return reader.width === undefined
    ? moreFieldsThan(MAX_COLUMNS)
    : `has ${length} fields, not ${reader.width}`;
}

function moreFieldsThan(most: number): string {
  return `has more than ${most} fields`;
}

/** A longer quoted field is too long even if all its characters are doubled quotes. */
const LONGEST_QUOTED = 2 * MAX_FIELD_LENGTH + 2;

const QUOTED = /^"([^"]*(?:""[^"]*)*)(?:"(?!"))?/;

/** The value of a quoted field, or why it cannot be read. */
function unquoted(text: string): { readonly field?: string; readonly problem?: string } {
  // Most quoted fields have no quote inside.
  const isSimple = text.length <= MAX_FIELD_LENGTH && text.indexOf('"', 1) === text.length - 1;
  if (isSimple) return { field: text.slice(1, -1) };
  const [read = '', content = ''] = QUOTED.exec(text.slice(0, LONGEST_QUOTED + 1)) ?? [];
  const field = content.replaceAll('""', '"');
  if (field.length > MAX_FIELD_LENGTH) return { problem: TOO_LONG };
  if (read.length === content.length + 1) return { problem: LEFT_OPEN };
  return read === text ? { field } : { problem: AFTER_QUOTE };
}

function withoutCarriageReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
