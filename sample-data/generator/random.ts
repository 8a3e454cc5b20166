/** Returns the next number of a repeatable sequence, from 0 up to but not including 1. */
export type Random = () => number;

const TWO_TO_32 = 2 ** 32;

/**
 * A repeatable sequence of numbers (Chris Doty-Humphrey's public-domain "sfc32"). The same seed and purpose give the
 * same sequence; another purpose gives an unrelated one.
 *
 * @param seed a whole number of 0 or more
 */
export function createRandom(seed: number, purpose: string): Random {
  const state = new Int32Array([seed % TWO_TO_32, Math.floor(seed / TWO_TO_32), hash(purpose), 1]);
  const next = () => {
    const a = state[0] ?? 0;
    const b = state[1] ?? 0;
    const c = state[2] ?? 0;
    const counter = state[3] ?? 0;
    const result = (a + b + counter) | 0;
    state[0] = b ^ (b >>> 9);
    state[1] = c + (c << 3);
    state[2] = ((c << 21) | (c >>> 11)) + result;
    state[3] = counter + 1;
    return (result >>> 0) / TWO_TO_32;
  };
  for (let warmUp = 0; warmUp < 15; warmUp += 1) next();
  return next;
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  }
  return value | 0;
}

/** A whole number from 0 up to but not including `limit`. */
export function below(random: Random, limit: number): number {
  return Math.floor(random() * limit);
}

export function chance(random: Random, share: number): boolean {
  return random() < share;
}

/** One of the values, all equally likely. */
export function pick<T>(random: Random, values: readonly T[]): T {
  return at(values, below(random, values.length));
}

export type Draw<T> = (random: Random) => T;

/**
 * Draws from values with different probabilities, in constant time (Walker's alias method).
 *
 * @param entries values with their weights, in any unit
 */
export function weighted<T>(entries: Iterable<readonly [T, number]>): Draw<T> {
  const pairs = [...entries];
  const values = pairs.map(([value]) => value);
  const total = pairs.reduce((sum, [, weight]) => sum + weight, 0);
  const keep = Float64Array.from(pairs, ([, weight]) => (weight * pairs.length) / total);
  const alias = new Uint32Array(pairs.length);
  const small: number[] = [];
  const large: number[] = [];
  keep.forEach((share, index) => {
    (share < 1 ? small : large).push(index);
  });
  for (;;) {
    const under = small.pop();
    const over = large.at(-1);
    if (under === undefined || over === undefined) break;
    alias[under] = over;
    const rest = at(keep, over) - (1 - at(keep, under));
    keep[over] = rest;
    if (rest < 1) {
      large.pop();
      small.push(over);
    }
  }
  for (const full of [...small, ...large]) alias[full] = full;
  return (random) => {
    const drawn = random() * values.length;
    const index = Math.floor(drawn);
    return at(values, drawn - index < at(keep, index) ? index : at(alias, index));
  };
}

/** Like `weighted`, but takes an object of values and their weights. */
export function weightedText(weights: Readonly<Record<string, number>>): Draw<string> {
  return weighted(Object.entries(weights));
}

function at<T>(values: ArrayLike<T>, index: number): T {
  const value = values[index];
  if (value === undefined) throw new Error(`There is no value ${index} among ${values.length}.`);
  return value;
}
