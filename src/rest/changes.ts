import { z } from 'zod';
import { CHANGE_CAUSES, CHANGE_KINDS } from '../changes/change.ts';
import {
  type Changes,
  CursorExpiredError,
  EXPIRED_CURSOR,
  type FeedPage,
  type FeedRequest,
  type Since,
  UNKNOWN_CURSOR,
} from '../changes/service.ts';
import type { Route } from '../http/route.ts';
import { BadRequestError } from '../licenses/bad-request.ts';
import { REST_PATH } from './base-path.ts';
import { boardName, boardNamed } from './board-name.ts';
import { CHANGES_EXAMPLE } from './change-examples.ts';
import { changeBody, changeResponse } from './change-response.ts';
import { COMMON_ERRORS, errorEntry, responseEntry } from './openapi-responses.ts';
import { queryOf } from './query.ts';

/** The most changes in a response, and how many there are without `limit`. */
export const MAX_CHANGES = 1000;
export const DEFAULT_CHANGES = 100;

const MAX_CURSOR_LENGTH = 100;

const changesQuery = z.object({
  since: z
    .string()
    .max(MAX_CURSOR_LENGTH, UNKNOWN_CURSOR)
    .optional()
    .describe(
      'A cursor from an earlier response; "latest" for the cursor of now; nothing for the oldest change kept',
    ),
  board: z.string().transform(boardNamed).optional(),
  kind: z.enum(CHANGE_KINDS, `kind must be one of ${CHANGE_KINDS.join(', ')}.`).optional(),
  cause: z.enum(CHANGE_CAUSES, `cause must be one of ${CHANGE_CAUSES.join(', ')}.`).optional(),
  limit: z
    .string()
    .regex(/^\d{1,4}$/, LIMIT_ERROR())
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= MAX_CHANGES, LIMIT_ERROR())
    .optional(),
});

function LIMIT_ERROR(): string {
  return `limit must be a whole number from 1 to ${MAX_CHANGES}.`;
}

const changesResponse = z.object({
  changes: z.array(
    changeBody.extend({ cursor: z.string().describe('The place of this change in the feed') }),
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
        'since the next time: no change is lost or repeated. A cursor is a place, not a time; filters do not change it.',
      requestParams: {
        query: z.object({
          since: changesQuery.shape.since,
          board: boardName.optional(),
          kind: z.enum(CHANGE_KINDS).optional(),
          cause: z.enum(CHANGE_CAUSES).optional(),
          limit: z.int().min(1).max(MAX_CHANGES).default(DEFAULT_CHANGES),
        }),
      },
      responses: {
        '200': responseEntry('The changes', changesResponse.meta({ id: 'Changes' }), {
          renewed: { summary: 'A renewal', value: changesAnswer(CHANGES_EXAMPLE) },
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
      ctx.body = changesAnswer(await changes.page(feedRequest(queryOf(ctx, changesQuery))));
    },
  };
}

function feedRequest({ since, board, kind, cause, limit }: z.output<typeof changesQuery>): FeedRequest {
  return {
    since: sinceOf(since),
    limit: limit ?? DEFAULT_CHANGES,
    filters: { board, kind, cause },
  };
}

function sinceOf(since: string | undefined): Since {
  if (since === undefined || since === '') return 'oldest';
  return since === 'latest' ? 'latest' : { cursor: since };
}

function changesAnswer({ changes, next, more }: FeedPage): z.output<typeof changesResponse> {
  return {
    changes: changes.map(({ cursor, change }) => ({ cursor, ...changeResponse(change) })),
    next,
    more,
  };
}
