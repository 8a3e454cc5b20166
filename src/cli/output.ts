/** The option of every command that prints JSON where it is asked to. */
export const JSON_OPTION = ['--json', 'print JSON'] as const;

/** Prints one line. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Prints one line of JSON, for machines. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value));
}

/** Prints one line where errors go. */
export function printError(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Rows of cells as aligned columns under their headings. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** A whole number with separators: `2,600,000`. */
export function grouped(value: number): string {
  return value.toLocaleString('en-US');
}
