import type { FeedState } from './feed-state.ts';

/**
 * The clauses that a visible change matches. Changes of a publication that did not go live have an epoch that the feed
 * does not have.
 */
export function visible({ feed, segments }: FeedState) {
  return [{ term: { feed } }, { terms: { epoch: segments.map(([epoch]) => epoch) } }];
}
