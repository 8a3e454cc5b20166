import { SaxesParser, type SaxesTagPlain } from 'saxes';
import { type Entry, fromBufferPromise as openZip, type ZipFile } from 'yauzl';
import { BadRequestError } from '../licenses/bad-request.ts';

/** More parts than any workbook of a list has. */
const MAX_ENTRIES = 500;

/** So many bytes are unpacked of all parts that are read. A list of 1,000 rows and 40 columns has 2 MB. */
const MAX_UNPACKED_BYTES = 8 * 1024 * 1024;

/** So many visible sheets are looked into for one that has text. */
const MAX_SHEETS = 20;

/** Bounds within the bytes, without which a piece of a part would take the event loop for seconds. */
const MAX_ATTRIBUTES = 100;
const MAX_DEPTH = 100;
const MAX_STRINGS = 250_000;
/** As many as Excel has. */
const MAX_STYLES = 65_490;

/** How large a sheet may be. What is beyond is refused, never left out. */
export interface SheetBounds {
  readonly rows: number;
  readonly columns: number;
  readonly characters: number;
}

/**
 * The cells of an Excel workbook's first visible sheet that has any, row by row, without empty rows.
 *
 * Memory is bounded by what is really unpacked, whatever the file says of itself, and by the bounds: cells are kept
 * only where they have text. Parts are read in pieces, so other requests get their turn.
 *
 * @throws {BadRequestError} for a file that is no workbook, or is larger than the bounds
 */
export async function xlsxRows(file: Buffer, bounds: SheetBounds): Promise<string[][]> {
  try {
    const parts = await partsOf(file);
    const { sheets, hasDatesFrom1904 } = await readWorkbook(parts);
    const styles = await readStyles(parts, hasDatesFrom1904);
    const strings = await readSharedStrings(parts);
    for (const sheet of sheets) {
      const rows = await readSheet(parts, sheet, { strings, styles, bounds });
      if (rows.length > 0) return rows;
    }
    return [];
  } catch (error) {
    if (error instanceof BadRequestError) throw error;
    // Whatever the libraries fail with is of the file: it is in memory already.
    throw new BadRequestError(
      'The file can not be read as an Excel workbook (.xlsx). Open it in your spreadsheet program, save it as "CSV UTF-8" or as .xlsx again, and choose the new file.',
    );
  }
}

/** The parts of a workbook, by their path. */
interface Parts {
  readonly zip: ZipFile;
  readonly entries: ReadonlyMap<string, Entry>;
  /** How many bytes may still be unpacked. */
  left: number;
}

async function partsOf(file: Buffer): Promise<Parts> {
  const zip = await openZip(file);
  if (zip.entryCount > MAX_ENTRIES) {
    throw new BadRequestError(`The workbook has more than ${MAX_ENTRIES} parts. Save the list alone.`);
  }
  const entries = new Map<string, Entry>();
  for await (const entry of zip.eachEntry()) entries.set(entry.fileName.toLowerCase(), entry);
  return { zip, entries, left: MAX_UNPACKED_BYTES };
}

const TOO_LARGE =
  'The workbook is too large when unpacked. Copy only the list into a new workbook, without the empty rows below it, and save that.';

interface Listener {
  readonly open?: (tag: SaxesTagPlain) => void;
  /** With all text directly or indirectly inside the innermost element that asked for it. */
  readonly text?: (text: string) => void;
  readonly close?: (name: string) => void;
}

/** `x:row` → `row`: prefixes are the writer's choice. */
function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/**
 * Reads a part in pieces; one that is not there is empty. The parser knows no entities but those of XML, so nothing
 * expands.
 */
async function readPart(parts: Parts, path: string, { open, text, close }: Listener): Promise<void> {
  const entry = parts.entries.get(path.toLowerCase());
  if (entry === undefined) return;
  const parser = new SaxesParser({ xmlns: false });
  let depth = 0;
  let attributes = 0;
  parser.on('opentagstart', () => {
    depth += 1;
    attributes = 0;
    if (depth > MAX_DEPTH) throw new Error('The elements are nested too deep.');
  });
  parser.on('attribute', () => {
    attributes += 1;
    if (attributes > MAX_ATTRIBUTES) throw new Error('An element has too many attributes.');
  });
  if (open) parser.on('opentag', open);
  if (text) {
    parser.on('text', text);
    parser.on('cdata', text);
  }
  parser.on('closetag', ({ name }) => {
    depth -= 1;
    close?.(localName(name));
  });
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const chunks: AsyncIterable<Buffer> = await parts.zip.openReadStreamPromise(entry);
  for await (const chunk of chunks) {
    parts.left -= chunk.length;
    if (parts.left < 0) {
      throw new BadRequestError(TOO_LARGE);
    }
    parser.write(decoder.decode(chunk, { stream: true }));
  }
  parser.write(decoder.decode()).close();
}

