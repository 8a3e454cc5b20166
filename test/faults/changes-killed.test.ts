/** @room changes @long */
import { beforeAll, beforeEach, test } from '@jest/globals';
import { inForm } from '../support/fault-form.ts';
import { type FollowedPublisher, followedPublisher } from '../support/followed-publisher.ts';
import { lapseLocks } from '../support/publisher.ts';
import { randomRequests } from '../support/random-moments.ts';

const KILLS = inForm({ short: 1, long: 20 });

let followed: FollowedPublisher;

beforeAll(async () => {
  followed = await followedPublisher();
});
beforeEach(async () => {
  const { publications, proxy } = followed;
  await publications.makeReady();
  await publications.startWorker({ OPENSEARCH_URL: proxy.url });
});

for (const random of randomRequests(KILLS, 'changes')) {
  test(`worker killed (SIGKILL) while it compares: a copy kept current by the feed equals what is live: ${random.name}`, async () => {
    const { publications, proxy, requestAt, expectCurrentCopy } = followed;
    await proxy.killAt(requestAt(random), {
      kill: () => publications.worker().kill(),
      recover: async () => {
        await lapseLocks(publications.environment);
        await publications.startWorker();
      },
    });
    await expectCurrentCopy();
  });
}
