/**
 * The lines of a CSV file, each as a function from a column's name to its field. The first line must name these
 * columns; it may begin with a byte order mark, as Excel writes it. A field with a comma must be in quotes, such as the
 * names of some boards. No field may have a line break.
 */
export function linesOf<Column extends string>(
  csv: string,
  columns: readonly Column[],
): ((column: Column) => string)[] {
  const [header = [], ...rows] = csv
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter((row) => row.trim() !== '')
    .map(fieldsOf);
  for (const name of columns) {
    if (!header.includes(name)) throw new Error(`The roster's first line must name a column ${name}.`);
  }
  return rows.map((fields) => (column) => fields[header.indexOf(column)]?.trim() ?? '');
}

function fieldsOf(row: string): string[] {
  const fields = `,${row}`.matchAll(/,(?:"((?:[^"]|"")*)"|([^,]*))/g);
  return [...fields].map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain);
}
