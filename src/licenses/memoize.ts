const MAX_RESULTS = 10_000;

/** Memoizes a pure function of a text, for texts that occur in many rows. */
export function memoize<Result>(compute: (text: string) => Result): (text: string) => Result {
  const results = new Map<string, Result>();
  return (text) => {
    const cached = results.get(text);
    if (cached !== undefined) return cached;
    const result = compute(text);
    if (results.size >= MAX_RESULTS) results.clear();
    results.set(copyOf(text), result);
    return result;
  };
}

/** Copies the text, because a slice of a file's chunk would keep the whole chunk in memory. */
function copyOf(text: string): string {
  return Buffer.from(text).toString();
}
