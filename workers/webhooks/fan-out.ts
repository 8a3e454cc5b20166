import { LRUCache } from 'lru-cache';
import type { FeedEntry } from '../../src/changes/feed.ts';
import { CHANGE_HEADS, licensesOf, nextChanges, visible } from '../../src/changes/stored-changes.ts';
import { currentBoardName } from '../../src/licenses/boards.ts';
import { valueAt } from '../../src/licenses/counts.ts';
import type { Store } from '../../src/storage/store.ts';
import { type Announcement, MAX_LISTED } from '../../src/subscriptions/message.ts';
import { PAGE, subscriptionsTo } from '../../src/subscriptions/subscription.ts';

/**
 * The changes that a publication or rollback made to an account's watched licenses: their counts, and the first ones.
 */
const noNews = () => ({
  counts: { added: 0, changed: 0, removed: 0 },
  changes: Array.of<Announcement['changes'][number]>(),
});

/** The news by account id. */
type NewsByAccount = ReadonlyMap<string, ReturnType<typeof noNews>>;

/**
 * The number of publications whose news is cached, so that a receiver that fails for some days does not cause the
 * changes to be read again at each attempt.
 */
const KEPT_PUBLICATIONS = 10;

export type FanOut = ReturnType<typeof fanOut>;

/**
 * Returns a function that finds the accounts watching the changes of a publication. The function returns `undefined` if
 * not all of the changes can be read. It reads the changes of each publication once for all accounts, so the cost
 * depends on the changes.
 *
 * @throws {SearchUnavailableError} when OpenSearch does not answer
 */
export function fanOut(store: Store) {
  const known = new LRUCache<string, NewsByAccount, FeedEntry>({
    max: KEPT_PUBLICATIONS,
    // An entry that is evicted while it is being read is still returned.
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
