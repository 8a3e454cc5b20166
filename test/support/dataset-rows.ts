/** A row of a file with these columns: the values by column name, all other fields empty. */
export function datasetRow(columns: readonly string[], values: Readonly<Record<string, string>>, line = 2) {
  for (const name of Object.keys(values))
    if (!columns.includes(name)) throw new Error(`The file has no column ${name}.`);
  const fields = columns.map((name) => values[name] ?? '');
  return { line, fields, raw: fields.join(',') };
}
