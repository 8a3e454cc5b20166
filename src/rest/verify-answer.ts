import type { LookupOutcome } from '../licenses/lookup.ts';
import { missDetail } from '../licenses/miss-detail.ts';
import { MAX_MATCHES } from '../licenses/queries.ts';
import { answerRecord, lastScraped } from '../licenses/record.ts';

/** A status and a JSON body. */
export interface Answer {
  readonly status: 200 | 404;
  readonly body: object;
}

/**
 * The answer to a lookup (specification 4.3, and the design where that is silent).
 *
 * @param publicationDate the run date of the dataset that answered, `YYYY-MM-DD`
 * @param today the date in Ohio
 */
export function verifyAnswer(outcome: LookupOutcome, publicationDate: string, today: string): Answer {
  const origin = { source: 'dataset', last_scraped: lastScraped(publicationDate) } as const;
  switch (outcome.outcome) {
    case 'record':
      return { status: 200, body: answerRecord(outcome.record, publicationDate, today, outcome.nameMatch) };
    case 'matches':
      return {
        status: 200,
        body: {
          found: true,
          count: outcome.records.length,
          truncated: outcome.truncated,
          ...(outcome.truncated ? { message: TRUNCATED } : {}),
          multiple: outcome.records.map((record) => answerRecord(record, publicationDate, today)),
          ...origin,
        },
      };
    case 'no_match':
      return {
        status: 200,
        body: {
          found: false,
          count: 0,
          message: noMatch(publicationDate),
          did_you_mean: outcome.didYouMean,
          ...origin,
        },
      };
    case 'number_not_found':
      return {
        status: 404,
        body: {
          detail: missDetail(outcome, publicationDate),
          did_you_mean: outcome.didYouMean,
        },
      };
  }
}

function noMatch(publicationDate: string): string {
  return (
    `No license of the board asked matches this name and narrowing in the State's dataset of ${publicationDate}. ` +
    'Check the spelling and the board; the issuing board is the authority.'
  );
}

const TRUNCATED = `There are more than ${MAX_MATCHES} matches. Narrow the search with first_name, license_type, status, city or county.`;
