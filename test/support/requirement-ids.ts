const IDS_AT_END = / \[([^[\]]+)\]$/;

/** A test's name followed by the ids of the requirements it verifies, in brackets. */
export const nameWithIds = (name: string, ids: readonly string[]): string => `${name} [${ids.join(' ')}]`;

/** The ids that `nameWithIds` added to a test's name; empty for any other name. */
export const idsInName = (name: string): string[] => IDS_AT_END.exec(name)?.[1]?.split(' ') ?? [];
