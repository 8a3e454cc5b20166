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
/** A time stays on one line. */
const MIN_WIDTH = 24;

/**
 * Rows as lines of aligned columns, the headings first. Lines have at most 100 characters: where they would have more,
 * the widest cells go on below.
 *
 * @param names the columns, unless all that the first row has
 */
export function table<Each extends Row>(
  rows: readonly Each[],
  names?: readonly (keyof Each & string)[],
): string[] {
  if (rows.length === 0) return ['None.'];
  const all = cellsOf(rows, names);
  const widths = fitting(
    (all[0] ?? []).map((_, at) => all.reduce((widest, row) => Math.max(widest, row[at]?.length ?? 0), 0)),
  );
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

/** The widths of columns, the widest narrowed until a line fits. */
function fitting(widths: readonly number[]): readonly number[] {
  const sum = widths.reduce((sum, width) => sum + width + 2, -2);
  const widest = widths.reduce((one, other) => Math.max(one, other), 0);
  if (sum <= MAX_COLUMNS || widest <= MIN_WIDTH) return widths;
  return fitting(widths.with(widths.lastIndexOf(widest), widest - 1));
}

/** The text in lines of this width, broken at blanks where it has some. */
function pieces(text: string, width: number): string[] {
  if (text.length <= width) return [text];
  const blank = text.lastIndexOf(' ', width);
  const end = blank > 0 ? blank : width;
  return [text.slice(0, end), ...pieces(text.slice(end).trimStart(), width)];
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
