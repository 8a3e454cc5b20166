import { z } from 'zod';

/** Adds to the count of a name. Names may be any text, and an object has a `constructor` before it is counted. */
export function addTo(counts: Map<string, number>, name: string, more = 1): void {
  counts.set(name, (counts.get(name) ?? 0) + more);
}

/**
 * Stored values by name. `z.record` would leave out the name `__proto__`, and copies the values one by one: for the
 * attributes of a license, that takes as long as checking all else.
 */
export function valuesByName<Value>(isValue: (value: unknown) => boolean, message?: string) {
  return z.custom<Record<string, Value>>(
    (all) =>
      typeof all === 'object' && all !== null && !Array.isArray(all) && Object.values(all).every(isValue),
    message,
  );
}

/** Stored counts by name. */
export const countsByName = valuesByName<number>(Number.isSafeInteger, 'must be whole numbers by name');
