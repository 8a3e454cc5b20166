import { z } from 'zod';
import givenNamesJson from '../../data/given-names.json' with { type: 'json' };

const { groups } = z
  .object({ groups: z.array(z.string().transform((names) => names.split(' '))) })
  .parse(givenNamesJson);

/** The groups of each name. */
const GROUPS = new Map<string, string[][]>();
for (const group of groups) {
  for (const name of group) GROUPS.set(name, [...(GROUPS.get(name) ?? []), group]);
}

/**
 * Other given names that the same person may go by, full names first: `BOB` → `ROBERT`, `BOBBY`, `ROB`, …
 *
 * @param name a folded given name
 */
export function givenNameVariants(name: string): string[] {
  const found = GROUPS.get(name) ?? [];
  const fullNames = found.flatMap(([fullName]) => fullName ?? []);
  return [...new Set([...fullNames, ...found.flat()])].filter((each) => each !== name);
}
