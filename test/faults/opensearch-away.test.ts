import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals';
import { faultTest, inForm } from '../support/fault-form.ts';
import { type OwnServer, ownOpenSearch } from '../support/own-servers.ts';
import { describeProgress, endOf, expectUnderWay } from '../support/publication-run.ts';
import { type Publisher, publisher } from '../support/publisher.ts';
import { randomMoments, untilLoaded } from '../support/random-moments.ts';

const ROWS = inForm({ short: 30_000, long: 100_000 });
const OUTAGES = inForm({ short: 1, long: 3 });
const AWAY_MS = 2000;
const MID_LOAD = [0.1, 0.6] as const;

let openSearch: OwnServer;
let publications: Publisher;

beforeAll(async () => {
  openSearch = await ownOpenSearch();
  publications = await publisher({ rows: ROWS, settings: { OPENSEARCH_URL: openSearch.url } });
}, 400_000);
beforeEach(() => publications.makeReady(), 300_000);
afterAll(async () => {
  await publications.stop();
  await openSearch.stop();
}, 300_000);

for (const moment of randomMoments(OUTAGES, 'OpenSearch', MID_LOAD)) {
  faultTest(
    'OpenSearch killed (SIGKILL) and started again',
    moment.name,
    async () => {
      const publication = await publications.begin('second');
      const { environment } = publications;
      const progress = await untilLoaded(moment, publication, publications);
      const killedAt = Date.now();
      await openSearch.kill();
      await sleep(AWAY_MS);
      expect(await openSearch.isListening()).toBe(false);
      // OpenSearch records the end of the publication. While it is away, the publication cannot have ended.
      await expectUnderWay(environment, publication.publication);
      await openSearch.start();
      await publications.expectPublished(publication);
      const seconds = (Date.now() - killedAt) / 1000;
      const outcome = await endOf(environment, publication.publication);
      await publications.expectRecovered('second');
      return { hit: describeProgress(progress), seconds, outcome };
    },
    300_000,
  );
}
