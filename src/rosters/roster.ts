import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { BadRequestError, checked } from '../licenses/bad-request.ts';
import type { InvalidLookup, LookupOutcome, LookupRequest } from '../licenses/lookup.ts';

/** The most items of one roster. */
export const MAX_ITEMS = 1000;

/** How many matches of a name an item lists, unless the roster says otherwise. */
export const DEFAULT_LISTED_MATCHES = 5;

/** One lookup of a roster, or what is wrong with it. */
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
  /** For a roster whose misses are shown without suggestions, which cost more than a lookup. */
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

/** How the items of a roster are read. Both throw a `BadRequestError` for what is wrong with the item. */
export interface ItemReader<Item> {
  /** The fields of the item, `reference` among them. */
  readonly fieldsOf: (item: Item) => unknown;
  readonly requestOf: (fields: unknown, item: Item) => LookupRequest;
}

/** What is wrong with an item makes only that item invalid. */
function rosterItem<Item>(item: Item, { fieldsOf, requestOf }: ItemReader<Item>): RosterItem {
  let name: string | null = null;
  try {
    const fields = fieldsOf(item);
    name = checked(referred, fields).reference;
    return { reference: name, request: requestOf(fields, item) };
  } catch (error) {
    return { reference: name, request: invalidLookup(error) };
  }
}

/** What an error in reading a lookup says is wrong with it. @throws any other error */
export function invalidLookup(error: unknown): InvalidLookup {
  if (error instanceof BadRequestError) return { outcome: 'invalid', detail: error.message };
  throw error;
}

/** After so many items are read, other requests get their turn. */
const ITEMS_READ_AT_ONCE = 25;

/** Reads the items of a roster, which takes time: they are counted and paid for first. */
export async function readItems<Item>(
  items: readonly Item[],
  reader: ItemReader<Item>,
): Promise<readonly RosterItem[]> {
  const all: RosterItem[] = [];
  for (let at = 0; at < items.length; at += ITEMS_READ_AT_ONCE) {
    for (const item of items.slice(at, at + ITEMS_READ_AT_ONCE)) all.push(rosterItem(item, reader));
    await nextTurn();
  }
  return all;
}

/** What found a license: its number, or a name of which it is the only match. */
export const FOUND_BY = ['number', 'name'] as const;

export type FoundBy = (typeof FOUND_BY)[number];

/** The answer to one item of a roster. */
export interface RosterResult {
  /** The item's place in the roster, from 0. */
  readonly index: number;
  readonly reference: string | null;
  /** Of several matches of a name, at most `maxMatches`. */
  readonly outcome: LookupOutcome | InvalidLookup;
  /** What found it, if it was found. */
  readonly foundBy: FoundBy;
  /** Whether it has no suggestions because so many items before it have none either. */
  readonly suggestionsOmitted: boolean;
}

/** How an item ended, in the words of every interface. */
export type RosterOutcome = 'found' | 'ambiguous' | 'not_found' | 'invalid';

export function rosterOutcome({ outcome }: RosterResult['outcome']): RosterOutcome {
  switch (outcome) {
    case 'found':
    case 'invalid':
      return outcome;
    case 'several':
      return 'ambiguous';
    default:
      return 'not_found';
  }
}

/** How many items of a roster ended in each way; `clear` is how many of the found have no cautions. */
export type RosterSummary = Readonly<Record<RosterOutcome | 'clear', number>>;

/** How many items a roster has. */
export function itemsOf({ found, ambiguous, not_found, invalid }: RosterSummary): number {
  return found + ambiguous + not_found + invalid;
}

const GROUPED = new Intl.NumberFormat('en-US');

/** `12 clear, 14 need attention, 3 not found, 1 not understood`: what needs attention was found with cautions, or several match. */
export function summaryInWords({ found, clear, ambiguous, not_found, invalid }: RosterSummary): string {
  const parts = [
    [clear, 'clear'],
    [found - clear + ambiguous, found - clear + ambiguous === 1 ? 'needs attention' : 'need attention'],
    [not_found, 'not found'],
    [invalid, 'not understood'],
  ] as const;
  return parts.map(([count, words]) => `${GROUPED.format(count)} ${words}`).join(', ');
}
