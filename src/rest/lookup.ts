import { z } from 'zod';
import { dataAge, originBody, originFields } from '../answers/origin.ts';
import { missFacts, responseRecord, sentencesOf, type View, viewOf } from '../answers/view.ts';
import { REQUEST_WORDS } from '../answers/words.ts';
import type { Context } from '../http/app.ts';
import { header, named, type Operation, REST_PATH, type Route, resource } from '../http/guard.ts';
import { FILTER_NAMES } from '../licenses/filters.ts';
import { BadRequestError, lookupFields, MAX_MATCHES, readLookup } from '../licenses/lookup.ts';
import { boardName } from './fields.ts';
import type { RestServices } from './services.ts';

export const licenseBody = responseRecord.meta({
  id: 'LicenseRecord',
  description: 'A license and its holder',
});

const matchesBody = named(
  'Matches',
  {
    found: z.literal(true),
    count: z.int().min(2).max(MAX_MATCHES),
    truncated: z.boolean().describe('Whether more match than are listed'),
    message: z.string().optional().describe('Where truncated: how to narrow the search'),
    multiple: z.array(licenseBody).min(2).max(MAX_MATCHES),
    ...originFields,
  },
  'More than one match of a search by name',
);

const SIMILAR_NAMES =
  'Names that exist and may be meant: business names, surnames, or "SURNAME, GIVEN NAME"; if the surname itself exists, only full names';

const noMatchBody = named(
  'NoMatch',
  {
    found: z.literal(false),
    count: z.literal(0),
    message: z.string().describe('What was searched, in which dataset, and who is the authority'),
    did_you_mean: z.array(z.string()).describe(SIMILAR_NAMES),
    ...originFields,
  },
  'No match of a search by name: an answer, not an error, and never "unlicensed"',
);

export const numberNotFoundBody = named('NumberMiss', {
  detail: z.string().describe('What was searched, in which dataset, and what to do'),
  ...missFacts.shape,
  ...dataAge,
});

/** The body of a miss: the sentences and the facts. */
export function missBody(view: Extract<View, { outcome: 'not_found' }>) {
  return { detail: sentencesOf(view, 'rest').join(' '), ...view.facts };
}

/** Answers a lookup (LOOKUP-10 to LOOKUP-12) and sets the status. @returns the body */
export function answerOf(ctx: Pick<Context, 'status'>, view: View) {
  if (view.outcome === 'invalid') throw new BadRequestError(view.detail);
  if (view.outcome === 'found') return view.record;
  const from = originBody(view.origin);
  if (view.outcome === 'ambiguous') {
    const { records, truncated } = view;
    const message = truncated && { message: TRUNCATED_MESSAGE };
    const matches = { found: true, count: records.length, truncated, ...message, multiple: records };
    return { ...matches, ...from };
  }
  const { detail, ...facts } = missBody(view);
  if (facts.reason === undefined) return { found: false, count: 0, message: detail, ...facts, ...from };
  ctx.status = 404;
  return { detail, ...facts, data_age_days: from.data_age_days };
}

const FILTERS = FILTER_NAMES.join(', ').replace(/, (?=\w+$)/, ' or ');
const TRUNCATED_MESSAGE = `There are more than ${MAX_MATCHES} matches. Narrow the search with first_name (of a person), ${FILTERS}.`;

/** The body in the OpenAPI document. `readLookup` reads it: its errors say which fields belong together. */
const shownBody = lookupFields.extend({ board: boardName }).meta({
  id: 'VerifyRequest',
  description:
    'By number: board and license_number. By person: board and last_name. By business: board, search_type and ' +
    'business_name or license_number. A searched name and a filter need a letter or a digit. Null and blank texts ' +
    'count as absent, unknown fields are ignored.',
});

const VERIFY = {
  id: 'verify',
  summary: 'Verify a license',
  description: 'By number (200 or 404), by person or by business (always 200; see found).',
  input: { body: z.unknown() },
  shownBody,
  responses: {
    200: {
      when: 'The record, the matches, or no match of a name',
      body: z.union([licenseBody, matchesBody, noMatchBody]).meta({ id: 'LookupAnswer' }),
    },
    404: { when: 'No license for the number at the board', body: numberNotFoundBody },
  },
} satisfies Partial<Operation>;

const endpoint = resource('Lookups');

const DEPRECATION = {
  /** When POST /lookup/verify replaced POST /lookup/cached (RFC 9745: `@` and a Unix time). */
  Deprecation: '@1767225600',
  Link: `<${REST_PATH}/lookup/verify>; rel="successor-version"`,
};
const DEPRECATION_HEADERS = {
  Deprecation: header('Since when (RFC 9745)'),
  Link: header('The address that took its place'),
};

/** POST /lookup/verify (LOOKUP-10) and its deprecated alias POST /lookup/cached (VERSIONS-04). */
export function lookupRoutes({ lookups }: RestServices): Route[] {
  async function handle(ctx: Context, { body }: { body: unknown }): Promise<unknown> {
    const request = readLookup(body, REQUEST_WORDS.rest);
    const { outcome, ...origin } = await lookups.lookUp(request, ctx.state.keyCheckedMs);
    ctx.state.outcome = outcome.outcome;
    return answerOf(ctx, viewOf(outcome, origin));
  }
  return [
    endpoint('POST', '/lookup/verify', { ...VERIFY, handle }),
    endpoint('POST', '/lookup/cached', {
      ...VERIFY,
      id: 'cached',
      summary: 'The earlier name of /lookup/verify',
      description: 'Answers exactly as /lookup/verify.',
      deprecated: true,
      responses: { ...VERIFY.responses, 200: { ...VERIFY.responses[200], headers: DEPRECATION_HEADERS } },
      handle: (ctx, sent) => {
        ctx.set(DEPRECATION);
        return handle(ctx, sent);
      },
    }),
  ];
}
