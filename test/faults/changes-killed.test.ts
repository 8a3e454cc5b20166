/** @room changes @long */
import { beforeAll, beforeEach } from '@jest/globals';
import { faultTest, inForm } from '../support/fault-form.ts';
import { type FollowedPublisher, followedPublisher } from '../support/followed-publisher.ts';
import { lapseLocks } from '../support/publisher.ts';
import { randomRequests } from '../support/random-moments.ts';

const KILLS = inForm({ short: 1, long: 20 });

let followed: FollowedPublisher;

beforeAll(async () => {
  followed = await followedPublisher();
}, 300_000);
beforeEach(async () => {
  const { publications, proxy } = followed;
  await publications.makeReady();
  await publications.startWorker({ OPENSEARCH_URL: proxy.url });
}, 300_000);

for (const random of randomRequests(KILLS, 'changes')) {
  faultTest(
    'worker killed (SIGKILL) while it compares: a copy kept current by the feed equals what is live',
    random.name,
    async () => {
      const { publications, proxy, requestAt, expectCurrentCopy } = followed;
      const seen = await proxy.killAt(requestAt(random), {
        kill: () => publications.worker().kill(),
        recover: async () => {
          await lapseLocks(publications.environment);
          await publications.startWorker();
        },
      });
      await expectCurrentCopy();
      return seen;
    },
  );
}
