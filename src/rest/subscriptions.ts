import createError from 'http-errors';
import { z } from 'zod';
import { REQUEST_WORDS } from '../answers/words.ts';
import { bodyTooLarge, jsonBody, LOOKUP_LIMIT, listLimit } from '../http/body.ts';
import { ClientError } from '../http/errors.ts';
import { type RosterCost, spendForItems, tooManyItems } from '../http/limits.ts';
import { type Context, clientGone, type Route } from '../http/route.ts';
import { BadRequestError, checked } from '../licenses/bad-request.ts';
import { type Board, boardByLabel } from '../licenses/boards.ts';
import { type LookupOutcome, lookupFields, type NumberRequest, readLookup } from '../licenses/lookup.ts';
import type { Lookups } from '../lookup/service.ts';
import { MAX_ITEMS, type RosterItem, type RosterResult, readItems, reference } from '../rosters/roster.ts';
import type { Rosters } from '../rosters/service.ts';
import { type Subscriptions, TooManySubscriptionsError } from '../subscriptions/service.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import {
  absentIfBlank,
  accountOf,
  board,
  boardName,
  COMMON_ERRORS,
  errorEntry,
  queryOf,
  REST_PATH,
  responseEntry,
  unknownBoard,
  wholeNumber,
} from './operation.ts';
import {
  BATCH_EXAMPLE,
  batchAnswer,
  batchAnswerBody,
  batchAnswerExample,
  CREATED_EXAMPLE,
  createdAnswer,
  createdBody,
  DUPLICATE_EXAMPLE,
  duplicateAnswer,
  duplicateBody,
  LIST_EXAMPLE,
  limitBody,
  listAnswerBody,
  listed,
  listHead,
  type NowWatched,
  REQUEST_EXAMPLE,
} from './subscription-response.ts';
import { NUMBER_NOT_FOUND_EXAMPLES, numberNotFoundBody, verifyResponse } from './verify-response.ts';

const PATH = `${REST_PATH}/subscriptions`;
const TAGS = ['Subscriptions'];

const NUMBER_NEEDED = 'license_number is needed: the number of the license to watch.';
const WORDS = { ...REQUEST_WORDS.rest, noName: NUMBER_NEEDED };

/** Only these fields say which license is meant. */
const numberFields = z.object(
  { board: z.unknown().optional(), license_number: z.unknown().optional() },
  WORDS.notAnObject,
);

/** @throws {BadRequestError} as a lookup by number */
function numberRequest(fields: unknown, defaultBoard?: Board): NumberRequest {
  const request = readLookup(checked(numberFields, fields), WORDS, defaultBoard);
  if (request.by !== 'number') throw new BadRequestError(NUMBER_NEEDED);
  return request;
}

/** Whether the dataset has no license of the number at the board: one that was there may still be watched. */
function goneNumber(outcome: LookupOutcome | undefined): NumberRequest | undefined {
  if (outcome?.outcome !== 'none' || outcome.request.by !== 'number') return undefined;
  return ['ambiguous', 'not_a_business'].includes(outcome.reason) ? undefined : outcome.request;
}

/** Answers 403 where the account would watch more licenses than it may. */
async function withinLimit(ctx: Context, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof TooManySubscriptionsError)) throw error;
    ctx.status = 403;
    ctx.body = { detail: error.message, reason: 'limit' } satisfies z.output<typeof limitBody>;
  }
}

const limitEntry = responseEntry(
  'The account would watch more than 100,000 licenses (reason: limit), or the request came by plain http',
  limitBody,
  { example: { detail: new TooManySubscriptionsError(0).message, reason: 'limit' } },
);

const NOT_JSON = errorEntry('A body that is not JSON, or has another Content-Encoding', createError(415));

const documentedItem = lookupFields
  .pick({ board: true, license_number: true })
  .extend({ reference: reference.describe('Your own name for the license, which changes and lists repeat') })
  .meta({ id: 'SubscriptionItem' });