/** An attribute, whatever its prefix. */
function attribute({ attributes }: SaxesTagPlain, name: string): string | undefined {
  return Object.entries(attributes).find(([key]) => localName(key) === name)?.[1];
}

const WORKBOOK = 'xl/workbook.xml';

/** The paths of the visible sheets, in their order. */
async function readWorkbook(parts: Parts) {
  if (!parts.entries.has(WORKBOOK)) {
    throw new BadRequestError(
      'The file is packed (zip) but no Excel workbook (.xlsx). Save the list as .xlsx or as CSV, and choose that file.',
    );
  }
  const ids: string[] = [];
  let hasDatesFrom1904 = false;
  await readPart(parts, WORKBOOK, {
    open: (tag) => {
      const name = localName(tag.name);
      if (name === 'workbookPr') hasDatesFrom1904 = isTrue(attribute(tag, 'date1904'));
      const isVisible = (attribute(tag, 'state') ?? 'visible') === 'visible';
      if (name === 'sheet' && isVisible) ids.push(attribute(tag, 'id') ?? '');
    },
  });
  const targets = new Map<string, string>();
  await readPart(parts, 'xl/_rels/workbook.xml.rels', {
    open: (tag) => {
      if (localName(tag.name) !== 'Relationship') return;
      targets.set(attribute(tag, 'Id') ?? '', attribute(tag, 'Target') ?? '');
    },
  });
  const sheets = ids.slice(0, MAX_SHEETS).flatMap((id) => {
    const target = targets.get(id);
    if (target === undefined) return [];
    return target.startsWith('/') ? target.slice(1) : `xl/${target}`;
  });
  return { sheets, hasDatesFrom1904 };
}

function isTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true';
}

/** The texts that cells refer to, without the readings that Japanese texts have beside them. */
async function readSharedStrings(parts: Parts): Promise<readonly string[]> {
  const strings: string[] = [];
  let text = '';
  let isText = false;
  let readings = 0;
  await readPart(parts, 'xl/sharedStrings.xml', {
    open: (tag) => {
      const name = localName(tag.name);
      if (name === 'si') text = '';
      if (name === 'rPh') readings += 1;
      isText = name === 't' && readings === 0;
    },
    text: (part) => {
      if (isText) text += part;
    },
    close: (name) => {
      isText = false;
      if (name === 'rPh') readings -= 1;
      if (name === 'si') strings.push(text);
      if (strings.length > MAX_STRINGS) throw new BadRequestError(TOO_LARGE);
    },
  });
  return strings;
}

/** How the number of a cell is written as text. */
type NumberText = (value: number) => string;

/** The writers of numbers, by the number of a cell's style. */
async function readStyles(parts: Parts, hasDatesFrom1904: boolean): Promise<readonly NumberText[]> {
  const codes = new Map<string, string>();
  const styles: NumberText[] = [];
  let isCellStyle = false;
  await readPart(parts, 'xl/styles.xml', {
    open: (tag) => {
      const name = localName(tag.name);
      if (name === 'numFmt') codes.set(attribute(tag, 'numFmtId') ?? '', attribute(tag, 'formatCode') ?? '');
      if (name === 'cellXfs') isCellStyle = true;
      if (name !== 'xf' || !isCellStyle) return;
      if (styles.length >= MAX_STYLES) throw new BadRequestError(TOO_LARGE);
      const id = attribute(tag, 'numFmtId') ?? '';
      styles.push(numberText(Number(id), codes.get(id) ?? '', hasDatesFrom1904));
    },
    close: (name) => {
      if (name === 'cellXfs') isCellStyle = false;
    },
  });
  return styles;
}

/** The numbers of the formats of dates that have no code in the file (ECMA-376, 18.8.30). */
const isBuiltInDate = (id: number) => (id >= 14 && id <= 17) || id === 22 || (id >= 27 && id <= 36);

