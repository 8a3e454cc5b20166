/** The alignment of a table's columns: all left, or all but the first right. */
type Alignment = 'left' | 'numbers';

/** A Markdown table with aligned columns, formatted as the formatter would. */
export function markdownTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  alignment: Alignment = 'left',
): string {
  const widths = header.map((title, at) =>
    Math.max(3, title.length, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  const isRight = (at: number) => alignment === 'numbers' && at > 0;
  const cell = (text: string, at: number) =>
    isRight(at) ? text.padStart(widths[at] ?? 0) : text.padEnd(widths[at] ?? 0);
  const rule = (width: number, at: number) => (isRight(at) ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width));
  return [header.map(cell), widths.map(rule), ...rows.map((row) => row.map(cell))]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}