const documentedRequest = documentedItem.extend({ board: boardName }).meta({
  id: 'SubscriptionRequest',
  override: ({ jsonSchema }) => {
    jsonSchema.required = ['board', 'license_number'];
    jsonSchema.allOf = [{ properties: { license_number: { type: 'string', pattern: '\\S' } } }];
  },
});

const referred = z.object({ reference }, WORDS.notAnObject);

/** POST /subscriptions: the account watches one license. */
function createRoute(lookups: Lookups, subscriptions: Subscriptions): Route {
  return {
    method: 'POST',
    path: PATH,
    operation: {
      operationId: 'subscribe',
      tags: TAGS,
      summary: 'Watch a license',
      description:
        'The license is looked up by its number as /lookup/verify does. GET /changes?watched=true then has its ' +
        'changes. Subscriptions belong to your account: all of its keys see the same. A license that is removed from ' +
        'the dataset stays watched.',
      requestBody: {
        required: true,
        content: { 'application/json': { schema: documentedRequest, example: REQUEST_EXAMPLE } },
      },
      responses: {
        '201': responseEntry('The license is watched', createdBody, { example: CREATED_EXAMPLE }),
        '400': errorEntry('A board that is not one of the 24, or no number', unknownBoard('Nursing')),
        ...COMMON_ERRORS,
        '403': limitEntry,
        '404': responseEntry('No license for the number at the board', numberNotFoundBody, {
          examples: NUMBER_NOT_FOUND_EXAMPLES,
        }),
        '409': responseEntry('The account watches the license already', duplicateBody, {
          example: DUPLICATE_EXAMPLE,
        }),
        '413': errorEntry('A body of more than 16 KB', bodyTooLarge(LOOKUP_LIMIT)),
        '415': NOT_JSON,
      },
    },
    handle: (ctx) =>
      withinLimit(ctx, async () => {
        const account = accountOf(ctx);
        const body = await jsonBody(ctx);
        const { reference } = checked(referred, body);
        const request = numberRequest(body);
        const { outcome, ...origin } = await lookups.lookUp(request, ctx.state.keyCheckedMs);
        ctx.state.outcome = outcome.outcome;
        if (outcome.outcome === 'found') {
          const { record } = outcome;
          const [result] = await subscriptions.watch(account, [{ record, reference }]);
          ctx.status = result?.created === undefined ? 409 : 201;
          ctx.body =
            result?.created === undefined
              ? duplicateAnswer(result?.id ?? '')
              : createdAnswer(result.created, record, origin);
          return;
        }
        const gone = goneNumber(outcome);
        const [watched] = gone === undefined ? [] : await subscriptions.meantBy(account, [gone]);
        const missed = verifyResponse(outcome, origin);
        ctx.status = watched === undefined ? missed.status : 409;
        ctx.body = watched === undefined ? missed.body : duplicateAnswer(watched.id);
      }),
  };
}

const BATCH_LIMIT = listLimit('a batch of subscriptions takes at most 1 MB');
const ITEMS_ERROR = `items must be an array of 1 to ${MAX_ITEMS} licenses.`;

const batchRequest = z.object(
  {
    board: z
      .preprocess(absentIfBlank, board.nullish())
      .meta({ description: 'The board of every item that names none' }),
    // The items are counted before anything looks at each.
    items: z.custom<readonly unknown[]>(
      (value) => Array.isArray(value) && value.length >= 1 && value.length <= MAX_ITEMS,
      ITEMS_ERROR,
    ),
  },
  WORDS.notAnObject,
);

const documentedBatch = batchRequest
  .extend({ items: z.array(documentedItem).min(1).max(MAX_ITEMS) })
  .meta({ id: 'SubscriptionBatchRequest' });

