import { hash } from 'node:crypto';
import { z } from 'zod';
import type { FeedState } from '../changes/feed.ts';
import { CHANGE_HEADS, licensesOf, nextChanges, visible } from '../changes/stored-changes.ts';
import { onceForEach } from '../changes/stored-feed.ts';
import { collection } from '../storage/collection.ts';
import type { Store } from '../storage/store.ts';

const SUBSCRIPTION_ID_CHARACTERS = 24;

/**
 * Returns the id of an account's new subscription to a license. The id stays the same when the subscription follows a
 * license whose number the State writes in another way.
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
  /** The board's name and the license number as in the dataset at the time of subscribing or renumbering. */
  board: z.string(),
  license_number: z.string(),
  /** The folded number, which searches compare. */
  number: z.string(),
  /** The client's reference for the license; null if it gave none. */
  reference: z.string().nullable(),
  /** ISO 8601. */
  created_at: z.string(),
});

/** An account's subscription to a license. It stays when the license leaves the dataset. */
export type Subscription = Readonly<z.output<typeof storedSubscription>>;

export const SUBSCRIPTIONS = collection('subscriptions', storedSubscription, {
  isStoredUnder: (id, document) => id === document.id,
});

/** The number of changes or subscriptions read at once. OpenSearch allows up to 65,536 terms in a search. */
export const PAGE = 2500;

/**
 * Returns the subscriptions to some licenses, by the licenses' document ids. An account may have two to one license, if
 * one followed the license to its new number.
 *
 * @param account limits the result to one account
 * @throws {SearchUnavailableError} when OpenSearch answers only in part
 */
export async function subscriptionsTo(store: Store, licenses: readonly string[], account?: string) {
  const ofAccount = account === undefined ? [] : [{ term: { account } }];
  const pages = SUBSCRIPTIONS.pages(store, {
    query: { bool: { filter: [...ofAccount, { terms: { license: [...licenses] } }] } },
    sort: [{ id: 'asc' }],
    size: PAGE,
  });
  return Map.groupBy((await Array.fromAsync(pages)).flat(), ({ license }) => license);
}

/**
 * Moves subscriptions to the new numbers of licenses whose numbers the State writes in another way. Call it after the
 * renumbering is live.
 */
export function followRenumbered(store: Store, state: FeedState): Promise<void> {
  return onceForEach(store, 'followed', state, async (entry) => {
    const removed = nextChanges([visible([entry]), { term: { kind: 'removed' } }], PAGE);
    for await (const changes of CHANGE_HEADS.pages(store, removed)) {
      const renumbered = changes.filter((each) => each.renumbered_to !== undefined);
      const gone = renumbered.map(({ license }) => license);
      const watched = await subscriptionsTo(store, gone);
      for (const change of renumbered) {
        const [license = '', before = ''] = licensesOf(change);
        const { renumbered_to: license_number = '' } = change;
        for (const { id, account } of watched.get(before) ?? []) {
          // An account that already watches the new number keeps both subscriptions.
          if ((await subscriptionsTo(store, [license], account)).size > 0) continue;
          await SUBSCRIPTIONS.update(
            store,
            id,
            (current) => current && { ...current, license, license_number },
          );
        }
      }
    }
  });
}
