const MAX_RESULTS = 10_000;

/** Memoizes a pure function of a text, for texts that occur in many rows. */
export function memoize<Result>(compute: (text: string) => Result): (text: string) => Result {
  const results = new Map<string, Result>();
  return (text) => {
    const known = results.get(text);
    if (known !== undefined) return known;
    const result = compute(text);
    if (results.size >= MAX_RESULTS) results.clear();
    results.set(copyOf(text), result);
    return result;
  };
}

/** A copy: a slice of a file's text would keep the whole megabyte in memory. */
function copyOf(text: string): string {
  return Buffer.from(text).toString();
}
