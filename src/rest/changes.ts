import { z } from 'zod';
import { dataAge, dataAgeDays, type Origin } from '../answers/origin.ts';
import { missFacts, responseRecord, toResponseRecord } from '../answers/view.ts';
import { missDetail, noChangeKnown } from '../answers/words.ts';
import {
  CHANGE_CAUSES,
  CHANGE_KINDS,
  type HistoryChange,
  type StoredChange,
  storedChange,
} from '../changes/change.ts';
import { cursorText, historyGap } from '../changes/feed.ts';
import {
  type Changes,
  CursorExpiredError,
  EXPIRED_CURSOR,
  type FeedPage,
  UNKNOWN_CURSOR,
} from '../changes/service.ts';
import type { Route } from '../http/route.ts';
import { BadRequestError } from '../licenses/bad-request.ts';
import { numberKey, visibleText } from '../licenses/fold.ts';
import type { Miss } from '../licenses/lookup.ts';
import { type LicenseHistory, type Lookups, licenseHistory } from '../lookup/service.ts';
import {
  accountOf,
  board,
  COMMON_ERRORS,
  errorEntry,
  queryOf,
  REST_PATH,
  responseEntry,
  wholeNumber,
} from './operation.ts';
import { EXAMPLE, EXAMPLE_DATE, EXAMPLE_ORIGIN, MISSED_NUMBER } from './verify-response.ts';

/** A change as responses have it. */
export const changeBody = storedChange.omit({
  feed: true,
  epoch: true,
  position: true,
  license: true,
  number: true,
  erases: true,
  last_in_dataset: true,
});

const historyChangeBody = changeBody.extend({
  withdrawn: z
    .literal(true)
    .optional()
    .describe(
      'The dataset that said so was withdrawn by this service: an operator went back to another one. Not part of the ' +
        'license’s history, unless a change without this mark says the same',
    ),
});

function changeResponse(change: HistoryChange): z.output<typeof historyChangeBody> {
  const { at, publication, date, kind, cause, board, license_number, full_name, fields, withdrawn } = change;
  return { at, publication, date, kind, cause, board, license_number, full_name, fields, withdrawn };
}

/** A renewal, as the examples of responses have it. */
const CHANGE_EXAMPLE: StoredChange = {
  feed: '0f3a9c2be871',
  epoch: 20,
  position: 335_544_321,
  at: `${EXAMPLE_DATE}T09:12:44.120Z`,
  publication: 'p-20',
  date: EXAMPLE_DATE,
  kind: 'changed',
  cause: 'data',
  license: `NUR/${EXAMPLE.license_number}`,
  board: EXAMPLE.board,
  license_number: EXAMPLE.license_number,
  number: numberKey(EXAMPLE.license_number),
  full_name: EXAMPLE.full_name,
  fields: { expiry_date: { before: '2025-10-31', after: EXAMPLE.expiry_date } },
};

/** The most changes in a response, and how many there are without `limit`. */
export const MAX_CHANGES = 1000;
export const DEFAULT_CHANGES = 100;

const MAX_CURSOR_LENGTH = 100;

const LIMIT_ERROR = `limit must be a whole number from 1 to ${MAX_CHANGES}.`;

const changesQuery = z.object({
  since: z
    .string()
    .max(MAX_CURSOR_LENGTH, UNKNOWN_CURSOR)
    .optional()
    .describe(
      'A cursor from an earlier response; "latest" for the cursor of now; nothing for the oldest change kept',
    ),
  board: board.optional(),
  kind: z.enum(CHANGE_KINDS, `kind must be one of ${CHANGE_KINDS.join(', ')}.`).optional(),
  cause: z.enum(CHANGE_CAUSES, `cause must be one of ${CHANGE_CAUSES.join(', ')}.`).optional(),
  limit: z.preprocess(
    wholeNumber,
    z.int(LIMIT_ERROR).min(1, LIMIT_ERROR).max(MAX_CHANGES, LIMIT_ERROR).default(DEFAULT_CHANGES),
  ),
  watched: z
    .enum(['true', 'false'], 'watched must be true or false.')
    .default('false')
    .describe('true for the changes of the licenses that your account watches (/subscriptions) alone'),
});

const changesResponse = z.object({
  changes: z.array(
    changeBody.extend({
      cursor: z.string().describe('The place of this change in the feed'),
      reference: z
        .string()
        .nullable()
        .optional()
        .describe('With watched=true: what your subscription calls the license'),
    }),
  ),
  next: z.string().describe('The cursor to send as since in the next request'),
  more: z.boolean().describe('Whether there are more changes already'),
});