/** POST /subscriptions/batch: the account watches many licenses. */
function batchRoute(rosters: Rosters, subscriptions: Subscriptions, cost: RosterCost): Route {
  /** What became of the licenses that were found or are watched, by the index of the item. */
  async function watchAll(account: string, results: readonly RosterResult[]) {
    const found = results.flatMap(({ index, reference, view }) =>
      view.outcome === 'found' ? [{ index, reference, record: view.record }] : [],
    );
    const gone = results.flatMap(({ index, view }) => {
      const request = view.outcome === 'not_found' ? goneNumber(view.miss) : undefined;
      return request === undefined ? [] : [{ index, request }];
    });
    const meant = await subscriptions.meantBy(
      account,
      gone.map(({ request }) => request),
    );
    const watched = await subscriptions.watch(account, found);
    const all = new Map<number, NowWatched>();
    for (const [at, { index }] of gone.entries()) {
      const record = meant[at];
      if (record !== undefined) all.set(index, { id: record.id, record });
    }
    for (const [at, { index, record }] of found.entries()) {
      const result = watched[at];
      if (result !== undefined) all.set(index, { ...result, record });
    }
    return all;
  }

  return {
    method: 'POST',
    path: `${PATH}/batch`,
    operation: {
      operationId: 'subscribeAll',
      tags: TAGS,
      summary: 'Watch many licenses',
      description:
        `Up to ${MAX_ITEMS.toLocaleString('en-US')} licenses, each looked up as in POST /subscriptions, all of them ` +
        `in one day’s dataset. ${cost.itemsPerRequest} items count as one request. Where the account would watch ` +
        'more licenses than it may, none is added.',
      requestBody: {
        required: true,
        content: { 'application/json': { schema: documentedBatch, example: BATCH_EXAMPLE } },
      },
      responses: {
        '200': responseEntry('What became of each item', batchAnswerBody, {
          example: batchAnswerExample(NUMBER_NEEDED),
        }),
        '400': errorEntry('A batch without items, or with too many', new BadRequestError(ITEMS_ERROR)),
        ...COMMON_ERRORS,
        '403': limitEntry,
        '413': errorEntry(
          'A body of more than 1 MB, or more items than a minute’s limit',
          bodyTooLarge(BATCH_LIMIT),
        ),
        '415': NOT_JSON,
      },
    },
    handle: (ctx) =>
      withinLimit(ctx, async () => {
        const sent = checked(batchRequest, await jsonBody(ctx, BATCH_LIMIT));
        await spendForItems(ctx, sent.items.length, cost);
        const items = await readItems(sent.items, {
          fieldsOf: (item) => item,
          requestOf: (fields) => numberRequest(fields, sent.board ?? undefined),
        });
        const { origin, shaped } = await rosters.answer(
          { items, maxMatches: 1 },
          (part) => part,
          clientGone(ctx),
        );
        const results = shaped.flat();
        ctx.body = batchAnswer(results, await watchAll(accountOf(ctx), results), origin);
      }),
  };
}

export const MAX_PAGE = 1000;
export const DEFAULT_PAGE = 100;
export const MAX_DAYS = 3650;

const LIMIT_ERROR = `limit must be a whole number from 1 to ${MAX_PAGE}.`;
const AFTER_ERROR = 'after must be the next of an earlier response.';
const DAYS_ERROR = `expires_within_days must be a whole number from 0 to ${MAX_DAYS}.`;

const listQuery = z.object({
  limit: z
    .preprocess(
      wholeNumber,
      z.int(LIMIT_ERROR).min(1, LIMIT_ERROR).max(MAX_PAGE, LIMIT_ERROR).default(DEFAULT_PAGE),
    )
    .describe('How many subscriptions are looked through'),
  after: z
    .string()
    .regex(/^(sub_[0-9a-f]{24})?$/, AFTER_ERROR)
    .default('')
    .describe('The next of an earlier response; nothing for the first page'),
  expires_within_days: z
    .preprocess(wholeNumber, z.int(DAYS_ERROR).min(0, DAYS_ERROR).max(MAX_DAYS, DAYS_ERROR).optional())
    .describe(
      'Only licenses whose expiry date is today in Ohio or up to so many days later, whatever their status. One whose ' +
        'date has passed is not among them: its days_until_expiry is below 0',
    ),
});

