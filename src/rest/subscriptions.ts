import { z } from 'zod';
import { originBody, originFields } from '../answers/origin.ts';
import { REQUEST_WORDS } from '../answers/words.ts';
import { historyGap } from '../changes/feed.ts';
import { readFromOne } from '../changes/service.ts';
import { SERVICE_VERSION } from '../config.ts';
import { type Context, clientGone } from '../http/app.ts';
import { listLimit } from '../http/body.ts';
import { ClientError } from '../http/errors.ts';
import { accountOf, named, type Route, resource, spendForItems } from '../http/guard.ts';
import { type Board, boardByLabel, currentBoardName } from '../licenses/boards.ts';
import { licenseId } from '../licenses/license.ts';
import {
  BadRequestError,
  checked,
  lookupFields,
  type NumberRequest,
  readLookup,
} from '../licenses/lookup.ts';
import { sourceHashes } from '../records/saved-records.ts';
import { MAX_ITEMS, type RosterItem, type RosterResult, readItems, reference } from '../rosters/roster.ts';
import { JOSE } from '../signing/keys.ts';
import { TooManySubscriptionsError } from '../subscriptions/service.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import { historyChangeBody } from './changes.ts';
import { board, boardName, feedCursor, fromText, listBody, whole } from './fields.ts';
import { invalidResult, notFoundResult, resultBase, resultBody } from './lists.ts';
import { answerOf, licenseBody, numberNotFoundBody } from './lookup.ts';
import type { RestServices } from './services.ts';
import { NOTHING_SIGNED, signedForm, wantsSigned } from './signing.ts';

const subscription_id = z.string().describe('The id of the subscription');

const subscriptionBody = z.object({
  subscription_id,
  board: z.string(),
  license_number: z.string().describe('As the board writes it, or wrote it last'),
  reference: z.string().nullable(),
  created_at: z.string().describe('ISO 8601'),
});

const createdBody = named('Subscription', { ...subscriptionBody.shape, record: licenseBody });

const duplicateBody = named('DuplicateSubscription', { detail: z.string(), subscription_id });

const limitBody = named('SubscriptionLimit', { detail: z.string(), reason: z.literal('limit').optional() });

/** A subscription in a response. */
function bodyOf(subscription: Subscription): z.output<typeof subscriptionBody> {
  return subscriptionBody.parse({ ...subscription, subscription_id: subscription.id });
}

const watchedBody = named('WatchedItem', {
  ...resultBase,
  outcome: z
    .enum(['created', 'exists'])
    .describe('exists: your account watches the license already, or an earlier item names it'),
  subscription_id,
  board: z.string(),
  license_number: z.string().describe('As the board writes it'),
});

const batchResult = z.discriminatedUnion('outcome', [watchedBody, notFoundResult, invalidResult]);

function itemBody({ id, board, license_number }: Subscription) {
  return { subscription_id: id, board: currentBoardName(board), license_number };
}

const batchAnswerBody = named('SubscriptionBatchAnswer', {
  count: z.int().min(1).max(MAX_ITEMS),
  summary: z.object({ created: z.int(), exists: z.int(), not_found: z.int(), invalid: z.int() }),
  ...originFields,
  results: z.array(batchResult).describe('In the order of the items'),
});

const listedBody = named('ListedSubscription', {
  ...subscriptionBody.shape,
  in_dataset: z.boolean().describe('Whether the dataset has the license'),
  record: licenseBody.nullable().describe('The license as it is now; null when it is not in the dataset'),
});

const listAnswerBody = named('SubscriptionPage', {
  ...originFields,
  feed_cursor: feedCursor,
  next: z.string().nullable().describe('What to send as after in the next request; null at the end'),
  subscriptions: z.array(listedBody),
});

/** A subscription in a list. @param result the result of looking up its number */
function listed(subscription: Subscription, result: RosterResult | undefined): z.output<typeof listedBody> {
  const found = result?.view.outcome === 'found' ? result.view.record : undefined;
  // The lookup may have found another license with a similar number.
  const isIt = found && licenseId(found.board, found.license_number) === subscription.license;
  const record = isIt ? found : null;
  return { ...bodyOf(subscription), in_dataset: record !== null, record };
}

const NUMBER_NEEDED = 'license_number is needed: the number of the license to watch.';
const WORDS = { ...REQUEST_WORDS.rest, noName: NUMBER_NEEDED };

