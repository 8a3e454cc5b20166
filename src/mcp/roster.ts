import { z } from 'zod';
import { type MissFacts, sentencesOf } from '../answers/view.ts';
import { itemsOf, NOT_UNLICENSED, REQUEST_WORDS, summaryInWords } from '../answers/words.ts';
import { BadRequestError, lookupRequest } from '../licenses/lookup.ts';
import { invalidLookup, type Roster, type RosterItem, type RosterResult } from '../rosters/roster.ts';
import type { Rosters } from '../rosters/service.ts';
import {
  DEFAULT_ROSTER_MATCHES,
  readParameters,
  rosterItemParameters,
  type rosterParameters,
} from './parameters.ts';
import {
  boardActionNotGiven,
  compact,
  compactLicense,
  messageOf,
  missResult,
  nameSentences,
  originOf,
  resultOrigin,
  type ToolResult,
} from './results.ts';

const itemResult = z.object({
  /** The place of the item in the roster, from 0. */
  index: z.int(),
  reference: z.string().nullable(),
  outcome: z.enum(['found', 'ambiguous', 'not_found', 'invalid']),
  message: z.string().optional(),
  name_match: z.boolean().optional(),
  licenses: z.array(compactLicense).optional(),
  /** Present where more licenses match than are listed. */
  truncated: z.literal(true).optional(),
  ...missResult,
});

/** The result of verify_roster. */
export const rosterResult = z.object({
  ...resultOrigin,
  count: z.int(),
  /** How many items ended in each way. Those that are clear are found and have no cautions. */
  summary: z.object({
    ...{ found: z.int(), clear: z.int(), ambiguous: z.int(), not_found: z.int(), invalid: z.int() },
  }),
  /** In the order of the items. */
  results: z.array(itemResult),
});

const NOT_PROOF = 'A match of a name alone is not proof that it is the person meant.';

/**
 * Verifies a roster for a model.
 *
 * @param signal stops the work, for a client that is gone
 */
export async function verifyRoster(
  rosters: Rosters,
  { items, max_matches: maxMatches = DEFAULT_ROSTER_MATCHES }: z.output<typeof rosterParameters>,
  signal: AbortSignal,
): Promise<ToolResult> {
  const roster: Roster = { items: items.map(rosterItem), maxMatches };
  const { origin, summary, shaped } = await rosters.answer(
    roster,
    (results) => results.map((result) => itemContent(result, items[result.index]?.last_name)),
    signal,
  );
  const results = shaped.flat();
  const notGiven = boardActionNotGiven(results.flatMap(({ licenses = [] }) => licenses));
  const content = {
    ...originOf(origin),
    message: messageOf(origin, `${summaryInWords(summary)}.`, NOT_UNLICENSED, NOT_PROOF, notGiven),
    ...{ count: itemsOf(summary), summary, results },
  };
  return { outcome: 'answered', content };
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

function itemContent({ index, reference, view }: RosterResult, lastName: unknown) {
  const { outcome, records, truncated } = view;
  const sentences = [
    ...(outcome === 'ambiguous' ? [] : sentencesOf(view, 'toolItem')),
    ...nameSentences(records, typeof lastName === 'string' ? lastName : undefined),
  ];
  const message = sentences.filter((sentence) => sentence !== '').join(' ');
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
