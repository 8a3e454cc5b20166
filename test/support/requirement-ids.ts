const IDS_AT_END = / \[([^[\]]+)\]$/;

/** A test's name with the ids of the requirements that it verifies, in brackets at the end. */
export function nameWithIds(name: string, ids: readonly string[]): string {
  return `${name} [${ids.join(' ')}]`;
}

/** The ids that `nameWithIds` put into a test's name; none for any other name. */
export function idsInName(name: string): string[] {
  return IDS_AT_END.exec(name)?.[1]?.split(' ') ?? [];
}