const watchRequest = z.looseObject({ reference }, WORDS.notAnObject);

/** The number of the license to watch. Ignores other lookup fields. @throws {BadRequestError} as a lookup does */
function numberRequest(fields: unknown, defaultBoard?: Board): NumberRequest {
  const { board, license_number } = checked(watchRequest, fields);
  const request = readLookup({ board, license_number }, WORDS, defaultBoard);
  if (request.by !== 'number') throw new BadRequestError(NUMBER_NEEDED);
  return request;
}

/** The request, if the board has no license with this number. The account may still watch a removed one. */
function goneNumber({ view }: RosterResult): NumberRequest | undefined {
  if (view.outcome !== 'not_found' || view.miss.request.by !== 'number') return undefined;
  return ['ambiguous', 'not_a_business'].includes(view.miss.reason) ? undefined : view.miss.request;
}

const LIMIT_WORDS =
  'The account would watch more than 100,000 licenses (reason: limit), or the request came by plain http';
const LIMIT = { 403: { when: LIMIT_WORDS, body: limitBody } };

const subscriptionItem = lookupFields
  .pick({ board: true, license_number: true })
  .extend({ reference: reference.describe('Your own name for the license, which changes and lists repeat') })
  .meta({ id: 'SubscriptionItem' });

const subscriptionRequest = named('SubscriptionRequest', {
  ...subscriptionItem.shape,
  board: boardName,
  license_number: z.string(),
});

const batchRequest = listBody(board, 'licenses', {});

export const MAX_PAGE = 1000;
export const DEFAULT_PAGE = 100;
export const MAX_DAYS = 3650;

const pageSize = whole('limit', 1, MAX_PAGE).default(DEFAULT_PAGE);
const listQuery = z.object({
  limit: fromText(pageSize).describe('How many subscriptions are looked through'),
  after: z
    .string()
    .regex(/^(sub_[0-9a-f]{24})?$/, 'after must be the next of an earlier response.')
    .default('')
    .describe('The next of an earlier response; nothing for the first page'),
  expires_within_days: fromText(whole('expires_within_days', 0, MAX_DAYS).optional()).describe(
    'Only licenses with expiry dates from today in Ohio to this many days later, whatever their status. One whose ' +
      'date has passed is not among them: its days_until_expiry is below 0',
  ),
});

const endpoint = resource('Subscriptions');

const day = z.string();
const proofBody = named('WatchProof', {
  ...{ type: z.literal('watch_proof'), service_version: z.string(), at: z.string(), today: day },
  ...{ by: z.string().describe('The account'), ...subscriptionBody.shape },
  ...{ publication: z.string(), date: day, sample: z.boolean(), files: sourceHashes.optional() },
  coverage_start: day.describe('The first dataset; each day after it is compared or missed'),
  compared: z.array(day).describe('Days whose dataset was compared with the one before'),
  missed: z.array(day).describe('The next comparison finds what changed on these days'),
  withdrawn: z.array(day).describe('Missed days whose dataset this service compared, and withdrew'),
  gaps: z.array(historyGap).describe('Changes between these datasets are not known'),
  record: licenseBody.nullable().describe('The license as it is now; null when it is not in the dataset'),
  changes: z.array(historyChangeBody).describe('Since the watch began, newest first'),
});

const NOT_SUBSCRIBED = 'Your account has no subscription with this id.';
const ofOne = z.object({ id: z.string() });

