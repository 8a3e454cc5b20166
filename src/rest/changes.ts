import { z } from 'zod';
import {
  CHANGE_CAUSES,
  CHANGE_KINDS,
  fieldChange,
  type HistoryChange,
  type StoredChange,
} from '../changes/change.ts';
import { cursorText } from '../changes/feed.ts';
import {
  type Changes,
  CursorExpiredError,
  EXPIRED_CURSOR,
  type FeedPage,
  UNKNOWN_CURSOR,
} from '../changes/service.ts';
import type { Route } from '../http/route.ts';
import { BadRequestError } from '../licenses/bad-request.ts';
import { numberKey } from '../licenses/number.ts';
import { REST_PATH } from './base-path.ts';
import { boardName, boardNamed } from './board-name.ts';
import { COMMON_ERRORS, errorEntry, responseEntry } from './openapi-responses.ts';
import { queryOf } from './query.ts';
import { EXAMPLE, EXAMPLE_DATE } from './verify-examples.ts';

/** A change of one license in responses. */
export const changeBody = z.object({
  at: z.string().describe('When it was found, ISO 8601'),
  publication: z.string().describe('The publication that went live with it'),
  date: z.string().describe('The run date of that publication, YYYY-MM-DD'),
  kind: z.enum(CHANGE_KINDS),
  cause: z
    .enum(CHANGE_CAUSES)
    .describe(
      'data: the dataset says something else. rollback: an operator made another publication live. rejected_row: ' +
        'the row could not be read, or can be read again. release: the row is the same, and this version of the ' +
        'service reads it differently.',
    ),
  board: z.string(),
  license_number: z.string(),
  full_name: z.string(),
  fields: z
    .record(z.string(), fieldChange)
    .describe(
      'The fields that differ, before and after; attributes of extra_data as extra_data.NAME. erased: the values of ' +
        'a place that the State no longer publishes are not kept.',
    ),
});

/** A change as responses have it. */
function changeResponse(change: StoredChange): z.output<typeof changeBody> {
  const { at, publication, date, kind, cause, board, license_number, full_name, fields } = change;
  return { at, publication, date, kind, cause, board, license_number, full_name, fields };
}

/** A change in the history of a license. */
export const historyChangeBody = changeBody.extend({
  withdrawn: z
    .literal(true)
    .optional()
    .describe(
      'The dataset that said so was withdrawn by this service: an operator went back to another one. Not part of the ' +
        'license’s history, unless a change without this mark says the same',
    ),
});

/** A change in the history of a license, as responses have it. */
export function historyChangeResponse(change: HistoryChange): z.output<typeof historyChangeBody> {
  return { ...changeResponse(change), ...(change.withdrawn === true && { withdrawn: true }) };
}

/** A renewal, as the examples of responses have it. */
export const CHANGE_EXAMPLE: StoredChange = {
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

/** A query has only text. */
function wholeNumber(text: unknown): unknown {
  return typeof text === 'string' && /^\d{1,4}$/.test(text) ? Number(text) : text;
}

const changesQuery = z.object({
  since: z
    .string()
    .max(MAX_CURSOR_LENGTH, UNKNOWN_CURSOR)
    .optional()
    .describe(
      'A cursor from an earlier response; "latest" for the cursor of now; nothing for the oldest change kept',
    ),
  board: boardName.transform(boardNamed).optional(),
  kind: z.enum(CHANGE_KINDS, `kind must be one of ${CHANGE_KINDS.join(', ')}.`).optional(),
  cause: z.enum(CHANGE_CAUSES, `cause must be one of ${CHANGE_CAUSES.join(', ')}.`).optional(),
  limit: z.preprocess(
    wholeNumber,
    z.int(LIMIT_ERROR).min(1, LIMIT_ERROR).max(MAX_CHANGES, LIMIT_ERROR).default(DEFAULT_CHANGES),
  ),
});

const changesResponse = z.object({
  changes: z.array(
    changeBody.extend({ cursor: z.string().describe('The place of this change in the feed') }),
  ),
  next: z.string().describe('The cursor to send as since in the next request'),
  more: z.boolean().describe('Whether there are more changes already'),
});

const EXAMPLE_PAGE: FeedPage = {
  changes: [CHANGE_EXAMPLE],
  next: cursorText(CHANGE_EXAMPLE),
  more: false,
};

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
        'since the next time: no change is lost or repeated. A cursor is a place, not a time; filters do not change it.',
      requestParams: { query: changesQuery },
      responses: {
        '200': responseEntry('The changes', changesResponse.meta({ id: 'Changes' }), {
          renewed: { summary: 'A renewal', value: changesAnswer(EXAMPLE_PAGE) },
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
      const { since = '', limit, ...filters } = queryOf(ctx, changesQuery);
      ctx.body = changesAnswer(await changes.page({ since, limit, filters }));
    },
  };
}

function changesAnswer({ changes, next, more }: FeedPage): z.output<typeof changesResponse> {
  return {
    changes: changes.map((change) => ({ cursor: cursorText(change), ...changeResponse(change) })),
    next,
    more,
  };
}
