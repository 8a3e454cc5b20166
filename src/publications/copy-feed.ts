import { writeFeedCopy } from '../changes/feed-copy.ts';
import type { Store } from '../storage/store.ts';
import { feedOf, type PublicationMetadata } from './metadata.ts';

/** Copies the feed of the live publication to where backups have it. */
export async function copyFeed(store: Store, live: PublicationMetadata): Promise<void> {
  const { sources } = live;
  if (sources === undefined) return;
  const state = feedOf(live);
  const sha256 = { individual: sources.individual.sha256, business: sources.business.sha256 };
  await writeFeedCopy(store, { feed: state.feed, state, sha256 });
}
