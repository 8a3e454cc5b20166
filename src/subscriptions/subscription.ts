import { hash } from 'node:crypto';
import { z } from 'zod';
import type { FeedState } from '../changes/feed.ts';
import { renumberings } from '../changes/stored-changes.ts';
import { onceForEach } from '../changes/stored-feed.ts';
import { collection } from '../storage/collection.ts';
import type { Store } from '../storage/store.ts';

const SUBSCRIPTION_ID_CHARACTERS = 24;

/**
 * The id of a new subscription of an account to a license. It stays the same where the subscription follows a license
 * whose number the State writes in another way.
 */
export function subscriptionId(account: string, license: string): string {
  return `sub_${hash('sha256', `${account} ${license}`).slice(0, SUBSCRIPTION_ID_CHARACTERS)}`;
}

const storedSubscription = z.object({
  id: z.string(),
  /** The id of the account that watches. */
  account: z.string(),
  /** The document id of the license, as `licenseId` makes it. */
  license: z.string(),
  /** The board's name and the number, as the dataset had them when it was watched, or when it was renumbered. */
  board: z.string(),
  license_number: z.string(),
  /** The folded number, which searches compare. */
  number: z.string(),
  /** What the client calls it; null where it gave nothing. */
  reference: z.string().nullable(),
  /** ISO 8601. */
  created_at: z.string(),
});

/** That an account watches a license, also when the dataset has it no longer. */
export type Subscription = Readonly<z.output<typeof storedSubscription>>;

export const SUBSCRIPTIONS = collection('subscriptions', storedSubscription, {
  isStoredUnder: (id, document) => id === document.id,
});

/**
 * The subscriptions of an account to some licenses, by the licenses' document ids.
 *
 * @throws {SearchUnavailableError} when OpenSearch answers only in part
 */
export async function subscriptionsTo(
  store: Store,
  account: string,
  licenses: readonly string[],
): Promise<ReadonlyMap<string, Subscription>> {
  if (licenses.length === 0) return new Map();
  const { documents } = await SUBSCRIPTIONS.search(store, {
    query: { bool: { filter: [{ term: { account } }, { terms: { license: [...licenses] } }] } },
    sort: ['_doc'],
    // Two of its subscriptions may have followed one license at once.
    size: 2 * licenses.length,
    track_total_hits: false,
  });
  return new Map(documents.map((each) => [each.license, each]));
}

const SUBSCRIPTIONS_A_PAGE = 1000;

/** Makes subscriptions follow the licenses whose numbers the State writes in another way, once that is live. */
export function followRenumbered(store: Store, state: FeedState): Promise<void> {
  return onceForEach(store, 'followed', state, async (segment) => {
    for await (const renumbered of renumberings(store, segment)) {
      const numbers = new Map(renumbered.map(({ license, to }) => [license, to]));
      const pages = SUBSCRIPTIONS.pages(store, {
        query: { terms: { license: [...numbers.keys()] } },
        sort: [{ id: 'asc' }],
        size: SUBSCRIPTIONS_A_PAGE,
      });
      for await (const page of pages)
        for (const each of page) await follow(store, each, numbers.get(each.license) ?? each.license);
    }
  });
}

/** An account that watches the new number already keeps both. */
async function follow(store: Store, { id, account }: Subscription, license: string): Promise<void> {
  if ((await subscriptionsTo(store, account, [license])).size > 0) return;
  const license_number = license.slice(license.indexOf('/') + 1);
  await SUBSCRIPTIONS.update(store, id, (current) => current && { ...current, license, license_number });
}