/** The endpoints for the subscriptions of an account. */
export function subscriptionRoutes(services: RestServices): Route[] {
  const { lookups, rosters, subscriptions, proofOf, signing, firstAnswers, cost } = services;

  /** Watches each license that was found. Also returns the existing subscriptions to licenses that left the dataset. */
  async function watchFound(account: string, results: readonly RosterResult[]) {
    const gone = results.map(goneNumber);
    const asked = gone.flatMap((request) => request ?? []);
    const meant = await subscriptions.meantBy(account, asked);
    const wanted = results.flatMap(({ reference, view }) =>
      view.outcome === 'found' ? [{ reference, record: view.record }] : [],
    );
    const watched = await subscriptions.watch(account, wanted);
    return results.map(({ view }, at) => {
      if (view.outcome === 'found')
        return watched.get(licenseId(view.record.board, view.record.license_number));
      const one = gone[at] && meant.get(gone[at]);
      return one && { ...one, isNew: false };
    });
  }

  /**
   * Looks up licenses and watches them. If another publication goes live meanwhile, does both again: otherwise nobody
   * would be told about changes that this publication made before the license was watched.
   *
   * @returns `watched` has the subscription to each license, if any; `created` has the ids of the new subscriptions
   * @throws {ClientError} 403 if the account would watch more licenses than it may; then nothing is written
   */
  async function watchAll(ctx: Context, items: readonly RosterItem[]) {
    const account = accountOf(ctx);
    const roster = { items, maxMatches: 1 };
    const created = new Set<string>();
    const removeCreated = async (but: readonly (Subscription | undefined)[] = []) => {
      const kept = new Set(but.map((each) => each?.id));
      for (const id of created) if (!kept.has(id)) await subscriptions.remove(account, id);
    };
    return readFromOne(async () => {
      const { origin, shaped } = await rosters.answer(roster, (part) => part, clientGone(ctx));
      const results = shaped.flat();
      const found = await watchFound(account, results).catch(async (error: unknown) => {
        if (!(error instanceof TooManySubscriptionsError)) throw error;
        await removeCreated();
        ctx.state.errorFacts = () => ({ reason: 'limit' }) satisfies Partial<z.output<typeof limitBody>>;
        throw new ClientError(403, error.message);
      });
      for (const now of found) if (now?.isNew) created.add(now.id);
      if (!(await lookups.isLive(origin.publication))) return undefined;
      // Remove subscriptions from an earlier attempt if the new publication does not have the license or its number.
      const watched = found.map((now, at) =>
        now && created.has(now.id) && results[at]?.view.outcome !== 'found' ? undefined : now,
      );
      await removeCreated(watched);
      return { origin, results, watched, created };
    });
  }

  return [
    endpoint('POST', '/subscriptions', {
      id: 'subscribe',
      summary: 'Watch a license',
      description:
        'The license is looked up by its number as /lookup/verify does. GET /changes?watched=true then has its ' +
        'changes. Subscriptions belong to your account: all of its keys see the same. A license that is removed from ' +
        'the dataset stays watched.',
      input: { body: watchRequest },
      shownBody: subscriptionRequest,
      responses: {
        201: { when: 'The license is watched', body: createdBody },
        ...LIMIT,
        404: { when: 'No license for the number at the board', body: numberNotFoundBody },
        409: { when: 'The account watches the license already', body: duplicateBody },
      },
      handle: async (ctx, { body: sent }) => {
        const item = { reference: sent.reference, request: numberRequest(sent) };
        const { results, watched, created } = await watchAll(ctx, [item]);
        const [{ view } = { view: undefined }] = results;
        const [now] = watched;
        if (view === undefined) throw new Error('A license was looked up without a result.');
        ctx.state.outcome = view.outcome === 'found' ? 'found' : 'none';
        if (now === undefined) return answerOf(ctx, view);
        if (view.outcome === 'found' && created.has(now.id)) {
          ctx.status = 201;
          return { ...bodyOf(now), record: view.record } satisfies z.output<typeof createdBody>;
        }
        ctx.status = 409;
        const detail = 'Your account watches this license already.';
        return { detail, subscription_id: now.id } satisfies z.output<typeof duplicateBody>;
      },
    }),
    endpoint('POST', '/subscriptions/batch', {
      id: 'subscribeAll',
      summary: 'Watch many licenses',
      description:
        `Up to ${MAX_ITEMS.toLocaleString('en-US')} licenses, each looked up as in POST /subscriptions, all of them ` +
        `in one day’s dataset. ${cost.itemsPerRequest} items count as one request. Where the account would watch ` +
        'more licenses than it may, none is added.',
      firstAnswers,
      input: { body: batchRequest },
      shownBody: named('SubscriptionBatchRequest', {
        ...batchRequest.shape,
        items: z.array(subscriptionItem).min(1).max(MAX_ITEMS),
      }),
      limit: listLimit('a batch of subscriptions takes at most 1 MB'),
      responses: { 200: { when: 'What became of each item', body: batchAnswerBody }, ...LIMIT },
      handle: async (ctx, { body: sent }) => {
        await spendForItems(ctx, sent.items.length, cost);
        const items = await readItems(sent.items, {
          fieldsOf: (item) => item,
          requestOf: (fields) => numberRequest(fields, sent.board ?? undefined),
        });
        const { origin, results, watched, created } = await watchAll(ctx, items);
        const summary = { created: 0, exists: 0, not_found: 0, invalid: 0 };
        const bodies = results.map((result, at) => {
          const { index, reference } = result;
          const now = watched[at];
          // If several items name the same new license, only the first one counts as created.
          const outcome = now && created.delete(now.id) ? ('created' as const) : ('exists' as const);
          const body =
            now === undefined ? resultBody(result) : { index, reference, outcome, ...itemBody(now) };
          if (body.outcome === 'found' || body.outcome === 'ambiguous')
            throw new Error('A license that was found is not watched.');
          summary[body.outcome] += 1;
          return body;
        });
        return { count: bodies.length, summary, ...originBody(origin), results: bodies };
      },
    }),
    endpoint('GET', '/subscriptions', {
      id: 'subscriptions',
      summary: 'What your account watches',
      description:
        'Each license as it is now, all of a page from one day’s dataset. Send next as after until it is null. With ' +
        'expires_within_days, a page may have fewer subscriptions than limit, even none, while next is not null. ' +
        `${cost.itemsPerRequest} subscriptions that are looked through count as one request.`,
      input: { query: listQuery },
      responses: {
        200: { when: 'The subscriptions', body: listAnswerBody },
        413: { when: 'A limit over this address’s minute limit' },
      },
      handle: async (ctx, { query: { limit, after, expires_within_days: days } }) => {
        const page = await subscriptions.page(accountOf(ctx), after, limit);
        await spendForItems(ctx, page.subscriptions.length, cost);
        const items = page.subscriptions.map(({ board, license_number: number, reference }) => ({
          reference,
          request: { by: 'number' as const, number, board: boardByLabel(board), businessOnly: false },
        }));
        const roster = { items, maxMatches: 1, withoutSuggestions: true };
        const { origin, shaped } = await rosters.answer(roster, (part) => part, clientGone(ctx));
        const results = shaped.flat();
        const all = page.subscriptions.map((subscription, at) => listed(subscription, results[at]));
        const asked = all.filter(({ record }) => {
          const left = record?.days_until_expiry ?? Number.NEGATIVE_INFINITY;
          return days === undefined || (left >= 0 && left <= days);
        });
        const place = { feed_cursor: origin.feedCursor, next: page.next ?? null };
        return { ...originBody(origin), ...place, subscriptions: asked };
      },
    }),
    endpoint('GET', '/subscriptions/:id/proof', {
      id: 'watchProof',
      summary: 'Prove that a license is watched',
      description: `On which days it was compared, and what changed; with Accept: ${JOSE}, signed.`,
      input: { path: ofOne },
      responses: {
        200: { when: 'The proof', body: proofBody, alternatives: signedForm },
        404: { when: NOT_SUBSCRIBED },
        ...NOTHING_SIGNED,
      },
      handle: async (ctx, { path: { id } }) => {
        const { account: by = '' } = ctx.state;
        const watched = await subscriptions.find(accountOf(ctx), id);
        const proof = watched && (await proofOf(watched));
        if (!watched || !proof) throw new ClientError(404, NOT_SUBSCRIBED);
        const changes = proof.changes.map((change) => historyChangeBody.parse(change));
        const statement: z.output<typeof proofBody> = {
          ...{ type: 'watch_proof', service_version: SERVICE_VERSION, at: new Date().toISOString(), by },
          ...{ ...bodyOf(watched), ...proof, changes },
        };
        if (!wantsSigned(ctx, signing)) return statement;
        ctx.type = JOSE;
        return signing.sign(statement);
      },
    }),
    endpoint('DELETE', '/subscriptions/:id', {
      id: 'unsubscribe',
      summary: 'Stop watching a license',
      input: { path: ofOne },
      responses: { 204: { when: 'It is deleted' }, 404: { when: NOT_SUBSCRIBED } },
      handle: async (ctx, { path: { id } }) => {
        if (await subscriptions.remove(accountOf(ctx), id)) return null;
        throw new ClientError(404, NOT_SUBSCRIBED);
      },
    }),
  ];
}