function numberText(id: number, code: string, hasDatesFrom1904: boolean): NumberText {
  // Quoted texts, escaped characters, and conditions or colors in brackets say nothing of the kind.
  const signs = code.replace(/"[^"]*"|\\.|\[[^\]]*\]/g, '');
  if (isBuiltInDate(id) || /[dy]/i.test(signs)) return (days) => dateText(days, hasDatesFrom1904);
  // `000000` shows the zeros of a number that begins with some.
  if (/^0+$/.test(code)) return (value) => String(value).padStart(Math.min(code.length, 20), '0');
  return String;
}

const DAY_MS = 86_400_000;
/** The day 0: Excel takes 1900 for a leap year, so days since March 1900 are counted from one day earlier. */
const EPOCH = Date.UTC(1899, 11, 30);
const EPOCH_1904 = Date.UTC(1904, 0, 1);
const LAST_DAY = 2_958_465;

/** `43528` → `2019-03-04`. */
function dateText(days: number, hasDatesFrom1904: boolean): string {
  if (!(days >= 0 && days <= LAST_DAY)) return String(days);
  const time = (hasDatesFrom1904 ? EPOCH_1904 : EPOCH) + Math.floor(days) * DAY_MS;
  return new Date(time).toISOString().slice(0, 10);
}

interface SheetContext {
  readonly strings: readonly string[];
  readonly styles: readonly NumberText[];
  readonly bounds: SheetBounds;
}

async function readSheet(parts: Parts, path: string, context: SheetContext): Promise<string[][]> {
  const { bounds } = context;
  const rows: string[][] = [];
  let row: string[] = [];
  let column = 0;
  let type = '';
  let style = '';
  let value = '';
  let isValue = false;
  let readings = 0;
  let left = bounds.characters;

  function endCell(): void {
    const text = cellText(type, style, value, context).replaceAll('\t', ' ').trim();
    if (text === '') return;
    if (column > bounds.columns) {
      throw new BadRequestError(
        `The sheet has text in more than ${bounds.columns} columns. Keep the columns of the list alone.`,
      );
    }
    left -= Buffer.byteLength(text);
    if (left < 0) {
      throw new BadRequestError(
        `The sheet has more than ${Math.round(bounds.characters / 1000)} KB of text. Split it, or remove columns.`,
      );
    }
    while (row.length < column) row.push('');
    row[column - 1] = text;
  }

  function endRow(): void {
    if (row.length === 0) return;
    rows.push(row);
    row = [];
    if (rows.length > bounds.rows) {
      throw new BadRequestError(`The sheet has more than ${bounds.rows} rows with text. Split it.`);
    }
  }

  await readPart(parts, path, {
    open: (tag) => {
      const name = localName(tag.name);
      if (name === 'row') column = 0;
      if (name === 'c') {
        column = columnOf(tag) ?? column + 1;
        type = attribute(tag, 't') ?? 'n';
        style = attribute(tag, 's') ?? '';
        value = '';
      }
      if (name === 'rPh') readings += 1;
      isValue = (name === 'v' || name === 't') && readings === 0;
    },
    text: (part) => {
      if (isValue) value += part;
    },
    close: (name) => {
      isValue = false;
      if (name === 'rPh') readings -= 1;
      if (name === 'c') endCell();
      if (name === 'row') endRow();
    },
  });
  return rows;
}

/** The column of `AB12`, from 1; `undefined` for a cell that does not say it. */
function columnOf(tag: SaxesTagPlain): number | undefined {
  const [, letters] = /^([A-Z]{1,3})\d/.exec(attribute(tag, 'r') ?? '') ?? [];
  if (letters === undefined) return undefined;
  return Array.from(letters).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
}

function cellText(type: string, style: string, value: string, { strings, styles }: SheetContext): string {
  switch (type) {
    case 's':
      return value === '' ? '' : unescaped(strings[Number(value)] ?? '');
    case 'n': {
      const number = Number(value);
      if (value.trim() === '' || !Number.isFinite(number)) return value;
      return (styles[Number(style)] ?? String)(number);
    }
    case 'b':
      return value === '1' ? 'TRUE' : 'FALSE';
    case 'd':
      return value.slice(0, 10);
    default:
      return unescaped(value);
  }
}

/** `_x000D_` stands for a character that XML does not have (ECMA-376, 22.4.2.4). */
function unescaped(text: string): string {
  return text.replace(/_x([0-9A-F]{4})_/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
}
