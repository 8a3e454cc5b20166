/** One row of a CSV file. */
export interface CsvRow {
  /** The line on which it begins, counted from 1. */
  readonly line: number;
  readonly fields: readonly string[];
  /** The row's text in the file, without the line break. */
  readonly raw: string;
  /** Why the row can't be read. Its `fields` are then empty. */
  readonly problem?: string;
  /** Set when the file ends inside the row or right after it: without a line break, or with a quote left open. */
  readonly isTruncated?: true;
}

/** No field of the State's files is nearly as long. In a longer one, a quote was left open. */
export const MAX_FIELD_LENGTH = 4000;

/** The State's files have 154 columns. A header with more than this is none. */
const MAX_COLUMNS = 1000;

/** Far more than 154 fields of 4,000 characters. Longer text without a row end is not CSV and must not fill the memory. */
const MAX_ROW_LENGTH = 4_000_000;

/** The text is not CSV: no row ends where one must. */
export class NoCsvError extends Error {}

/**
 * Reads CSV text (RFC 4180: quoted fields may hold commas, doubled quotes and line breaks), one batch of rows
 * for each chunk of text.
 *
 * A row can't be read when it has a field over 4,000 characters, text after a closing quote, a quote left open, or
 * a number of fields other than `width`. Reading then continues with the next line, so that an open quote hides no
 * further rows. A quote inside an unquoted field is an ordinary character. Blank lines are skipped.
 *
 * @param width how many fields each row has; by default as many as the first row, the header
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
    // What follows the last line break is not a whole line yet.
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

/** Takes the rows from these lines. One that goes on behind them stays, unless nothing follows. */
function takeRows(reader: Reader, lines: string[], areLast: boolean): CsvRow[] {
  const rows: CsvRow[] = [];
  let at = 0;
  while (at < lines.length) {
    const firstLine = withoutCarriageReturn(lines[at] ?? '');
    // After a row that can't be read, reading continues with the next line.
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

/** The fields of a row and how many lines it has, or why it can't be read. */
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
  /** A quoted field as far as it has been read. It is closed when its quotes are even. */
  let open = '';
  let quotes = 0;
  for (let at = first; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const text = withoutCarriageReturn(line);
    // Behind the last quote, each field ends at the next comma.
    const comma = text.indexOf(',', text.lastIndexOf('"') + 1);
    const pieces = (comma < 0 ? text : text.slice(0, comma)).split(',');
    for (let place = 0; place < pieces.length; place += 1) {
      const piece = pieces[place] ?? '';
      if (open === '' && !piece.startsWith('"')) {
        if (piece.length > MAX_FIELD_LENGTH) return { problem: TOO_LONG };
        fields.push(piece);
        continue;
      }
      // The next line is read as a row, too: without a bound, each line could be read to the end of the file.
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

/** Why a row can't be read whose number of fields is not that of the first row. */
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

/** A longer quoted field is too long even if each of its characters is a doubled quote. */
const LONGEST_QUOTED = 2 * MAX_FIELD_LENGTH + 2;

const QUOTED = /^"([^"]*(?:""[^"]*)*)(?:"(?!"))?/;

/** What a quoted field says, or why it can't be read. */
function unquoted(text: string): { readonly field?: string; readonly problem?: string } {
  // Most have no quote inside.
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
