import { hash } from 'node:crypto';
import { z } from 'zod';
import type { FeedState } from '../changes/feed.ts';
import { CHANGE_HEADS, licensesOf, nextChanges, visible } from '../changes/stored-changes.ts';
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

/** How many changes or subscriptions are read at once. OpenSearch takes up to 65,536 terms in a search. */
export const PAGE = 2500;

/**
 * The subscriptions to some licenses, by the licenses' document ids: two of an account may have followed one license.
 *
 * @param account all accounts unless given
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

/** Makes subscriptions follow the licenses whose numbers the State writes in another way, once that is live. */
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
          // An account that watches the new number already keeps both.
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
