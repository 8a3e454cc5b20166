/** @long @room outages */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { isBulk } from '../support/bulk-faults.ts';
import { type KillingProxy, killingProxy } from '../support/kill-at-request.ts';
import { type OwnServer, ownOpenSearch } from '../support/own-servers.ts';
import { expectUnderWay } from '../support/publication-run.ts';
import { type Publisher, publisher } from '../support/publisher.ts';
import { randomRequests } from '../support/random-moments.ts';

/** Enough for several bulk requests. */
const ROWS = 10_000;
const OUTAGES = 3;
const AWAY_MS = 2000;

let openSearch: OwnServer;
let publications: Publisher;
let proxy: KillingProxy;
/** How many bulk requests a publication of the second day makes without a fault. */
let undisturbed: number;

beforeAll(async () => {
  openSearch = await ownOpenSearch();
  publications = await publisher({ rows: ROWS, settings: { OPENSEARCH_URL: openSearch.url } });
  proxy = await killingProxy(publications);
  await publications.startWorker({ OPENSEARCH_URL: proxy.url });
  [undisturbed = 0] = await proxy.requestsWithoutFault(isBulk);
}, 400_000);
beforeEach(async () => {
  await publications.makeReady();
  await publications.startWorker({ OPENSEARCH_URL: proxy.url });
});

for (const { name, share, isDone } of randomRequests(OUTAGES, 'OpenSearch')) {
  test(`OpenSearch killed (SIGKILL) and started again: ${name}`, async () => {
    await proxy.killAt(
      { is: isBulk, after: Math.floor(share * undisturbed), isDone },
      {
        kill: () => openSearch.kill(),
        recover: async (publication) => {
          await sleep(AWAY_MS);
          expect(await openSearch.isListening()).toBe(false);
          // OpenSearch records the end of the publication. While it is away, the publication cannot have ended.
          await expectUnderWay(publications.environment, publication);
          await openSearch.start();
        },
        mayContinue: true,
      },
    );
  });
}
