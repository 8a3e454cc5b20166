import { z } from 'zod';
import { lookupOutcome } from '../access/usage.ts';
import type { Context } from '../http/app.ts';
import { endpoint, type Operation, type Route } from '../http/guard.ts';
import { todayInOhio } from '../licenses/dates.ts';
import { FILTER_NAMES } from '../licenses/filters.ts';
import { lastScraped, type RecordOrigin, responseRecord, toResponseRecord } from '../licenses/license.ts';
import {
  FIELD_WORDS,
  type LookupOutcome,
  type LookupRequest,
  type LookupWords,
  lookupFields,
  MAX_MATCHES,
  readLookup,
} from '../licenses/lookup.ts';
import { NUMBER_NOT_FOUND_REASONS, notFoundDetail, reasonOf } from '../licenses/not-found.ts';
import type { Lookups } from '../lookup/service.ts';
import { boardName, REST_PATH, unknownBoard } from './fields.ts';

/** How the REST API says what is wrong with the fields of a lookup. */
export const REST_WORDS: LookupWords = {
  ...FIELD_WORDS,
  unknownBoard: (name) => unknownBoard(name).message,
  noBoard: () => 'board is required: the exact name of one of the boards at GET /lookup/boards.',
};

const from = responseRecord.pick({ source: true, last_scraped: true }).shape;

export const licenseBody = responseRecord.meta({
  id: 'LicenseRecord',
  description: 'A license and its holder',
});

export const matchesBody = z
  .object({
    found: z.literal(true),
    count: z.int().min(2).max(MAX_MATCHES),
    truncated: z.boolean().describe('Whether more match than are answered'),
    message: z.string().optional().describe('Where truncated: how to narrow the search'),
    multiple: z.array(licenseBody).min(2).max(MAX_MATCHES),
    ...from,
  })
  .meta({ id: 'Matches', description: 'More than one match of a search by name' });

export const noMatchBody = z
  .object({
    found: z.literal(false),
    count: z.literal(0),
    message: z.string().describe('What was searched, in which dataset, and who is the authority'),
    did_you_mean: z
      .array(z.string())
      .describe(
        'Names that exist and may be meant: business names, surnames, or "SURNAME, GIVEN NAME"; where the surname itself exists, only the last',
      ),
    ...from,
  })
  .meta({
    id: 'NoMatch',
    description: 'No match of a search by name: an answer, not an error, and never "unlicensed"',
  });

export const notFoundReason = z
  .enum(NUMBER_NOT_FOUND_REASONS)
  .describe(
    'unknown: no board has the number. ambiguous: several licenses have it, or are written like it. other_board: only ' +
      'another board has it. not_a_business: it is a person’s, and search_type is business.',
  );

export const numberNotFoundBody = z
  .object({
    detail: z.string().describe('What was searched, in which dataset, and what to do'),
    reason: notFoundReason,
    did_you_mean: z.array(z.string()).describe('Numbers that exist and may be meant, never with holders'),
  })
  .meta({ id: 'NumberMiss' });

/** The status and body for a lookup (requirements LOOKUP-10 to LOOKUP-12). */
export function verifyResponse(outcome: LookupOutcome, origin: RecordOrigin) {
  const from = { source: 'dataset', last_scraped: lastScraped(origin.date) } as const;
  switch (outcome.outcome) {
    case 'found':
      return {
        status: 200,
        body: toResponseRecord(outcome.record, origin, outcome.nameMatch),
      };
    case 'several': {
      const body: z.output<typeof matchesBody> = {
        found: true,
        count: outcome.records.length,
        truncated: outcome.truncated,
        ...(outcome.truncated && { message: TRUNCATED_MESSAGE }),
        multiple: outcome.records.map((record) => toResponseRecord(record, origin)),
        ...from,
      };
      return { status: 200, body };
    }
    default: {
      const message = notFoundDetail(outcome, origin.date);
      const didYouMean = [...outcome.didYouMean];
      if (outcome.request.by === 'number') {
        const body: z.output<typeof numberNotFoundBody> = {
          detail: message,
          reason: reasonOf(outcome),
          did_you_mean: didYouMean,
        };
        return { status: 404, body };
      }
      const body: z.output<typeof noMatchBody> = {
        found: false,
        count: 0,
        message,
        did_you_mean: didYouMean,
        ...from,
      };
      return { status: 200, body };
    }
  }
}

const FILTERS = FILTER_NAMES.join(', ').replace(/, (?=\w+$)/, ' or ');
const TRUNCATED_MESSAGE = `There are more than ${MAX_MATCHES} matches. Narrow the search with first_name (of a person), ${FILTERS}.`;

/** The body, which `readLookup` reads: its errors say which fields belong together. */
const shownBody = lookupFields.extend({ board: boardName }).meta({
  id: 'VerifyRequest',
  description:
    'By number: board and license_number. By person: board and last_name. By business: board, search_type and ' +
    'business_name or license_number. A searched name and a filter need a letter or a digit. Null and blank texts ' +
    'count as absent, unknown fields are ignored.',
});

const VERIFY = {
  id: 'verify',
  tag: 'Lookups',
  summary: 'Verify a license',
  description: 'By number (200 or 404), by person or by business (always 200; see found).',
  input: { body: z.unknown().transform((sent) => readLookup(sent, REST_WORDS)) },
  shownBody,
  responses: {
    200: {
      when: 'The record, the matches, or that a name has none',
      body: z.union([licenseBody, matchesBody, noMatchBody]).meta({ id: 'LookupAnswer' }),
    },
    404: { when: 'No license for the number at the board', body: numberNotFoundBody },
  },
} satisfies Operation;

/** When POST /lookup/verify replaced POST /lookup/cached (RFC 9745: `@` and a Unix time). */
const CACHED_DEPRECATED = '@1767225600';

/** POST /lookup/verify (LOOKUP-10) and its deprecated alias POST /lookup/cached (VERSIONS-04). */
export function lookupRoutes(lookups: Lookups): Route[] {
  async function verify(ctx: Context, request: LookupRequest): Promise<unknown> {
    const { outcome, ...origin } = await lookups.lookUp(request, ctx.state.keyCheckedMs);
    const { status, body } = verifyResponse(outcome, { ...origin, today: todayInOhio() });
    ctx.state.outcome = lookupOutcome(outcome);
    ctx.status = status;
    return body;
  }
  return [
    endpoint({
      ...VERIFY,
      method: 'POST',
      path: `${REST_PATH}/lookup/verify`,
      handle: (ctx, { body }) => verify(ctx, body),
    }),
    endpoint({
      ...VERIFY,
      method: 'POST',
      path: `${REST_PATH}/lookup/cached`,
      id: 'cached',
      summary: 'The earlier name of /lookup/verify',
      description: 'Answers exactly as /lookup/verify.',
      isDeprecated: true,
      headers: {
        Deprecation: [CACHED_DEPRECATED, 'Since when (RFC 9745)'],
        Link: [`<${REST_PATH}/lookup/verify>; rel="successor-version"`, 'The address that took its place'],
      },
      handle: (ctx, { body }) => verify(ctx, body),
    }),
  ];
}
