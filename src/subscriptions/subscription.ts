import { hash } from 'node:crypto';
import { z } from 'zod';
import { collection } from '../storage/collection.ts';
import type { Store } from '../storage/store.ts';

const SUBSCRIPTION_ID_CHARACTERS = 24;

/** The id of the subscription of an account to a license: an account watches a license at most once. */
export function subscriptionId(account: string, license: string): string {
  return `sub_${hash('sha256', `${account} ${license}`).slice(0, SUBSCRIPTION_ID_CHARACTERS)}`;
}

const storedSubscription = z.object({
  id: z.string(),
  /** The id of the account that watches. */
  account: z.string(),
  /** The document id of the license, as `licenseId` makes it. */
  license: z.string(),
  /** The board's name and the number, as the dataset had them when it was watched. */
  board: z.string(),
  license_number: z.string(),
  /** The number as it is searched. */
  number: z.string(),
  /** What the client calls it; null where it gave nothing. */
  reference: z.string().nullable(),
  /** ISO 8601. */
  created_at: z.string(),
});

/** That an account watches a license, also when the dataset has it no longer. */
export type Subscription = Readonly<z.output<typeof storedSubscription>>;

export const SUBSCRIPTIONS = collection('subscriptions', storedSubscription, {
  isStoredUnder: (id, { account, license }) => id === subscriptionId(account, license),
  needsIndex: true,
});

/**
 * Those of some licenses, by document id, that an account watches, and what it calls each.
 *
 * @throws {SearchUnavailableError} when OpenSearch answers only in part
 */
export async function watchedAmong(
  store: Store,
  account: string,
  licenses: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  if (licenses.length === 0) return new Map();
  const { documents } = await SUBSCRIPTIONS.search(store, {
    query: { bool: { filter: [{ term: { account } }, { terms: { license: [...licenses] } }] } },
    sort: ['_doc'],
    size: licenses.length,
    track_total_hits: false,
  });
  return new Map(documents.map(({ license, reference }) => [license, reference]));
}
