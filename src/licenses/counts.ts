import { valuesByName } from './license.ts';

/**
 * Adds to the count of a name. Counts are in a `Map` because a name may be any text, and a plain object already has
 * properties such as `constructor`.
 */
export function addTo(counts: Map<string, number>, name: string, more = 1): void {
  counts.set(name, (counts.get(name) ?? 0) + more);
}

/** The value of a key. If the map has none, makes one and stores it. */
export function valueAt<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}

/** Stored counts by name. */
export const countsByName = valuesByName<number>(Number.isSafeInteger, 'must be whole numbers by name');
