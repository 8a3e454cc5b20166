import { ohioTime } from '../licenses/dates.ts';
import { fileTrouble } from '../storage/file-trouble.ts';

/** Control and formatting characters: a terminal would obey them, and a line break would start a new line. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Makes text from files and other machines safe to print: `UNPRINTABLE` characters become escapes such as `\u001b`. */
export function printable(text: string): string {
  const escaped = (codeUnit: string) => `\\u${codeUnit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return text.replace(UNPRINTABLE, (character) => character.split('').map(escaped).join(''));
}

type Lines = string | readonly string[];

/** The result of a command. */
export interface Outcome {
  /** Printed with `--json`, instead of all words. */
  readonly value?: unknown;
  readonly words?: Lines;
  /** Words for standard error. */
  readonly errors?: Lines;
  /** The exit code, unless it is 0. */
  readonly code?: number;
}

const LINE_EVERY_MS = 5000;
const CLEAR_LINE = '\r\u001b[2K';

/** The last progress that was shown. */
let shownLast = { step: '', at: 0 };

/** Removes the progress from a terminal. */
function clearProgress(): void {
  for (const stream of [process.stdout, process.stderr]) if (stream.isTTY) stream.write(CLEAR_LINE);
}

/** Shows progress: on a terminal in one line that changes, else in a new line at each step and every few seconds. */
export function showProgress(text: string, step: string, stream: NodeJS.WriteStream): void {
  if (!stream.isTTY && step === shownLast.step && Date.now() - shownLast.at < LINE_EVERY_MS) return;
  shownLast = { step, at: Date.now() };
  clearProgress();
  stream.write(stream.isTTY ? printable(text).slice(0, stream.columns - 1) : `${printable(text)}\n`);
}

/** Prints a line, or several. */
export function print(lines: Lines, stream: NodeJS.WriteStream = process.stdout): void {
  clearProgress();
  for (const line of [lines].flat()) stream.write(`${printable(line)}\n`);
}

/** Prints a line, or several, to standard error. */
export const printError = (lines: Lines): void => print(lines, process.stderr);

export const UNTRUSTED = 'Set NODE_EXTRA_CA_CERTS to the PEM file of its authority.';

const NODE_WORDS: ReadonlyMap<unknown, string> = new Map([
  ['ERR_ENCODING_INVALID_ENCODED_DATA', 'The file is not valid UTF-8. Please save the list as "CSV UTF-8".'],
  ['ERR_MODULE_NOT_FOUND', 'A part of the program is not installed here. Run the command in a checkout.'],
]);

/** The message of an error for an operator. */
export function errorWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return NODE_WORDS.get('code' in error && error.code) ?? fileTrouble(error) ?? error.message;
}

/** A whole number with separators: `2,600,000`. */
export const grouped = (value: number): string => value.toLocaleString('en-US');

export const sumOf = (counts: Readonly<Record<string, number>> | readonly number[] = []): number =>
  Object.values(counts).reduce((sum, each) => sum + each, 0);

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** A value for a person: numbers have separators, instants are in Ohio's time, and null is empty. */
function shown(value: unknown): string {
  if (typeof value === 'number') return grouped(value);
  if (Array.isArray(value)) return value.map(shown).join('; ');
  if (typeof value === 'object' && value !== null)
    return shown(Object.entries(value).map(([name, each]) => `${name} ${shown(each)}`));
  const text = String(value ?? '');
  return INSTANT.test(text) ? ohioTime(text) : printable(text);
}

const longest = (items: readonly { readonly length: number }[]): number =>
  items.reduce((most, { length }) => Math.max(most, length), 0);

/** Formats rows as a table. @param names the columns; by default, all of the first row */
export function table(rows: readonly object[], names = Object.keys(rows[0] ?? {})): string[] {
  if (rows.length === 0) return ['None.'];
  const cells = rows.map((row) => {
    const values = new Map(Object.entries(row));
    return names.map((name) => shown(values.get(name)));
  });
  const all = [names.map((name) => name.replaceAll('_', ' ').toUpperCase()), ...cells];
  const widths = widthsOf(names.map((_, at) => all.map((row) => row[at] ?? '')));
  return all.flatMap((row) => {
    const columns = row.map((cell, at) => piecesOf(cell, widths[at] ?? 0));
    return Array.from({ length: longest(columns) }, (_, line) => {
      const pieces = columns.map((column, at) => (column[line] ?? '').padEnd(widths[at] ?? 0));
      return pieces.join('  ').trimEnd();
    });
  });
}

const MAX_LINE = 100;
const MAX_WORD = 24;
/** A cell may be broken at a blank, and after an underscore: `column_changed` has two words. */
const BREAKS = / |(?<=_)/;

/**
 * The widths of columns. If a line would have more than 100 characters, the widest columns are narrowed, but not below
 * their longest word. Only words of more than 24 characters are broken.
 */
function widthsOf(columns: readonly (readonly string[])[]): readonly number[] {
  let widths = columns.map(longest);
  const words = columns.map((cells) =>
    Math.min(MAX_WORD, longest(cells.flatMap((cell) => cell.split(BREAKS)))),
  );
  for (let most = MAX_LINE; most > 0 && sumOf(widths) + 2 * (widths.length - 1) > MAX_LINE; most -= 1)
    widths = widths.map((width, at) => Math.min(width, Math.max(most, words[at] ?? 0)));
  return widths;
}

/** Breaks a text into lines of at most this width. */
function piecesOf(text: string, width: number): string[] {
  if (text.length <= width) return [text];
  const end = Math.max(text.lastIndexOf(' ', width), text.lastIndexOf('_', width - 1) + 1);
  const cut = end > 0 ? end : width;
  return [text.slice(0, cut), ...piecesOf(text.slice(cut).trimStart(), width)];
}

/**
 * Formats everything in a value: first the names and plain values, one a line, then the tables and nested values.
 * Whatever is null or empty is left out.
 */
export function described(values: object, indent = ''): string[] {
  if (Array.isArray(values)) return table(values);
  const named = Object.entries(values).map(([name, value]) => {
    const isNested = [value].flat().some((each) => typeof each === 'object' && each !== null);
    return { name: indent + printable(name || '(blank)').replaceAll('_', ' '), value, isNested };
  });
  const facts = named.filter(({ value, isNested }) => !isNested && shown(value) !== '');
  const width = longest(facts.map(({ name }) => name)) + 2;
  const parts = named.filter(({ value, isNested }) => isNested && Object.keys(value).length > 0);
  return [
    ...facts.flatMap(({ name, value }) => [value].flat().map((each) => name.padEnd(width) + shown(each))),
    ...parts.flatMap(({ name, value }) => ['', `${name}:`, ...described(value, `${indent}  `)]),
  ];
}
