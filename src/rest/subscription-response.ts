import { z } from 'zod';
import { type Origin, originBody, originFields } from '../answers/origin.ts';
import { toResponseRecord, viewOf } from '../answers/view.ts';
import { type LicenseRecord, licenseId } from '../licenses/license.ts';
import { MAX_ITEMS, type RosterResult } from '../rosters/roster.ts';
import type { WatchResult } from '../subscriptions/service.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import { invalidResult, notFoundResult, resultBase, resultBody } from './roster-response.ts';
import { EXAMPLE, EXAMPLE_DATE, EXAMPLE_ORIGIN, licenseBody, MISSED_NUMBER } from './verify-response.ts';

const subscriptionId = z.string().describe('The id of the subscription');

const subscriptionBody = z.object({
  subscription_id: subscriptionId,
  board: z.string(),
  license_number: z.string().describe('As the board wrote it when the subscription was made'),
  reference: z.string().nullable(),
  created_at: z.string().describe('ISO 8601'),
});

export const createdBody = subscriptionBody.extend({ record: licenseBody }).meta({ id: 'Subscription' });

export const duplicateBody = z.object({ detail: z.string(), subscription_id: subscriptionId });

export const limitBody = z.object({ detail: z.string(), reason: z.literal('limit').optional() });

function bodyOf({
  id,
  board,
  license_number,
  reference,
  created_at,
}: Subscription): z.output<typeof subscriptionBody> {
  return { subscription_id: id, board, license_number, reference, created_at };
}

export function createdAnswer(
  subscription: Subscription,
  record: LicenseRecord,
  origin: Origin,
): z.output<typeof createdBody> {
  return { ...bodyOf(subscription), record: toResponseRecord(record, origin) };
}

export function duplicateAnswer(id: string): z.output<typeof duplicateBody> {
  return { detail: 'Your account watches this license already.', subscription_id: id };
}

const watchedBody = z.object({
  ...resultBase,
  outcome: z
    .enum(['created', 'exists'])
    .describe('exists: your account watches the license already, or an earlier item names it'),
  subscription_id: subscriptionId,
  board: z.string(),
  license_number: z.string().describe('As the board writes it'),
});

const batchResult = z.discriminatedUnion('outcome', [watchedBody, notFoundResult, invalidResult]);

export const batchAnswerBody = z
  .object({
    count: z.int().min(1).max(MAX_ITEMS),
    summary: z.object({ created: z.int(), exists: z.int(), not_found: z.int(), invalid: z.int() }),
    ...originFields,
    results: z.array(batchResult).describe('In the order of the items'),
  })
  .meta({ id: 'SubscriptionBatchAnswer' });

/** A license that is watched now, and whether it was before. */
export interface NowWatched extends WatchResult {
  readonly record: Pick<LicenseRecord, 'board' | 'license_number'>;
}

/** @param watched by the index of the item */
export function batchAnswer(
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

const listedBody = subscriptionBody.extend({
  in_dataset: z.boolean().describe('Whether the dataset has the license'),
  record: licenseBody.nullable().describe('The license as it is now; null when it is not in the dataset'),
});

export const listAnswerBody = z
  .object({
    ...originFields,
    next: z.string().nullable().describe('What to send as after in the next request; null at the end'),
    subscriptions: z.array(listedBody),
  })
  .meta({ id: 'Subscriptions' });

/** A subscription as lists have it. @param result of the lookup of its number */
export function listed(
  subscription: Subscription,
  { view }: Pick<RosterResult, 'view'>,
): z.output<typeof listedBody> {
  // Not another license whose number is written like it.
  const isIt = ({ board, license_number: number }: LicenseRecord) =>
    licenseId(board, number) === subscription.license;
  const record = view.outcome === 'found' && isIt(view.record) ? view.record : null;
  return { ...bodyOf(subscription), in_dataset: record !== null, record };
}

export function listHead(origin: Origin, next: string | undefined) {
  return { ...originBody(origin), next: next ?? null };
}

const SUBSCRIPTION: Subscription = {
  id: 'sub_5f1c2b7a90d34e68a1b2c3d4',
  account: '',
  license: licenseId(EXAMPLE.board, EXAMPLE.license_number),
  board: EXAMPLE.board,
  license_number: EXAMPLE.license_number,
  number: '',
  reference: 'A-17',
  created_at: `${EXAMPLE_DATE}T14:03:21.503Z`,
};

export const REQUEST_EXAMPLE = {
  board: EXAMPLE.board,
  license_number: EXAMPLE.license_number,
  reference: SUBSCRIPTION.reference,
};

export const BATCH_EXAMPLE = {
  board: EXAMPLE.board,
  items: [
    { license_number: EXAMPLE.license_number, reference: 'A-17' },
    { license_number: 'rn 987654321', reference: 'A-18' },
    { license_number: MISSED_NUMBER.request.number },
    { reference: 'A-20' },
  ],
};

export const CREATED_EXAMPLE = createdAnswer(SUBSCRIPTION, EXAMPLE, EXAMPLE_ORIGIN);

export const DUPLICATE_EXAMPLE = duplicateAnswer(SUBSCRIPTION.id);

const found = { outcome: 'found', record: EXAMPLE } as const;

export function batchAnswerExample(invalid: string) {
  const outcomes = [found, found, MISSED_NUMBER, { outcome: 'invalid', detail: invalid }] as const;
  const results = outcomes.map((outcome, index): RosterResult => {
    const reference = BATCH_EXAMPLE.items[index]?.reference ?? null;
    return { index, reference, view: viewOf(outcome, EXAMPLE_ORIGIN), suggestionsOmitted: false };
  });
  const { id } = SUBSCRIPTION;
  const watched = new Map([
    [0, { id, created: SUBSCRIPTION, record: EXAMPLE }],
    [1, { id, created: undefined, record: EXAMPLE }],
  ]);
  return batchAnswer(results, watched, EXAMPLE_ORIGIN);
}

export const LIST_EXAMPLE = {
  ...listHead(EXAMPLE_ORIGIN, undefined),
  subscriptions: [listed(SUBSCRIPTION, { view: viewOf(found, EXAMPLE_ORIGIN) })],
};
