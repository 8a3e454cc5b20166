/** @room changes @long */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, test } from '@jest/globals';
import { type FollowedPublisher, followedPublisher } from '../support/followed-publisher.ts';
import { type OwnServer, ownOpenSearch } from '../support/own-servers.ts';
import { lapseLocks } from '../support/publisher.ts';
import { randomRequests } from '../support/random-moments.ts';

const AWAY_MS = 2000;

describe.each([
  ['worker', 20],
  ['OpenSearch', 4],
] as const)('%s killed (SIGKILL) while a worker compares', (killed, kills) => {
  let openSearch: OwnServer | undefined;
  let followed: FollowedPublisher;

  beforeAll(async () => {
    openSearch = killed === 'OpenSearch' ? await ownOpenSearch() : undefined;
    followed = await followedPublisher(openSearch && { OPENSEARCH_URL: openSearch.url });
  }, 400_000);
  beforeEach(async () => {
    const { publications, proxy } = followed;
    await publications.makeReady();
    await publications.startWorker({ OPENSEARCH_URL: proxy.url });
  });

  for (const random of randomRequests(kills, killed)) {
    test(`a copy kept current by the feed equals what is live: ${random.name}`, async () => {
      const { publications, proxy, requestAt, expectCurrentCopy } = followed;
      await proxy.killAt(requestAt(random), {
        kill: () => (openSearch ?? publications.worker()).kill(),
        recover: async () => {
          if (openSearch !== undefined) {
            await sleep(AWAY_MS);
            return openSearch.start();
          }
          await lapseLocks(publications.environment);
          await publications.startWorker();
        },
        mayContinue: openSearch !== undefined,
      });
      await expectCurrentCopy();
    });
  }
});
