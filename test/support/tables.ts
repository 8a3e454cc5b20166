/** The lines of a table. */
export function linesOf(table: string): string[] {
  return table.split('\n').filter((line) => line !== '');
}

/** What is read in a text, and as what: `TEXT = MEANING; TEXT = MEANING`. A meaning may be missing. */
export function pairsOf(table: string): [text: string, meaning: string][] {
  const pairs = linesOf(table).flatMap((line) => line.split('; '));
  return pairs.map((pair) => {
    const [text = '', meaning = ''] = pair.split(' = ');
    return [text, meaning];
  });
}
