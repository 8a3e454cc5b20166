import { expect } from '@jest/globals';
import { liveIndex } from '../../src/publications/metadata.ts';
import { apiClient } from './api.ts';
import { changesPage } from './changes.ts';
import { inForm } from './fault-form.ts';
import { type FeedCopy, feedCopy, type LicenseCopy, licensesInIndex } from './feed-copy.ts';
import { type FatalRequest, isComparing, killingProxy } from './kill-at-request.ts';
import { publisher } from './publisher.ts';
import type { RandomRequest } from './random-moments.ts';

const ROWS = inForm({ short: 3000, long: 20_000 });
const PAGE = 100;

export type FollowedPublisher = Awaited<ReturnType<typeof followedPublisher>>;

/**
 * Two days that differ in a tenth of their licenses, with an API that a client follows by the feed, and a worker behind a
 * proxy that kills at a request while they are compared.
 */
export async function followedPublisher(settings: Record<string, string> = {}) {
  const publications = await publisher({
    rows: ROWS,
    settings: { REST_REQUESTS_PER_MINUTE: '1000000', ...settings },
    hasApi: true,
  });
  const { store } = publications.environment;
  const rest = await apiClient(publications.environment);

  async function liveLicenses(): Promise<LicenseCopy> {
    const index = await liveIndex(store);
    if (index === undefined) throw new Error('Nothing is live.');
    return licensesInIndex(store, index);
  }

  const copy: FeedCopy = feedCopy(await liveLicenses(), (await changesPage(rest, { since: 'latest' })).next);
  const proxy = await killingProxy(publications);
  await publications.startWorker({ OPENSEARCH_URL: proxy.url });
  const [undisturbed = 0] = await proxy.requestsWithoutFault(isComparing);
  expect(undisturbed).toBeGreaterThan(10);
  return {
    publications,
    proxy,
    /** The request for digests and changes at this share of all of them. */
    requestAt: ({ share, isDone }: RandomRequest): FatalRequest => ({
      is: isComparing,
      after: Math.floor(share * undisturbed),
      isDone,
    }),
    /** Expects that the client's copy, after it has read the feed, is what is live. */
    expectCurrentCopy: async () => {
      await copy.catchUp(rest, PAGE);
      expect(copy.licenses).toEqual(await liveLicenses());
    },
  };
}
