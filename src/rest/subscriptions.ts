import { z } from 'zod';
import { type Origin, originBody, originFields } from '../answers/origin.ts';
import { toResponseRecord } from '../answers/view.ts';
import { REQUEST_WORDS } from '../answers/words.ts';
import { historyGap } from '../changes/feed.ts';
import { SERVICE_VERSION } from '../config.ts';
import { type Context, clientGone } from '../http/app.ts';
import { listLimit } from '../http/body.ts';
import { ClientError } from '../http/errors.ts';
import { accountOf, endpoint, type Route, spendForItems } from '../http/guard.ts';
import { BadRequestError, checked } from '../licenses/bad-request.ts';
import { type Board, boardByLabel } from '../licenses/boards.ts';
import { type LicenseRecord, licenseId } from '../licenses/license.ts';
import { type LookupOutcome, lookupFields, type NumberRequest, readLookup } from '../licenses/lookup.ts';
import type { Lookups } from '../lookup/service.ts';
import { sourceHashes } from '../records/saved-records.ts';
import { MAX_ITEMS, type RosterItem, type RosterResult, readItems, reference } from '../rosters/roster.ts';
import { JOSE } from '../signing/keys.ts';
import { TooManySubscriptionsError, type WatchResult } from '../subscriptions/service.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import { changeResponse, historyChangeBody } from './changes.ts';
import { absentIfBlank, board, boardName, feedCursor, fromText, REST_PATH, whole } from './fields.ts';
import { invalidResult, itemsOfList, notFoundResult, resultBase, resultBody } from './lists.ts';
import { licenseBody, numberNotFoundBody, verifyResponse } from './lookup.ts';
import type { RestServices } from './services.ts';
import { NOTHING_SIGNED, signedForm, wantsSigned } from './signing.ts';

const PATH = `${REST_PATH}/subscriptions`;
const TAG = 'Subscriptions';

const subscriptionId = z.string().describe('The id of the subscription');

const subscriptionBody = z.object({
  subscription_id: subscriptionId,
  board: z.string(),
  license_number: z.string().describe('As the board writes it, or wrote it last'),
  reference: z.string().nullable(),
  created_at: z.string().describe('ISO 8601'),
});

const createdBody = subscriptionBody.extend({ record: licenseBody }).meta({ id: 'Subscription' });

const duplicateBody = z
  .object({ detail: z.string(), subscription_id: subscriptionId })
  .meta({ id: 'DuplicateSubscription' });

const limitBody = z
  .object({ detail: z.string(), reason: z.literal('limit').optional() })
  .meta({ id: 'SubscriptionLimit' });

function bodyOf({
  id,
  board,
  license_number,
  reference,
  created_at,
}: Subscription): z.output<typeof subscriptionBody> {
  return { subscription_id: id, board, license_number, reference, created_at };
}

function duplicateAnswer(id = ''): z.output<typeof duplicateBody> {
  return { detail: 'Your account watches this license already.', subscription_id: id };
}

const watchedBody = z
  .object({
    ...resultBase,
    outcome: z
      .enum(['created', 'exists'])
      .describe('exists: your account watches the license already, or an earlier item names it'),
    subscription_id: subscriptionId,
    board: z.string(),
    license_number: z.string().describe('As the board writes it'),
  })
  .meta({ id: 'WatchedItem' });

const batchResult = z.discriminatedUnion('outcome', [watchedBody, notFoundResult, invalidResult]);

const batchAnswerBody = z
  .object({
    count: z.int().min(1).max(MAX_ITEMS),
    summary: z.object({ created: z.int(), exists: z.int(), not_found: z.int(), invalid: z.int() }),
    ...originFields,
    results: z.array(batchResult).describe('In the order of the items'),
  })
  .meta({ id: 'SubscriptionBatchAnswer' });

/** A license that is watched now, and whether it was before. */
interface NowWatched extends WatchResult {
  readonly record: Pick<LicenseRecord, 'board' | 'license_number'>;
}

