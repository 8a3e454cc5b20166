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

/** Rows of cells as lines of aligned columns, the headings first. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [headings, ...rows].map((row) => row.map(printable));
  const widths = headings.map((_, column) =>
    all.reduce((widest, row) => Math.max(widest, (row[column] ?? '').length), 0),
  );
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
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
