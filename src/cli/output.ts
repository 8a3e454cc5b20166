/** Control and formatting characters: a terminal would obey them, and a line break would begin a line of its own. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Text from files and from other machines as an operator may see it: what a terminal would obey is written `\u001b`. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) =>
    Array.from({ length: character.length }, (_, at) => escaped(character.charCodeAt(at))).join(''),
  );
}

function escaped(codeUnit: number): string {
  return `\\u${codeUnit.toString(16).padStart(4, '0')}`;
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

const MAX_COLUMNS = 100;
/** A time is never cut. */
const MIN_WIDTH = 24;

/**
 * Rows of cells as lines of aligned columns, the headings first. Lines have at most 100 characters: where they would
 * have more, the widest columns are cut, and the last one goes on below.
 */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [headings, ...rows].map((row) => headings.map((_, at) => printable(row[at] ?? '')));
  const widths = fitting(
    headings.map((_, at) => all.reduce((widest, row) => Math.max(widest, row[at]?.length ?? 0), 0)),
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
  const at = widths.lastIndexOf(widest);
  return fitting(widths.with(at, Math.max(MIN_WIDTH, widest - 1)));
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

/** A whole number with separators: `2,600,000`. */
export function grouped(value: number): string {
  return value.toLocaleString('en-US');
}

export function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, each) => sum + each, 0);
}

/** How long all steps of a publication took together: `6.2 s`. */
export function totalTime(steps: Readonly<Record<string, number>>): string {
  return `${sumOf(steps).toFixed(1)} s`;
}
