import { z } from 'zod';
import type { LookupOutcome } from '../licenses/lookup.ts';
import { missDetail } from '../licenses/miss-detail.ts';
import { answeredRecord, answerRecord } from '../licenses/record.ts';

const AUTHORITY =
  'The data is the State of Ohio’s daily dataset, not primary-source verification; the issuing board is the authority.';

const OTHER_NAME =
  'The name given is not the holder’s: the number may be mistyped, so do not take this license for that person’s.';

/** What every lookup tool returns. */
export const lookupResult = z.object({
  outcome: z.enum(['found', 'not_found', 'ambiguous']),
  data_as_of: z.string().describe('Run date of the dataset that answered, YYYY-MM-DD'),
  searched: z.record(z.string(), z.string()).describe('What was looked for'),
  count: z.int().describe('How many licenses are in this result'),
  truncated: z.boolean().describe('Whether more matched than are returned'),
  licenses: z.array(answeredRecord),
  did_you_mean: z
    .array(z.string())
    .describe(
      'Numbers, surnames or business names that exist and are written nearly alike; ask before you use one',
    ),
  message: z.string().describe('What the outcome means and what to do next'),
});

export type LookupResult = z.output<typeof lookupResult>;

/**
 * A lookup's outcome as a tool result. Not found is an answer, never "unlicensed".
 *
 * @param dataAsOf the run date of the dataset, `YYYY-MM-DD`
 * @param today the date in Ohio
 */
export function lookupToolResult(
  outcome: LookupOutcome,
  searched: Record<string, string>,
  dataAsOf: string,
  today: string,
): LookupResult {
  const origin = { data_as_of: dataAsOf, searched };
  switch (outcome.outcome) {
    case 'record':
      return {
        outcome: 'found',
        ...origin,
        count: 1,
        truncated: false,
        licenses: [answerRecord(outcome.record, dataAsOf, today, outcome.nameMatch)],
        did_you_mean: [],
        message: outcome.nameMatch === false ? `${OTHER_NAME} ${AUTHORITY}` : AUTHORITY,
      };
    case 'matches':
      return {
        outcome: 'found',
        ...origin,
        count: outcome.records.length,
        truncated: outcome.truncated,
        licenses: outcome.records.map((record) => answerRecord(record, dataAsOf, today)),
        did_you_mean: [],
        message: outcome.truncated
          ? `More licenses match than are listed; narrow the search. ${AUTHORITY}`
          : `Several licenses match; check which one is meant. ${AUTHORITY}`,
      };
    case 'no_match':
      return {
        outcome: 'not_found',
        ...origin,
        count: 0,
        truncated: false,
        licenses: [],
        did_you_mean: [...outcome.didYouMean],
        message: `No license matches in the dataset of ${dataAsOf}. That does not mean that nobody is licensed: check the spelling and the board. ${AUTHORITY}`,
      };
    case 'number_not_found':
      return {
        outcome: outcome.miss === 'ambiguous' ? 'ambiguous' : 'not_found',
        ...origin,
        count: 0,
        truncated: false,
        licenses: [],
        did_you_mean: [...outcome.didYouMean],
        message: `${missDetail(outcome, dataAsOf)} ${AUTHORITY}`,
      };
  }
}