/** @param watched by the index of the item */
function batchAnswer(
  results: readonly RosterResult[],
  watched: ReadonlyMap<number, NowWatched>,
  origin: Origin,
) {
  const summary = { created: 0, exists: 0, not_found: 0, invalid: 0 };
  const bodies = results.map((result) => {
    const { index, reference } = result;
    const now = watched.get(index);
    const body = now === undefined ? resultBody(result) : { index, reference, ...watchedResult(now) };
    if (body.outcome === 'found' || body.outcome === 'ambiguous')
      throw new Error('A license that was found is not watched.');
    summary[body.outcome] += 1;
    return body;
  });
  return { count: bodies.length, summary, ...originBody(origin), results: bodies };
}

function watchedResult({ id, created, record: { board, license_number } }: NowWatched) {
  const outcome = created === undefined ? ('exists' as const) : ('created' as const);
  return { outcome, subscription_id: id, board, license_number };
}

const listedBody = subscriptionBody
  .extend({
    in_dataset: z.boolean().describe('Whether the dataset has the license'),
    record: licenseBody.nullable().describe('The license as it is now; null when it is not in the dataset'),
  })
  .meta({ id: 'ListedSubscription' });

const listAnswerBody = z
  .object({
    ...originFields,
    feed_cursor: feedCursor,
    next: z.string().nullable().describe('What to send as after in the next request; null at the end'),
    subscriptions: z.array(listedBody),
  })
  .meta({ id: 'SubscriptionPage' });

/** A subscription as lists have it. @param result of the lookup of its number */
function listed(
  subscription: Subscription,
  { view }: Pick<RosterResult, 'view'>,
): z.output<typeof listedBody> {
  // Not another license whose number is written like it.
  const isIt = ({ board, license_number: number }: LicenseRecord) =>
    licenseId(board, number) === subscription.license;
  const record = view.outcome === 'found' && isIt(view.record) ? view.record : null;
  return { ...bodyOf(subscription), in_dataset: record !== null, record };
}

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

/**
 * Looks licenses up and watches them again where another publication went live meanwhile: its changes of a license that
 * was not watched yet would be told to nobody.
 */
async function whileLive<Answer extends { readonly publication: string }>(
  lookups: Lookups,
  watch: () => Promise<Answer>,
): Promise<Answer> {
  let answer = await watch();
  while (!(await lookups.isLive(answer.publication))) answer = await watch();
  return answer;
}

/** Answers 403 where the account would watch more licenses than it may. */
async function withinLimit(ctx: Context, work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TooManySubscriptionsError)) throw error;
    ctx.status = 403;
    return { detail: error.message, reason: 'limit' } satisfies z.output<typeof limitBody>;
  }
}

const LIMIT = {
  403: {
    when: 'The account would watch more than 100,000 licenses (reason: limit), or the request came by plain http',
    body: limitBody,
  },
};

const subscriptionItem = lookupFields
  .pick({ board: true, license_number: true })
  .extend({ reference: reference.describe('Your own name for the license, which changes and lists repeat') })
  .meta({ id: 'SubscriptionItem' });

const subscriptionRequest = z
  .object({ ...subscriptionItem.shape, board: boardName, license_number: z.string() })
  .meta({ id: 'SubscriptionRequest' });

const referred = z.object({ reference }, WORDS.notAnObject);

const batchRequest = z.object(
  {
    board: z
      .preprocess(absentIfBlank, board.nullish())
      .meta({ description: 'The board of every item that names none' }),
    items: itemsOfList('licenses'),
  },
  WORDS.notAnObject,
);

export const MAX_PAGE = 1000;
export const DEFAULT_PAGE = 100;
export const MAX_DAYS = 3650;

