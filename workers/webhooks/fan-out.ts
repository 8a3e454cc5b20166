import { LRUCache } from 'lru-cache';
import type { FeedEntry } from '../../src/changes/feed.ts';
import { CHANGE_HEADS, licensesOf, nextChanges, visible } from '../../src/changes/stored-changes.ts';
import { currentBoardName } from '../../src/licenses/boards.ts';
import { valueAt } from '../../src/licenses/counts.ts';
import type { Store } from '../../src/storage/store.ts';
import { type Announcement, MAX_LISTED } from '../../src/subscriptions/message.ts';
import { PAGE, subscriptionsTo } from '../../src/subscriptions/subscription.ts';

/** What a publication or rollback changed of what an account watches: how much, and the first of it. */
const noNews = () => ({
  counts: { added: 0, changed: 0, removed: 0 },
  changes: Array.of<Announcement['changes'][number]>(),
});

/** By the ids of accounts. */
type NewsByAccount = ReadonlyMap<string, ReturnType<typeof noNews>>;

/** So that a receiver that fails for some days does not make each attempt read the changes again. */
const KEPT_PUBLICATIONS = 10;

export type FanOut = ReturnType<typeof fanOut>;

/**
 * Tells which accounts watch what a publication changed; `undefined` where not all of the changes can be read. It reads
 * the changes of each publication once, whatever the number of accounts: its cost follows the changes.
 *
 * @throws {SearchUnavailableError} when OpenSearch does not answer
 */
export function fanOut(store: Store) {
  const known = new LRUCache<string, NewsByAccount, FeedEntry>({
    max: KEPT_PUBLICATIONS,
    // One that is left out while it is read is used all the same.
    ignoreFetchAbort: true,
    fetchMethod: (_key, _stale, { context }) => readNews(store, context),
  });
  return (entry: FeedEntry) => known.fetch(`${entry.feed} ${entry.epoch}`, { context: entry });
}

async function readNews(store: Store, entry: FeedEntry): Promise<NewsByAccount | undefined> {
  const news = new Map<string, ReturnType<typeof noNews>>();
  let read = 0;
  for await (const page of CHANGE_HEADS.pages(store, nextChanges([visible([entry])], PAGE))) {
    read += page.length;
    const watchers = await subscriptionsTo(store, page.flatMap(licensesOf));
    for (const change of page) {
      const { kind, license } = change;
      const license_number = license.slice(license.indexOf('/') + 1);
      const all = licensesOf(change).flatMap((each) => watchers.get(each) ?? []);
      for (const { account, board, reference } of new Map(all.map((each) => [each.account, each])).values()) {
        const { counts, changes } = valueAt(news, account, noNews);
        counts[kind] += 1;
        if (changes.length < MAX_LISTED)
          changes.push({ board: currentBoardName(board), license_number, kind, reference });
      }
    }
  }
  return read === entry.changes ? news : undefined;
}
