import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { faultTest, inForm } from '../support/fault-form.ts';
import { type OwnServer, ownOpenSearch } from '../support/own-servers.ts';
import { type Publisher, publisher } from '../support/publisher.ts';
import { randomMoments, untilLoaded } from '../support/random-moments.ts';

const ROWS = inForm({ short: 20_000, full: 100_000 });
const OUTAGES = inForm({ short: 1, full: 3 });
const AWAY_MS = 2000;
const MID_LOAD = [0.1, 0.9] as const;

let openSearch: OwnServer;
let publications: Publisher;

beforeAll(async () => {
  openSearch = await ownOpenSearch();
  publications = await publisher({ rows: ROWS, settings: { OPENSEARCH_URL: openSearch.url } });
}, 400_000);
beforeEach(() => publications.makeReady(), 60_000);
afterAll(async () => {
  await publications.stop();
  await openSearch.stop();
}, 60_000);

for (const moment of randomMoments(OUTAGES, 'OpenSearch', MID_LOAD)) {
  faultTest(
    'OpenSearch killed (SIGKILL) and started again',
    moment.name,
    async () => {
      const publication = await publications.begin('large');
      await untilLoaded(moment, publication, publications);
      const killedAt = Date.now();
      await openSearch.kill();
      await sleep(AWAY_MS);
      await openSearch.start();
      await publications.expectPublished(publication);
      const seconds = (Date.now() - killedAt) / 1000;
      await publications.expectRecovered('large');
      return { seconds, outcome: 'the load waits; where documents were lost it is done again; live' };
    },
    300_000,
  );
}
