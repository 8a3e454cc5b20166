const IDS_AT_END = / \[([^[\]]+)\]$/;

/** A test's name followed by the ids of the requirements it verifies, in brackets. */
export function nameWithIds(name: string, ids: readonly string[]): string {
  return `${name} [${ids.join(' ')}]`;
}

/** The ids that `nameWithIds` added to a test's name; empty for any other name. */
export function idsInName(name: string): string[] {
  return IDS_AT_END.exec(name)?.[1]?.split(' ') ?? [];
}
