import { ohioTime } from '../licenses/dates.ts';

/** Control and formatting characters: a terminal would obey them, and a line break would begin a line of its own. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Text from files and from other machines as an operator may see it: what a terminal would obey is written `\u001b`. */
export function printable(text: string): string {
  const escaped = (codeUnit: string) => `\\u${codeUnit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return text.replace(UNPRINTABLE, (character) => character.split('').map(escaped).join(''));
}

type Lines = string | readonly string[];

/** How a command ends. */
export interface Outcome {
  /** Printed with `--json`, in place of all words. */
  readonly value?: unknown;
  readonly words?: Lines;
  /** Words that go where errors go. */
  readonly errors?: Lines;
  /** The exit code, unless it is 0. */
  readonly code?: number;
}

/** Prints a line, or several. */
export function print(lines: Lines, stream: NodeJS.WriteStream = process.stdout): void {
  for (const line of [lines].flat()) stream.write(`${printable(line)}\n`);
}

/** Prints a line, or several, where errors go. */
export function printError(lines: Lines): void {
  print(lines, process.stderr);
}

/** A whole number with separators: `2,600,000`. */
export function grouped(value: number): string {
  return value.toLocaleString('en-US');
}

export function sumOf(counts: Readonly<Record<string, number>> = {}): number {
  return Object.values(counts).reduce((sum, each) => sum + each, 0);
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** A value as a person reads it: numbers with separators, instants in Ohio's time, nothing for null. */
function shown(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return grouped(value);
  if (Array.isArray(value)) return value.map(shown).join('; ');
  const text = String(value);
  return INSTANT.test(text) ? ohioTime(text) : printable(text);
}

type Row = object;

/** The cells of some columns of rows, or of all that the first row has, below their headings. */
function cellsOf(rows: readonly Row[], names: readonly string[] = Object.keys(rows[0] ?? {})): string[][] {
  const cells = (row: Row) => {
    const values = new Map(Object.entries(row));
    return names.map((name) => shown(values.get(name)));
  };
  return [names.map((name) => name.replaceAll('_', ' ').toUpperCase()), ...rows.map(cells)];
}

const MAX_COLUMNS = 100;
const MAX_WORD = 24;
/** Between words, so `column_changed` has two. */
const BREAKS = / |(?<=_)/;

/**
 * Rows as lines of aligned columns, the headings first. Where a line would have more than 100 characters, the widest
 * cells go on below; a word of up to 24 characters stays whole.
 *
 * @param names the columns, unless all that the first row has
 */
export function table<Each extends Row>(
  rows: readonly Each[],
  names?: readonly (keyof Each & string)[],
): string[] {
  if (rows.length === 0) return ['None.'];
  const all = cellsOf(rows, names);
  const widths = fitting((all[0] ?? []).map((_, at) => all.map((row) => row[at] ?? '')));
  return all.flatMap((row) => {
    const cells = row.map((cell, at) => pieces(cell, widths[at] ?? 0));
    const height = cells.reduce((most, { length }) => Math.max(most, length), 0);
    return Array.from({ length: height }, (_, line) =>
      cells
        .map((cell, at) => (cell[line] ?? '').padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  });
}

function longest(texts: readonly string[]): number {
  return texts.reduce((most, { length }) => Math.max(most, length), 0);
}

/** The widths of columns: while a line does not fit, the widest column is narrowed that has no word as wide. */
function fitting(columns: readonly (readonly string[])[]): readonly number[] {
  const widths = columns.map(longest);
  const words = columns.map((cells) => longest(cells.flatMap((cell) => cell.split(BREAKS))));
  let over = widths.reduce((sum, width) => sum + width + 2, -2) - MAX_COLUMNS;
  for (; over > 0; over -= 1) {
    const room = widths.map((width, at) => (width > Math.min(MAX_WORD, words[at] ?? 0) ? width : 0));
    const widest = room.reduce((one, other) => Math.max(one, other), 0);
    if (widest === 0) break;
    widths[room.lastIndexOf(widest)] = widest - 1;
  }
  return widths;
}

/** The text in lines of this width. */
function pieces(text: string, width: number): string[] {
  const lines: string[] = [];
  let rest = text;
  while (rest.length > width) {
    const end = Math.max(rest.lastIndexOf(' ', width), rest.lastIndexOf('_', width - 1) + 1);
    lines.push(rest.slice(0, end > 0 ? end : width));
    rest = rest.slice(end > 0 ? end : width).trimStart();
  }
  return [...lines, rest];
}

/**
 * All that a value has: names and values below each other, then tables, and others with what they have. What is null or
 * empty is left out.
 */
export function described(values: object, indent = ''): string[] {
  if (Array.isArray(values)) return table(values);
  const all = Object.entries(values).flatMap(([name, value]) => {
    const isNested = [value].flat().some((each) => typeof each === 'object' && each !== null);
    const isEmpty = isNested ? Object.keys(value).length === 0 : shown(value) === '';
    const words = printable(name || '(blank)').replaceAll('_', ' ');
    return isEmpty ? [] : [{ name: indent + words, value, isNested }];
  });
  const width = all.reduce((widest, { name }) => Math.max(widest, name.length), 0) + 2;
  return all
    .toSorted((one, other) => Number(one.isNested) - Number(other.isNested))
    .flatMap(({ name, value, isNested }) =>
      isNested
        ? ['', `${name}:`, ...described(value, `${indent}  `)]
        : [value].flat().map((each) => name.padEnd(width) + shown(each)),
    );
}

/** Rows as a table of Markdown, below a heading; nothing where there are none. */
export function markdownTable(title: string, rows: readonly Row[]): string[] {
  if (rows.length === 0) return [];
  const [headings = [], ...others] = cellsOf(rows);
  const line = (row: readonly string[]) => `| ${row.map(markdownText).join(' | ')} |`;
  return ['', `## ${title}`, '', line(headings), line(headings.map(() => '---')), ...others.map(line)];
}

/** Text from the files: no character of it is Markdown or HTML. */
export function markdownText(text: string): string {
  return printable(text).replace(/[\\`*_[\]<>|#]/g, '\\$&');
}
