import type { Feed } from './feed-state.ts';

/**
 * The clause that a change of these feeds matches. Changes of a publication that did not go live have an epoch that no
 * feed has.
 */
export function visible(feeds: readonly Feed[]) {
  const should = feeds.map(({ feed, segments }) => ({
    bool: { filter: [{ term: { feed } }, { terms: { epoch: segments.map(([epoch]) => epoch) } }] },
  }));
  return { bool: { should, minimum_should_match: 1 } };
}
