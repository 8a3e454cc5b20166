import { z } from 'zod';
import { type MissFacts, missFacts, sentencesOf } from '../answers/view.ts';
import { itemsOf, NOT_UNLICENSED, REQUEST_WORDS, summaryInWords } from '../answers/words.ts';
import { BadRequestError, lookupRequest } from '../licenses/lookup.ts';
import { invalidLookup, type Roster, type RosterItem, type RosterResult } from '../rosters/roster.ts';
import type { Rosters } from '../rosters/service.ts';
import {
  DEFAULT_ROSTER_MATCHES,
  MAX_ROSTER_ITEMS,
  readParameters,
  rosterCallParameters,
  rosterItemParameters,
} from './parameters.ts';
import { compact, compactLicense, messageOf, originOf, resultOrigin } from './results.ts';

const itemResult = z.object({
  index: z.int().describe('The place of the item in the roster, from 0'),
  reference: z.string().nullable().describe('As in the item'),
  outcome: z
    .enum(['found', 'ambiguous', 'not_found', 'invalid'])
    .describe('ambiguous: several licenses match; invalid: the item could not be looked up'),
  message: z.string().optional().describe('What to tell or to do'),
  name_match: z.boolean().optional().describe('Whether the name sent with a number is the holder’s'),
  licenses: z.array(compactLicense).optional(),
  truncated: z.literal(true).optional().describe('Present where more licenses match than are listed'),
  ...missFacts.partial().shape,
});

/** The result of verify_roster. */
export const rosterResult = z.object({
  ...resultOrigin,
  message: z.string(),
  count: z.int(),
  summary: z.object({
    found: z.int(),
    clear: z.int().describe('Those of the found that have no cautions'),
    ambiguous: z.int(),
    not_found: z.int(),
    invalid: z.int(),
  }),
  results: z.array(itemResult).describe('In the order of the items'),
});

const NOT_PROOF = 'A match of a name alone is not proof that it is the person meant.';

/**
 * Verifies a roster for a model.
 *
 * @param signal stops the work, for a client that is gone
 * @throws {BadRequestError} for what is wrong with the roster as a whole
 */
export async function verifyRoster(
  rosters: Rosters,
  given: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<z.output<typeof rosterResult>> {
  const { values, note } = readParameters(rosterCallParameters, given);
  const roster: Roster = {
    items: values.items.map(rosterItem),
    maxMatches: values.max_matches ?? DEFAULT_ROSTER_MATCHES,
  };
  const { origin, summary, shaped } = await rosters.answer(
    roster,
    (results) => results.map(itemContent),
    signal,
  );
  const message = messageOf(origin, `${summaryInWords(summary)}.`, NOT_UNLICENSED, NOT_PROOF);
  return {
    ...originOf(origin),
    message: `${note} ${message}`.trimStart(),
    count: itemsOf(summary),
    summary,
    results: shaped.flat(),
  };
}

function rosterItem(item: Readonly<Record<string, unknown>>): RosterItem {
  let reference: string | null = null;
  try {
    const { values, note } = readParameters(rosterItemParameters, item);
    reference = values.reference ?? null;
    const { license_number: number, last_name: lastName, business_name: businessName } = values;
    if (number === undefined && lastName === undefined && businessName === undefined) {
      throw new BadRequestError(
        `The item has no license_number, no last_name and no business_name. ${note}`.trimEnd(),
      );
    }
    const fields =
      businessName === undefined || lastName !== undefined
        ? { ...values, business_name: undefined }
        : { ...values, search_type: 'business' };
    return { reference, request: lookupRequest(fields, REQUEST_WORDS.tool) };
  } catch (error) {
    return { reference, request: invalidLookup(error) };
  }
}

function itemContent({ index, reference, view }: RosterResult): z.output<typeof itemResult> {
  const { outcome, records, truncated } = view;
  const message = outcome === 'ambiguous' ? '' : sentencesOf(view, 'toolItem').join(' ');
  const nameMatch = outcome === 'found' ? view.record.name_match : undefined;
  return {
    ...{ index, reference, outcome },
    ...(message !== '' && { message }),
    ...(nameMatch !== undefined && { name_match: nameMatch }),
    ...(records.length > 0 && { licenses: records.map(compact) }),
    ...(truncated && { truncated }),
    ...(outcome === 'not_found' && missOf(view.facts)),
  };
}

/** The facts of a miss; without suggestions where there are none. */
function missOf({ did_you_mean, ...facts }: MissFacts) {
  return { ...facts, ...(did_you_mean.length > 0 && { did_you_mean }) };
}

/** How many items a call of verify_roster has; 0 for any other message. */
export function rosterItemsIn(message: unknown): number {
  const call = rosterCall.safeParse(message);
  return call.success ? Math.min(call.data.params.arguments.items.length, MAX_ROSTER_ITEMS) : 0;
}

const rosterCall = z.object({
  method: z.literal('tools/call'),
  params: z.object({
    name: z.literal('verify_roster'),
    arguments: z.object({ items: z.array(z.unknown()) }),
  }),
});