/** A subscription as an item of a roster, which looks up its license. */
function itemOf({ board: label, license_number: number, reference }: Subscription): RosterItem {
  const board = boardByLabel(label);
  if (board === undefined) return { reference, request: { outcome: 'invalid', detail: 'No such board.' } };
  return { reference, request: { by: 'number', number, board, businessOnly: false } };
}

/** GET /subscriptions: what the account watches, with the licenses as they are now. */
function listRoute(rosters: Rosters, subscriptions: Subscriptions, cost: RosterCost): Route {
  return {
    method: 'GET',
    path: PATH,
    operation: {
      operationId: 'subscriptions',
      tags: TAGS,
      summary: 'What your account watches',
      description:
        'Each license as it is now, all of a page from one day’s dataset. Send next as after until it is null. With ' +
        'expires_within_days, a page may have fewer subscriptions than limit, even none, while next is not null. ' +
        `${cost.itemsPerRequest} subscriptions that are looked through count as one request.`,
      requestParams: { query: listQuery },
      responses: {
        '200': responseEntry('The subscriptions', listAnswerBody, { example: LIST_EXAMPLE }),
        '400': errorEntry('A bad limit, after or number of days', new BadRequestError(AFTER_ERROR)),
        ...COMMON_ERRORS,
        '413': errorEntry(
          'A limit above a minute’s limit of this address',
          tooManyItems(1000, 60, cost.itemsPerRequest),
        ),
      },
    },
    handle: async (ctx) => {
      const { limit, after, expires_within_days: days } = queryOf(ctx, listQuery);
      const page = await subscriptions.page(accountOf(ctx), after, limit);
      await spendForItems(ctx, page.subscriptions.length, cost);
      const items = page.subscriptions.map(itemOf);
      const roster = { items, maxMatches: 1, withoutSuggestions: true };
      const { origin, shaped } = await rosters.answer(
        roster,
        (results) =>
          results.flatMap(({ index, view }) => {
            const subscription = page.subscriptions[index];
            if (subscription === undefined) return [];
            const entry = listed(subscription, { view });
            const left = entry.record?.days_until_expiry ?? Number.NEGATIVE_INFINITY;
            const isAsked = days === undefined || (left >= 0 && left <= days);
            return isAsked ? [JSON.stringify(entry)] : [];
          }),
        clientGone(ctx),
      );
      const head = JSON.stringify(listHead(origin, page.next)).slice(0, -1);
      const body = Buffer.from(`${head},"subscriptions":[${shaped.flat().join(',')}]}`);
      ctx.type = 'json';
      ctx.body = body;
    },
  };
}

const UNKNOWN = 'Your account has no subscription with this id.';

/** DELETE /subscriptions/{id}: the account watches a license no more. */
function deleteRoute(subscriptions: Subscriptions): Route {
  return {
    method: 'DELETE',
    path: `${PATH}/:id`,
    operation: {
      operationId: 'unsubscribe',
      tags: TAGS,
      summary: 'Watch a license no more',
      requestParams: { path: z.object({ id: z.string() }) },
      responses: {
        '204': { description: 'It is deleted' },
        ...COMMON_ERRORS,
        '404': errorEntry('Not a subscription of the account', new ClientError(404, UNKNOWN)),
      },
    },
    handle: async (ctx) => {
      const { id = '' } = ctx.params;
      if (!(await subscriptions.remove(accountOf(ctx), id))) throw new ClientError(404, UNKNOWN);
      ctx.status = 204;
    },
  };
}

/** What an account watches. */
export function subscriptionRoutes(
  lookups: Lookups,
  rosters: Rosters,
  subscriptions: Subscriptions,
  cost: RosterCost,
): Route[] {
  return [
    createRoute(lookups, subscriptions),
    batchRoute(rosters, subscriptions, cost),
    listRoute(rosters, subscriptions, cost),
    deleteRoute(subscriptions),
  ];
}
