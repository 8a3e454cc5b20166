import { z } from 'zod';
import { sentencesOf } from '../answers/view.ts';
import { itemsOf, NOT_UNLICENSED, REQUEST_WORDS, summaryInWords } from '../answers/words.ts';
import { BadRequestError, lookupRequest } from '../licenses/lookup.ts';
import { invalidLookup, type RosterItem, type RosterResult } from '../rosters/roster.ts';
import type { Rosters } from '../rosters/service.ts';
import {
  DEFAULT_ROSTER_MATCHES,
  joined,
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
  /** The index of the item in the roster, from 0. */
  index: z.int(),
  reference: z.string().nullable(),
  outcome: z.enum(['found', 'ambiguous', 'not_found', 'invalid']),
  message: z.string().optional(),
  name_match: z.boolean().optional(),
  licenses: z.array(compactLicense).optional(),
  /** Present if more licenses match than are listed. */
  truncated: z.literal(true).optional(),
  ...missResult,
});

const count = z.int();

/** The result of verify_roster. */
export const rosterResult = z.object({
  ...resultOrigin,
  count,
  /** How many items had each outcome. `clear` counts the found items without cautions. */
  summary: z.object({ found: count, clear: count, ambiguous: count, not_found: count, invalid: count }),
  /** In the order of the items. */
  results: z.array(itemResult),
});

const NOT_PROOF = 'A match of a name alone is not proof that it is the person meant.';

/** Answers verify_roster. */
export async function verifyRoster(
  { rosters }: { readonly rosters: Rosters },
  { items, max_matches: maxMatches = DEFAULT_ROSTER_MATCHES }: z.output<typeof rosterParameters>,
  clientGone: () => AbortSignal,
): Promise<ToolResult> {
  const { origin, summary, shaped } = await rosters.answer(
    { items: items.map(rosterItem), maxMatches },
    (results) => results.map((result) => itemContent(result, items[result.index]?.last_name)),
    clientGone(),
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
        joined('The item has no license_number, no last_name and no business_name.', note),
      );
    }
    const isBusiness = businessName !== undefined && lastName === undefined;
    const fields = {
      ...values,
      ...(isBusiness ? { search_type: 'business' } : { business_name: undefined }),
    };
    return { reference, request: lookupRequest(fields, REQUEST_WORDS.tool) };
  } catch (error) {
    return { reference, request: invalidLookup(error) };
  }
}

function itemContent({ index, reference, view }: RosterResult, lastName: unknown) {
  const { outcome, records, truncated } = view;
  const message = joined(
    ...(outcome === 'ambiguous' ? [] : sentencesOf(view, 'toolItem')),
    ...nameSentences(records, lastName),
  );
  return {
    ...{ index, reference, outcome },
    ...(message !== '' && { message }),
    ...(outcome === 'found' && { name_match: view.record.name_match }),
    ...(records.length > 0 && { licenses: records.map(compact) }),
    ...(truncated && { truncated }),
    ...(outcome === 'not_found' && view.facts),
  };
}
