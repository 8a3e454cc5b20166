import { z } from 'zod';
import { BadRequestError } from '../licenses/bad-request.ts';
import { cautionSentences, cautionsOf } from '../licenses/cautions.ts';
import { itemsOf, summaryInWords } from '../licenses/counts.ts';
import type { RecordOrigin } from '../licenses/license.ts';
import { lookupRequest } from '../licenses/lookup.ts';
import { AS_PERSONS, NOT_UNLICENSED, notFoundMessage, reasonOf } from '../licenses/not-found.ts';
import {
  invalidLookup,
  type Roster,
  type RosterItem,
  type RosterResult,
  rosterOutcome,
} from '../rosters/roster.ts';
import type { Rosters } from '../rosters/service.ts';
import {
  DEFAULT_ROSTER_MATCHES,
  LOOKUP_WORDS,
  MAX_ROSTER_ITEMS,
  readParameters,
  rosterCallParameters,
  rosterItemParameters,
} from './parameters.ts';
import { AUTHORITY, compact, compactLicense, notFoundReason, SAMPLE_DATA_NOTICE } from './results.ts';

const itemResult = z.object({
  index: z.int().describe('The place of the item in the roster, from 0'),
  reference: z.string().nullable().describe('As in the item'),
  outcome: z
    .enum(['found', 'ambiguous', 'not_found', 'invalid'])
    .describe('ambiguous: several licenses match; invalid: the item could not be looked up'),
  reason: notFoundReason.optional(),
  message: z.string().optional().describe('What to tell or to do'),
  name_match: z.boolean().optional().describe('Whether the name sent with a number is the holder’s'),
  licenses: z.array(compactLicense).optional(),
  truncated: z.literal(true).optional().describe('Present where more licenses match than are listed'),
  did_you_mean: z
    .array(z.string())
    .optional()
    .describe('Numbers or names that exist and may be meant; ask before you use one'),
});

/** The result of verify_roster. */
export const rosterResult = z.object({
  data_as_of: z.string().describe('Run date of the dataset that answered, YYYY-MM-DD'),
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
  const { date, isSampleData, summary, shaped } = await rosters.answer(
    roster,
    (results, origin) => results.map((result) => itemContent(result, origin)),
    signal,
  );
  const sentences = [
    note,
    isSampleData ? SAMPLE_DATA_NOTICE : '',
    `${summaryInWords(summary)}.`,
    NOT_UNLICENSED,
    NOT_PROOF,
    AUTHORITY,
  ];
  return {
    data_as_of: date,
    message: sentences.filter((sentence) => sentence !== '').join(' '),
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
    return { reference, request: lookupRequest(fields, LOOKUP_WORDS) };
  } catch (error) {
    return { reference, request: invalidLookup(error) };
  }
}

function itemContent(
  { index, reference, outcome }: RosterResult,
  origin: RecordOrigin,
): z.output<typeof itemResult> {
  const item = { index, reference, outcome: rosterOutcome(outcome) };
  switch (outcome.outcome) {
    case 'found': {
      const { record, nameMatch } = outcome;
      const message = cautionSentences(record, cautionsOf(record, origin.today, nameMatch)).join(' ');
      return {
        ...item,
        ...(message === '' ? {} : { message }),
        ...(nameMatch === undefined ? {} : { name_match: nameMatch }),
        licenses: [compact(record, origin, nameMatch)],
      };
    }
    case 'several':
      return {
        ...item,
        licenses: outcome.records.map((record) => compact(record, origin)),
        ...(outcome.truncated && { truncated: true }),
      };
    case 'invalid':
      return { ...item, message: outcome.detail };
    default:
      return {
        ...item,
        ...(outcome.request.by === 'number' && { reason: reasonOf(outcome) }),
        message: notFoundMessage(outcome, origin.date, AS_PERSONS.toolItem),
        ...(outcome.didYouMean.length > 0 && { did_you_mean: [...outcome.didYouMean] }),
      };
  }
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