/** GET /changes: the feed of changes. */
export function changesRoute(changes: Changes): Route {
  return {
    method: 'GET',
    path: `${REST_PATH}/changes`,
    operation: {
      operationId: 'changes',
      tags: ['Changes'],
      summary: 'What changed',
      description:
        'Every license that was added, changed or removed, oldest first. Keep the cursor in next, and send it as ' +
        'since the next time: no change is lost or repeated. A cursor is a place, not a time; filters do not change it. With ' +
        'watched=true, a page may have fewer changes than limit, even none, while more is true.',
      requestParams: { query: changesQuery },
      responses: {
        '200': responseEntry('The changes', changesResponse.meta({ id: 'Changes' }), {
          example: changesAnswer({
            changes: [CHANGE_EXAMPLE],
            next: cursorText(CHANGE_EXAMPLE),
            more: false,
          }),
        }),
        '400': errorEntry(
          'A cursor that was never given out, or a bad filter',
          new BadRequestError(UNKNOWN_CURSOR),
        ),
        ...COMMON_ERRORS,
        '410': errorEntry(
          'A cursor whose changes are no longer kept',
          new CursorExpiredError(EXPIRED_CURSOR),
        ),
      },
    },
    handle: async (ctx) => {
      const { since = '', limit, watched, ...filters } = queryOf(ctx, changesQuery);
      const watchedBy = watched === 'true' ? accountOf(ctx) : undefined;
      ctx.body = changesAnswer(await changes.page({ since, limit, filters, watchedBy }));
    },
  };
}

function changesAnswer({ changes, next, more }: FeedPage): z.output<typeof changesResponse> {
  return {
    changes: changes.map(({ reference, ...change }) => ({
      cursor: cursorText(change),
      ...(reference !== undefined && { reference }),
      ...changeResponse(change),
    })),
    next,
    more,
  };
}

const NUMBER_NEEDED = 'license_number is needed: 1 to 100 characters.';
export const MAX_NUMBER_LENGTH = 100;

export const historyQuery = z.object({
  board: board.describe('Exactly the name of a board'),
  license_number: z
    .string(NUMBER_NEEDED)
    .overwrite((text) => visibleText(text).trim())
    .min(1, NUMBER_NEEDED)
    .max(MAX_NUMBER_LENGTH, NUMBER_NEEDED),
});

const coverage = {
  coverage_start: z.string().describe('Changes are known since the dataset of this date, YYYY-MM-DD'),
  gaps: z
    .array(historyGap)
    .optional()
    .describe('Changes between the datasets of these two dates are not known; absent when there is no gap'),
};

const historyResponse = z.object({
  board: z.string(),
  license_number: z.string(),
  ...coverage,
  record: responseRecord.nullable().describe('The license as it is now; null once it was removed'),
  changes: z.array(historyChangeBody).describe('The newest first'),
});

const neverSeenBody = z.object({
  detail: z.string(),
  reason: missFacts.shape.reason,
  ...dataAge,
  ...coverage,
});

/** The body for a number of which neither a license nor a change is known. */
function neverSeen(
  outcome: Miss,
  { since, gaps, ...origin }: Origin & Pick<LicenseHistory, 'since' | 'gaps'>,
): z.output<typeof neverSeenBody> {
  return {
    detail: [missDetail(outcome, origin, 'rest'), ...noChangeKnown(outcome, since)].join(' '),
    reason: outcome.reason,
    data_age_days: dataAgeDays(origin),
    ...coverageOf({ since, gaps }),
  };
}

function coverageOf({ since, gaps }: Pick<LicenseHistory, 'since' | 'gaps'>) {
  return { coverage_start: since, ...(gaps.length > 0 && { gaps: [...gaps] }) };
}

/** GET /history: what changed in one license. */
export function historyRoute(changes: Changes, lookups: Lookups): Route {
  return {
    method: 'GET',
    path: `${REST_PATH}/history`,
    operation: {
      operationId: 'history',
      tags: ['Changes'],
      summary: 'What changed in one license',
      requestParams: { query: historyQuery },
      responses: {
        '200': responseEntry('The license and its changes', historyResponse.meta({ id: 'History' }), {
          example: {
            board: EXAMPLE.board,
            license_number: EXAMPLE.license_number,
            coverage_start: '2025-01-02',
            record: toResponseRecord(EXAMPLE, EXAMPLE_ORIGIN),
            changes: [changeResponse(CHANGE_EXAMPLE)],
          },
        }),
        '400': errorEntry(
          'A board that is not one of the 24, or no number',
          new BadRequestError(NUMBER_NEEDED),
        ),
        ...COMMON_ERRORS,
        '404': responseEntry('A number that was never seen', neverSeenBody, {
          example: neverSeen(MISSED_NUMBER, { ...EXAMPLE_ORIGIN, since: '2025-01-02', gaps: [] }),
        }),
      },
    },
    handle: async (ctx) => {
      const { board, license_number: number } = queryOf(ctx, historyQuery);
      const asked = { board, number };
      const history = await licenseHistory({ lookups, changes }, asked, ctx.state.keyCheckedMs);
      const { outcome, licenseNumber, record } = history;
      ctx.state.outcome = outcome.outcome;
      if (licenseNumber === undefined && outcome.outcome === 'none') {
        ctx.status = 404;
        ctx.body = neverSeen(outcome, history);
        return;
      }
      ctx.body = {
        board: board.name,
        license_number: licenseNumber ?? number,
        ...coverageOf(history),
        record: record === undefined ? null : toResponseRecord(record, history),
        changes: history.changes.map(changeResponse),
      } satisfies z.output<typeof historyResponse>;
    },
  };
}
