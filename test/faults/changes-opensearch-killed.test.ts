/** @long @room changes */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, test } from '@jest/globals';
import { type FollowedPublisher, followedPublisher } from '../support/followed-publisher.ts';
import { type OwnServer, ownOpenSearch } from '../support/own-servers.ts';
import { randomRequests } from '../support/random-moments.ts';

const KILLS = 4;
const AWAY_MS = 2000;

let openSearch: OwnServer;
let followed: FollowedPublisher;

beforeAll(async () => {
  openSearch = await ownOpenSearch();
  followed = await followedPublisher({ OPENSEARCH_URL: openSearch.url });
}, 400_000);
beforeEach(async () => {
  const { publications, proxy } = followed;
  await publications.makeReady();
  await publications.startWorker({ OPENSEARCH_URL: proxy.url });
});

for (const random of randomRequests(KILLS, 'changes and OpenSearch')) {
  test(`OpenSearch killed (SIGKILL) while a worker compares: a copy kept current by the feed equals what is live: ${random.name}`, async () => {
    const { proxy, requestAt, expectCurrentCopy } = followed;
    await proxy.killAt(requestAt(random), {
      kill: () => openSearch.kill(),
      recover: async () => {
        await sleep(AWAY_MS);
        await openSearch.start();
      },
      mayContinue: true,
    });
    await expectCurrentCopy();
  });
}
