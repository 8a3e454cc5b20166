import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import type { View } from '../answers/view.ts';
import type { InvalidLookup, LookupRequest } from '../licenses/lookup.ts';
import { BadRequestError, checked } from '../licenses/lookup.ts';

/** The most items of one roster. */
export const MAX_ITEMS = 1000;

/** How many matches of a name an item lists, unless the roster says otherwise. */
export const DEFAULT_LISTED_MATCHES = 5;

/** One lookup of a roster, or the reason why it is invalid. */
export interface RosterItem {
  /** The caller's own name for the item. */
  readonly reference: string | null;
  readonly request: LookupRequest | InvalidLookup;
}

/** Many lookups that are answered together, from one publication. */
export interface Roster {
  readonly items: readonly RosterItem[];
  /** The most matches of a name that an item lists, 1 to `MAX_LISTED_MATCHES`. */
  readonly maxMatches: number;
  /** Set if misses are shown without suggestions, which cost more than a lookup. */
  readonly withoutSuggestions?: boolean;
}

const MAX_REFERENCE = 100;

/** The caller's own name for an item. */
export const reference = z
  .string('reference must be a string.')
  .max(MAX_REFERENCE, `reference must have at most ${MAX_REFERENCE} characters.`)
  .nullish()
  .transform((text) => text ?? null);

const referred = z.object({ reference }, 'The item must be a JSON object.');

/** Reads the items of a roster. Both functions throw a `BadRequestError` that says what is wrong with the item. */
export interface ItemReader<Item, Fields> {
  /** The fields of the item, `reference` among them. */
  readonly fieldsOf: (item: Item) => Fields;
  readonly requestOf: (fields: Fields) => LookupRequest;
}

/** Turns a `BadRequestError` from reading or running a lookup into an invalid lookup. @throws any other error */
export function invalidLookup(error: unknown): InvalidLookup {
  if (error instanceof BadRequestError) return { outcome: 'invalid', detail: error.message };
  throw error;
}

/** After this many items are read, other requests get their turn. */
const ITEMS_READ_AT_ONCE = 25;

/**
 * Reads the items of a roster. This takes time, so the items are first counted against the rate limit. An error in one
 * item makes only that item invalid.
 */
export async function readItems<Item, Fields>(
  items: readonly Item[],
  { fieldsOf, requestOf }: ItemReader<Item, Fields>,
): Promise<readonly RosterItem[]> {
  const all: RosterItem[] = [];
  for (const [at, item] of items.entries()) {
    if (at % ITEMS_READ_AT_ONCE === 0) await nextTurn();
    let name: string | null = null;
    try {
      const fields = fieldsOf(item);
      name = checked(referred, fields).reference;
      all.push({ reference: name, request: requestOf(fields) });
    } catch (error) {
      all.push({ reference: name, request: invalidLookup(error) });
    }
  }
  return all;
}

/** The answer to one item of a roster. */
export interface RosterResult {
  /** The item's place in the roster, from 0. */
  readonly index: number;
  readonly reference: string | null;
  /** If several licenses match a name, has at most `maxMatches` of them. */
  readonly view: View;
  /** Whether suggestions were left out, because enough earlier items used them or the roster asks for none. */
  readonly suggestionsOmitted: boolean;
}
