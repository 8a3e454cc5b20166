import { LRUCache } from 'lru-cache';
import type { ChangeKind } from '../../src/changes/change.ts';
import type { FeedSegment } from '../../src/changes/feed.ts';
import { changedLicenses } from '../../src/changes/stored-changes.ts';
import type { Store } from '../../src/storage/store.ts';
import { MAX_LISTED } from '../../src/subscriptions/message.ts';
import { SUBSCRIPTIONS, type Subscription } from '../../src/subscriptions/subscription.ts';

/** What a publication or rollback changed of what an account watches. */
export interface News {
  readonly counts: Record<ChangeKind, number>;
  /** The places of the first of these changes in the feed, at most as many as a message lists. */
  readonly positions: number[];
}

/** By the ids of accounts. */
type NewsByAccount = ReadonlyMap<string, News>;

/** How many changes are read at once. OpenSearch takes up to 65,536 terms and returns up to 10,000 documents. */
const CHANGES_A_PAGE = 5000;
const SUBSCRIPTIONS_A_PAGE = 5000;

/** So that a receiver that fails for some days does not make each attempt read the changes again. */
const KEPT_PUBLICATIONS = 10;

export type FanOut = ReturnType<typeof fanOut>;

/**
 * Tells which accounts watch what a publication changed. It reads the changes of each publication once, whatever the
 * number of accounts: its cost follows the changes.
 */
export function fanOut(store: Store) {
  const known = new LRUCache<string, Promise<NewsByAccount | undefined>>({ max: KEPT_PUBLICATIONS });
  return {
    /**
     * @returns `undefined` where not all of the changes can be read
     * @throws {SearchUnavailableError} when OpenSearch does not answer
     */
    newsOf(segment: FeedSegment): Promise<NewsByAccount | undefined> {
      const key = `${segment.feed} ${segment.epoch}`;
      const read = known.get(key) ?? readNews(store, segment);
      known.set(key, read);
      read.catch(() => known.delete(key));
      return read;
    },
  };
}

async function readNews(
  store: Store,
  { feed, epoch, changes }: FeedSegment,
): Promise<NewsByAccount | undefined> {
  const news = new Map<string, News>();
  let [read, after] = [0, -1];
  for (let isMore = true; isMore; ) {
    const ofSegment = [{ term: { feed } }, { term: { epoch } }, { range: { position: { gt: after } } }];
    const page = await changedLicenses(store, ofSegment, CHANGES_A_PAGE);
    const watchers = await watchersOf(
      store,
      page.flatMap(({ license }) => license ?? []),
    );
    for (const { position, license, kind } of page) {
      if (license === undefined || kind === undefined) return undefined;
      for (const { account } of watchers.get(license) ?? []) {
        const { counts, positions } = news.get(account) ?? {
          counts: { added: 0, changed: 0, removed: 0 },
          positions: [],
        };
        counts[kind] += 1;
        if (positions.length < MAX_LISTED) positions.push(position);
        news.set(account, { counts, positions });
      }
    }
    read += page.length;
    after = page.at(-1)?.position ?? after;
    isMore = page.length === CHANGES_A_PAGE;
  }
  return read === changes ? news : undefined;
}

/** The subscriptions to each of some licenses, by the license's document id. */
async function watchersOf(store: Store, licenses: readonly string[]) {
  if (licenses.length === 0) return new Map<string, Subscription[]>();
  const pages = SUBSCRIPTIONS.pages(store, {
    query: { bool: { filter: [{ terms: { license: [...licenses] } }] } },
    sort: [{ id: 'asc' }],
    size: SUBSCRIPTIONS_A_PAGE,
  });
  const all: Subscription[] = [];
  for await (const page of pages) all.push(...page);
  return Map.groupBy(all, ({ license }) => license);
}
