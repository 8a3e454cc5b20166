import { valuesByName } from './license.ts';

/** Adds to the count of a name. Names may be any text, and an object has a `constructor` before it is counted. */
export function addTo(counts: Map<string, number>, name: string, more = 1): void {
  counts.set(name, (counts.get(name) ?? 0) + more);
}

/** The value of a key, which is made where there is none. */
export function valueAt<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}

/** Stored counts by name. */
export const countsByName = valuesByName<number>(Number.isSafeInteger, 'must be whole numbers by name');