const listQuery = z.object({
  limit: fromText(whole('limit', 1, MAX_PAGE).default(DEFAULT_PAGE)).describe(
    'How many subscriptions are looked through',
  ),
  after: z
    .string()
    .regex(/^(sub_[0-9a-f]{24})?$/, 'after must be the next of an earlier response.')
    .default('')
    .describe('The next of an earlier response; nothing for the first page'),
  expires_within_days: fromText(whole('expires_within_days', 0, MAX_DAYS).optional()).describe(
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

const day = z.string();
const proofBody = z
  .object({
    ...{ type: z.literal('watch_proof'), service_version: z.string(), at: z.string(), today: day },
    ...{ by: z.string().describe('The account'), ...subscriptionBody.shape },
    ...{ publication: z.string(), date: day, sample: z.boolean(), files: sourceHashes.optional() },
    coverage_start: day.describe('The dataset of the beginning; each day after it is compared or missed'),
    compared: z.array(day).describe('Days whose dataset was compared with the one before'),
    missed: z.array(day).describe('The next comparison finds what changed on these days'),
    withdrawn: z.array(day).describe('Missed days whose dataset this service compared, and withdrew'),
    gaps: z.array(historyGap).describe('Changes between these datasets are not known'),
    record: licenseBody.nullable().describe('The license as it is now; null when it is not in the dataset'),
    changes: z.array(historyChangeBody).describe('Since it is watched, the newest first'),
  })
  .meta({ id: 'WatchProof' });

const NOT_SUBSCRIBED = 'Your account has no subscription with this id.';

/** What an account watches. */
export function subscriptionRoutes(services: RestServices): Route[] {
  const { lookups, rosters, subscriptions, proofOf, signing, firstAnswers, cost } = services;

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

  return [
    endpoint({
      method: 'POST',
      path: PATH,
      id: 'subscribe',
      tag: TAG,
      summary: 'Watch a license',
      description:
        'The license is looked up by its number as /lookup/verify does. GET /changes?watched=true then has its ' +
        'changes. Subscriptions belong to your account: all of its keys see the same. A license that is removed from ' +
        'the dataset stays watched.',
      input: {
        body: z.unknown().transform((sent) => ({ ...checked(referred, sent), request: numberRequest(sent) })),
      },
      shownBody: subscriptionRequest,
      responses: {
        201: { when: 'The license is watched', body: createdBody },
        ...LIMIT,
        404: { when: 'No license for the number at the board', body: numberNotFoundBody },
        409: { when: 'The account watches the license already', body: duplicateBody },
      },
      handle: (ctx, { body: { reference, request } }) =>
        withinLimit(ctx, async () => {
          const account = accountOf(ctx);
          let created: Subscription | undefined;
          const { outcome, id, ...origin } = await whileLive(lookups, async () => {
            const found = await lookups.lookUp(request, ctx.state.keyCheckedMs);
            if (found.outcome.outcome !== 'found') return { ...found, id: undefined };
            const { record } = found.outcome;
            const [result] = await subscriptions.watch(account, [{ record, reference }]);
            // The State may write the number in another way since: one subscription stays.
            if (created !== undefined && result !== undefined && result.id !== created.id) {
              await subscriptions.remove(account, created.id);
              created = undefined;
            }
            created ??= result?.created;
            return { ...found, id: result?.id };
          });
          ctx.state.outcome = outcome.outcome;
          if (outcome.outcome === 'found') {
            ctx.status = created === undefined ? 409 : 201;
            if (created === undefined) return duplicateAnswer(id);
            return {
              ...bodyOf(created),
              record: toResponseRecord(outcome.record, origin),
            } satisfies z.output<typeof createdBody>;
          }
          // A publication that went live meanwhile removed it.
          if (created !== undefined) await subscriptions.remove(account, created.id);
          const gone = goneNumber(outcome);
          const [watched] = gone === undefined ? [] : await subscriptions.meantBy(account, [gone]);
          const missed = verifyResponse(outcome, origin);
          ctx.status = watched === undefined ? missed.status : 409;
          return watched === undefined ? missed.body : duplicateAnswer(watched.id);
        }),
    }),
    endpoint({
      method: 'POST',
      path: `${PATH}/batch`,
      id: 'subscribeAll',
      tag: TAG,
      summary: 'Watch many licenses',
      description:
        `Up to ${MAX_ITEMS.toLocaleString('en-US')} licenses, each looked up as in POST /subscriptions, all of them ` +
        `in one day’s dataset. ${cost.itemsPerRequest} items count as one request. Where the account would watch ` +
        'more licenses than it may, none is added.',
      firstAnswers,
      input: { body: batchRequest },
      shownBody: batchRequest
        .extend({ items: z.array(subscriptionItem).min(1).max(MAX_ITEMS) })
        .meta({ id: 'SubscriptionBatchRequest' }),
      limit: listLimit('a batch of subscriptions takes at most 1 MB'),
      responses: { 200: { when: 'What became of each item', body: batchAnswerBody }, ...LIMIT },
      handle: (ctx, { body: sent }) =>
        withinLimit(ctx, async () => {
          await spendForItems(ctx, sent.items.length, cost);
          const items = await readItems(sent.items, {
            fieldsOf: (item) => item,
            requestOf: (fields) => numberRequest(fields, sent.board ?? undefined),
          });
          const account = accountOf(ctx);
          const watched = new Map<number, NowWatched>();
          const { origin, shaped } = await whileLive(lookups, async () => {
            const roster = { items, maxMatches: 1 };
            const answer = await rosters.answer(roster, (part) => part, clientGone(ctx));
            for (const [at, now] of await watchAll(account, answer.shaped.flat())) {
              const before = watched.get(at);
              if (before?.created !== undefined && before.id === now.id) continue;
              if (before?.created !== undefined) await subscriptions.remove(account, before.id);
              watched.set(at, now);
            }
            return { ...answer, publication: answer.origin.publication };
          });
          return batchAnswer(shaped.flat(), watched, origin);
        }),
    }),
    endpoint({
      method: 'GET',
      path: PATH,
      id: 'subscriptions',
      tag: TAG,
      summary: 'What your account watches',
      description:
        'Each license as it is now, all of a page from one day’s dataset. Send next as after until it is null. With ' +
        'expires_within_days, a page may have fewer subscriptions than limit, even none, while next is not null. ' +
        `${cost.itemsPerRequest} subscriptions that are looked through count as one request.`,
      input: { query: listQuery },
      responses: {
        200: { when: 'The subscriptions', body: listAnswerBody },
        413: { when: 'A limit above a minute’s limit of this address' },
      },
      handle: async (ctx, { query: { limit, after, expires_within_days: days } }) => {
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
        const head = JSON.stringify({
          ...originBody(origin),
          feed_cursor: origin.feedCursor ?? null,
          next: page.next ?? null,
        }).slice(0, -1);
        ctx.type = 'json';
        return Buffer.from(`${head},"subscriptions":[${shaped.flat().join(',')}]}`);
      },
    }),
    endpoint({
      method: 'GET',
      path: `${PATH}/:id/proof`,
      id: 'watchProof',
      tag: TAG,
      summary: 'Prove that a license is watched',
      description: `On which days it was compared, and what changed; with Accept: ${JOSE}, signed.`,
      input: { params: z.object({ id: z.string() }) },
      responses: {
        200: { when: 'The proof', body: proofBody, alternatives: signedForm },
        404: { when: NOT_SUBSCRIBED },
        ...NOTHING_SIGNED,
      },
      handle: async (ctx, { params: { id } }) => {
        const { account: by = '' } = ctx.state;
        const watched = await subscriptions.find(accountOf(ctx), id);
        const proof = watched && (await proofOf(watched));
        if (!watched || !proof) throw new ClientError(404, NOT_SUBSCRIBED);
        const statement: z.output<typeof proofBody> = {
          ...{ type: 'watch_proof', service_version: SERVICE_VERSION, at: new Date().toISOString(), by },
          ...{ ...bodyOf(watched), ...proof, changes: proof.changes.map(changeResponse) },
        };
        if (!wantsSigned(ctx, signing)) return statement;
        ctx.type = JOSE;
        return signing.sign(statement);
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${PATH}/:id`,
      id: 'unsubscribe',
      tag: TAG,
      summary: 'Watch a license no more',
      input: { params: z.object({ id: z.string() }) },
      responses: {
        204: { when: 'It is deleted' },
        404: { when: NOT_SUBSCRIBED },
      },
      handle: async (ctx, { params: { id } }) => {
        if (await subscriptions.remove(accountOf(ctx), id)) return null;
        throw new ClientError(404, NOT_SUBSCRIBED);
      },
    }),
  ];
}
