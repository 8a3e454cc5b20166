/**
 * A separate program: reads one workbook from standard input and writes its sheets to standard output. If a file makes
 * the libraries fail or run too long, that affects only this process, and `workbook.ts` ends it.
 */
import { buffer } from 'node:stream/consumers';
import { CFB, read, type WorkSheet } from '@e965/xlsx';
import { SaxesParser } from 'saxes';
import { fromBufferPromise as openZip } from 'yauzl';
import type { Sheet, WorkbookAnswer } from './workbook.ts';

/** The most bytes that are unpacked from all parts together. A list of 1,000 rows and 40 columns has 2 MB. */
const MAX_UNPACKED_BYTES = 8_000_000;

/** No workbook with a list has more parts. */
const MAX_PARTS = 500;

/**
 * How many visible sheets are read, and how many characters of each sheet and of all sheets. Longer lists are rejected
 * later.
 */
const MAX_SHEETS = 20;
const MAX_SHEET_CHARACTERS = 1_000_000;
const MAX_CHARACTERS = 3_000_000;

/** An error whose message tells the sender what is wrong with the file. */
class WorkbookError extends Error {}

const TOO_LARGE =
  'The workbook is too large when unzipped. Copy only the list into a new workbook, without the empty rows below it, and save that.';
const TOO_MANY_PARTS =
  'The workbook has too many sheets, pictures or other parts. Copy only the list into a new workbook, and save that.';
const UNREADABLE =
  'The file cannot be read as a workbook. Open it in your spreadsheet program, save it as “CSV UTF-8” or as .xlsx again, and choose the new file.';

type Parts = Map<string, Buffer>;

/** Unzips a workbook and returns its parts by path, without pictures. */
async function unpacked(file: Buffer): Promise<Parts> {
  const zip = await openZip(file);
  if (zip.entryCount > MAX_PARTS) throw new WorkbookError(TOO_MANY_PARTS);
  const parts: Parts = new Map();
  let left = MAX_UNPACKED_BYTES;
  for await (const entry of zip.eachEntry()) {
    if (!/\.(?:xml|rels|bin)$|^mimetype$/i.test(entry.fileName)) continue;
    const chunks: Buffer[] = [];
    for await (const chunk of await zip.openReadStreamPromise(entry)) {
      left -= chunk.length;
      if (left < 0) throw new WorkbookError(TOO_LARGE);
      chunks.push(chunk);
    }
    parts.set(entry.fileName, Buffer.concat(chunks));
  }
  return parts;
}

/** The parts that the library reads, by the ends of their relationships' types. */
const READ_PARTS = /\/(?:worksheet|sharedStrings|styles)$/;

/** Whether a part ends with the closing tag of its root element. A truncated part does not. */
function isWhole(part: Buffer): boolean {
  const end = part.subarray(-1000).toString().trimEnd();
  return end.endsWith('>') && /worksheet|sst|styleSheet/.test(end.slice(end.lastIndexOf('<')));
}

/**
 * Checks that the parts that a workbook refers to exist, and adds each under the address as written. The library does
 * not resolve addresses, and treats a missing part as an empty one (ECMA-376, part 2).
 */
function resolveParts(parts: Parts): void {
  for (const [links, content] of [...parts]) {
    const [, folder] = /^(.*\/|)_rels\/workbook[^/]*\.rels$/.exec(links) ?? [];
    if (folder === undefined) continue;
    const parser = new SaxesParser({ xmlns: false });
    parser.on('opentag', ({ attributes: { Type: type = '', Target: target = '' } }) => {
      if (!READ_PARTS.test(type)) return;
      const path = decodeURIComponent(URL.parse(target, `part:///${folder}`)?.pathname ?? '').slice(1);
      const bytes = parts.get(path);
      if (bytes === undefined || !(path.endsWith('.bin') || isWhole(bytes))) {
        throw new WorkbookError(`A part of the workbook is missing or broken (${path}). ${UNREADABLE}`);
      }
      parts.set(target, bytes);
    });
    parser.write(content.toString()).close();
  }
}

/** The bytes for the library to read. For a zipped workbook, only what was unpacked within the limits. */
async function bytesToRead(file: Buffer): Promise<Buffer> {
  if (file.toString('latin1', 0, 2) !== 'PK') return file;
  const parts = await unpacked(file);
  resolveParts(parts);
  const container = CFB.utils.cfb_new();
  for (const [path, bytes] of parts) CFB.utils.cfb_add(container, path, bytes);
  return CFB.write(container, { fileType: 'zip', type: 'buffer' });
}

/** The text of a sheet as CSV: each row at its place, as the spreadsheet shows it. */
function sheetText({ '!data': rows = [] }: WorkSheet): string {
  let text = '';
  let last = -1;
  rows.forEach((row, at) => {
    const cells: string[] = [];
    row?.forEach(({ t: type, v: value, w: text }, column) => {
      // A spreadsheet shows a long number without a format as 3.90E+11, so its value is used instead.
      const isShort = type === 'n' && text?.includes('E+');
      const shown = String(isShort ? value : text || (value ?? '')).trim();
      if (type !== 'z' && shown !== '') cells[column] = shown;
    });
    if (cells.length === 0 || text.length > MAX_SHEET_CHARACTERS) return;
    const line = Array.from(cells, (cell = '') => `"${cell.replaceAll('"', '""')}"`).join(',');
    text += `${'\n'.repeat(at - last - 1)}${line}\n`;
    last = at;
  });
  return text;
}

const OPTIONS = { dense: true, nodim: true, cellFormula: false, dateNF: 'yyyy-mm-dd' } as const;

/** @throws {WorkbookError} for a file that is no workbook, or that is too large */
async function sheetsOf(file: Buffer): Promise<Sheet[]> {
  const workbook = read(await bytesToRead(file), OPTIONS);
  const visible = workbook.SheetNames.filter((_, at) => !workbook.Workbook?.Sheets?.[at]?.Hidden);
  const sheets = new Map(Object.entries(workbook.Sheets));
  let left = MAX_CHARACTERS;
  return visible.slice(0, MAX_SHEETS).flatMap((name) => {
    const sheet = sheets.get(name);
    if (sheet === undefined) throw new WorkbookError(UNREADABLE);
    const text = left > 0 ? sheetText(sheet) : '';
    left -= text.length;
    return text === '' ? [] : [{ name, text }];
  });
}

function problemOf(error: unknown): string {
  if (error instanceof WorkbookError) return error.message;
  if (error instanceof Error && /password/i.test(error.message)) {
    return 'The workbook has a password. Open it, save it without one, and choose that file.';
  }
  return UNREADABLE;
}

const answer: WorkbookAnswer = await buffer(process.stdin)
  .then(sheetsOf)
  .then(
    (sheets) => ({ sheets }),
    (error: unknown) => ({ problem: problemOf(error) }),
  );
process.stdout.write(JSON.stringify(answer));
