import { z } from 'zod';

/** Adds to the count of a name. Names may be any text, and an object has a `constructor` before it is counted. */
export function addTo(counts: Map<string, number>, name: string, more = 1): void {
  counts.set(name, (counts.get(name) ?? 0) + more);
}

/** Stored counts by name. `z.record` would leave out the name `__proto__`. */
export const countsByName = z.custom<Readonly<Record<string, number>>>(
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every(Number.isSafeInteger),
  'must be whole numbers by name',
);
