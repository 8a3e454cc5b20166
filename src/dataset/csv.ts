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

const COMMA = 44;
const QUOTE = 34;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

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
  const reader = { text: '', line: 1, width };
  for await (const chunk of chunks) {
    reader.text += chunk;
    const rows = takeRows(reader, false);
    if (rows.length > 0) yield rows;
    if (reader.text.length > MAX_ROW_LENGTH)
      throw new NoCsvError(`No row ends within ${MAX_ROW_LENGTH} characters.`);
  }
  const isEnded = reader.text.endsWith('\n');
  const rows = takeRows(reader, true);
  const last = rows.at(-1);
  if (last !== undefined && !isEnded) rows.splice(-1, 1, { ...last, isTruncated: true });
  if (rows.length > 0) yield rows;
}

interface Reader {
  text: string;
  line: number;
  width: number | undefined;
}

function takeRows(reader: Reader, isLast: boolean): CsvRow[] {
  const { text } = reader;
  const rows: CsvRow[] = [];
  let at = 0;
  let nextQuote = text.indexOf('"');
  while (at < text.length) {
    const lineBreak = text.indexOf('\n', at);
    if (lineBreak < 0 && !isLast) break;
    const lineEnd = lineBreak < 0 ? text.length : lineBreak;
    if (nextQuote >= 0 && nextQuote < at) nextQuote = text.indexOf('"', at);
    const isPlain = nextQuote < 0 || nextQuote > lineEnd;
    const read = isPlain
      ? plainFields(text, at, lineEnd)
      : readFields(text, at, lineEnd, isLast, reader.width ?? MAX_COLUMNS);
    if (read === undefined) break;
    const isBlank = isPlain && at === withoutCarriageReturn(text, at, lineEnd);
    const problem = isBlank ? undefined : (read.problem ?? problemOfWidth(reader, read.fields));
    // After a row that can't be read, reading continues with the next line.
    const { fields, end, lineBreaks } =
      problem === undefined && read.problem === undefined
        ? read
        : { fields: [], end: lineEnd, lineBreaks: 0 };
    const { line } = reader;
    reader.line += 1 + lineBreaks;
    const raw = text.slice(at, withoutCarriageReturn(text, at, end));
    at = end + 1;
    if (isBlank) continue;
    const isTruncated = read === LEFT_OPEN && ({ isTruncated: true } as const);
    rows.push({ line, fields, raw, ...(problem !== undefined && { problem }), ...isTruncated });
  }
  reader.text = text.slice(at);
  return rows;
}

/** A row's fields where no quote is in its line. */
function plainFields(text: string, start: number, end: number): Fields | Unreadable {
  const plain = text.slice(start, withoutCarriageReturn(text, start, end));
  const fields = plain.split(',');
  const isLong = plain.length > MAX_FIELD_LENGTH && fields.some((field) => field.length > MAX_FIELD_LENGTH);
  return isLong ? TOO_LONG : { fields, end, lineBreaks: 0 };
}

/** Why a row can't be read whose number of fields is not that of the first row. */
function problemOfWidth(reader: Reader, { length }: readonly string[]): string | undefined {
  if (reader.width === undefined && length <= MAX_COLUMNS) reader.width = length;
  if (length === reader.width) return undefined;
  return reader.width === undefined
    ? moreFieldsThan(MAX_COLUMNS)
    : `has ${length} fields, not ${reader.width}`;
}

function moreFieldsThan(most: number): string {
  return `has more than ${most} fields`;
}

/** The fields of a row. */
interface Fields {
  readonly fields: string[];
  /** The position of the row's line break, or of the end of the text. */
  readonly end: number;
  readonly lineBreaks: number;
  readonly problem?: undefined;
}

/** Why a row can't be read. */
interface Unreadable {
  readonly problem: string;
  readonly end?: undefined;
}

const TOO_LONG: Unreadable = {
  problem: `has a field of more than ${MAX_FIELD_LENGTH} characters (a quote left open?)`,
};
const LEFT_OPEN: Unreadable = { problem: 'has a quote left open at the end of the file' };
const AFTER_QUOTE: Unreadable = { problem: 'has text after a closing quote' };

/**
 * The fields of the row at `start`, or why it can't be read; `undefined` when its end has not been read yet.
 *
 * @param most where the row ends at the latest: after a row that can't be read, its next line is read as a row, so
 * that without a bound each line could be read to the end of the file
 */
function readFields(
  text: string,
  start: number,
  firstLineEnd: number,
  isLast: boolean,
  most: number,
): Fields | Unreadable | undefined {
  const fields: string[] = [];
  let lineBreaks = 0;
  let at = start;
  let nextQuote = start;
  for (;;) {
    if (nextQuote >= 0 && nextQuote < at) nextQuote = text.indexOf('"', at);
    if (lineBreaks === 0 && at <= firstLineEnd && (nextQuote < 0 || nextQuote > firstLineEnd)) {
      const rest = plainFields(text, at, firstLineEnd);
      return rest.problem === undefined ? { ...rest, fields: fields.concat(rest.fields) } : rest;
    }
    if (fields.length > most) return { problem: moreFieldsThan(most) };
    if (text.charCodeAt(at) === QUOTE) {
      const close = closingQuote(text, at);
      if (close === undefined) return TOO_LONG;
      if (close >= text.length - 1 && !isLast) return undefined;
      if (close >= text.length) return LEFT_OPEN;
      const field = unescaped(text.slice(at + 1, close));
      if (field.includes('\n')) lineBreaks += count(field, '\n');
      fields.push(field);
      at = close + 1;
      if (text.charCodeAt(at) === CARRIAGE_RETURN) {
        const isLastCharacter = at + 1 >= text.length;
        if (isLastCharacter && !isLast) return undefined;
        if (isLastCharacter || text.charCodeAt(at + 1) === LINE_FEED) at += 1;
      }
    } else {
      const end = fieldEnd(text, at);
      if (end >= text.length && !isLast) return undefined;
      const isLineEnd = text.charCodeAt(end) !== COMMA;
      const field = text.slice(at, isLineEnd ? withoutCarriageReturn(text, at, end) : end);
      if (field.length > MAX_FIELD_LENGTH) return TOO_LONG;
      fields.push(field);
      at = end;
    }
    if (at >= text.length || text.charCodeAt(at) === LINE_FEED) return { fields, end: at, lineBreaks };
    if (text.charCodeAt(at) !== COMMA) return AFTER_QUOTE;
    at += 1;
  }
}

function unescaped(quoted: string): string {
  return quoted.includes('"') ? quoted.replaceAll('""', '"') : quoted;
}

/**
 * The position of the quote that closes the one at `open`; the text's length when it has not been read yet;
 * `undefined` when the field is too long.
 */
function closingQuote(text: string, open: number): number | undefined {
  let at = open + 1;
  /** Where a field of the greatest length would be closed. Each doubled quote is one character of the field. */
  let last = open + 1 + MAX_FIELD_LENGTH;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0 || quote > last) return text.length > last ? undefined : text.length;
    if (text.charCodeAt(quote + 1) !== QUOTE) return quote;
    at = quote + 2;
    last += 1;
  }
}

function fieldEnd(text: string, start: number): number {
  let at = start;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === COMMA || code === LINE_FEED) break;
  }
  return at;
}

function withoutCarriageReturn(text: string, start: number, end: number): number {
  return end > start && text.charCodeAt(end - 1) === CARRIAGE_RETURN ? end - 1 : end;
}

function count(text: string, character: string): number {
  return text.split(character).length - 1;
}
