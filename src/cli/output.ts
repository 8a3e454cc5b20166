import { ohioTime } from '../licenses/dates.ts';

/** Control and formatting characters: a terminal would obey them, and a line break would begin a line of its own. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Text from files and from other machines as an operator may see it: what a terminal would obey is written `\u001b`. */
export function printable(text: string): string {
  const escaped = (codeUnit: string) => `\\u${codeUnit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return text.replace(UNPRINTABLE, (character) => character.split('').map(escaped).join(''));
}

/** Prints a line, or several. */
export function print(lines: string | readonly string[]): void {
  write(process.stdout, lines);
}

/** Prints one line of JSON, for machines. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value));
}

/** Prints a line, or several, where errors go. */
export function printError(lines: string | readonly string[]): void {
  write(process.stderr, lines);
}

function write(stream: NodeJS.WriteStream, lines: string | readonly string[]): void {
  for (const line of [lines].flat()) stream.write(`${printable(line)}\n`);
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

/** What is printed or written as a table: the headings are the names of the first row's values. */
export type Rows = readonly Readonly<Record<string, unknown>>[];

function cellsOf(rows: Rows): string[][] {
  const names = Object.keys(rows[0] ?? {});
  return [
    names.map((name) => name.replaceAll('_', ' ').toUpperCase()),
    ...rows.map((row) => names.map((name) => shown(Object.hasOwn(row, name) ? row[name] : null))),
  ];
}

const MAX_COLUMNS = 100;
/** A time is never cut. */
const MIN_WIDTH = 24;

/**
 * Rows as lines of aligned columns, the headings first. Lines have at most 100 characters: where they would have more,
 * the widest columns are cut, and the last one goes on below.
 */
export function table(rows: Rows): string[] {
  if (rows.length === 0) return ['None.'];
  const all = cellsOf(rows);
  const widths = fitting(
    (all[0] ?? []).map((_, at) => all.reduce((widest, row) => Math.max(widest, row[at]?.length ?? 0), 0)),
  );
  const last = widths.length - 1;
  return all.flatMap((row) => {
    const [end = '', ...below] = pieces(row[last] ?? '', widths[last] ?? 0);
    const cells = row.slice(0, last).map((cell, at) => cut(cell, widths[at] ?? 0).padEnd(widths[at] ?? 0));
    const indent = cells.map((cell) => `${' '.repeat(cell.length)}  `).join('');
    return [[...cells, end].join('  ').trimEnd(), ...below.map((piece) => indent + piece)];
  });
}

/** The widths of columns, the widest narrowed until a line fits. */
function fitting(widths: readonly number[]): readonly number[] {
  const sum = widths.reduce((sum, width) => sum + width + 2, -2);
  const widest = widths.reduce((one, other) => Math.max(one, other), 0);
  if (sum <= MAX_COLUMNS || widest <= MIN_WIDTH) return widths;
  return fitting(widths.with(widths.lastIndexOf(widest), widest - 1));
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
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

/** Rows as a table of some of their columns. */
export function columns<Name extends string>(...names: readonly Name[]) {
  return (rows: readonly Readonly<Partial<Record<Name, unknown>>>[]): string[] =>
    table(
      rows.map((row) => {
        const cells = names.map((name) => [
          name.replaceAll('_', ' '),
          Object.hasOwn(row, name) ? row[name] : null,
        ]);
        return Object.fromEntries(cells);
      }),
    );
}

/** Rows as a table of Markdown, below a heading; nothing where there are none. */
export function markdownTable(title: string, rows: Rows): string[] {
  if (rows.length === 0) return [];
  const [headings = [], ...others] = cellsOf(rows);
  const line = (row: readonly string[]) => `| ${row.map(markdownText).join(' | ')} |`;
  return ['', `## ${title}`, '', line(headings), line(headings.map(() => '---')), ...others.map(line)];
}

/** Text from the files: no character of it is Markdown or HTML. */
export function markdownText(text: string): string {
  return printable(text).replace(/[\\`*_[\]<>|#]/g, '\\$&');
}
