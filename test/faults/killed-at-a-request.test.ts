import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { childrenOf } from '../support/children.ts';
import { faultTest, inForm } from '../support/fault-form.ts';
import { type OpenSearchProxy, openSearchProxy, type ProxiedRequest } from '../support/open-search-proxy.ts';
import { lapseLocks, type Publisher, publisher } from '../support/publisher.ts';

const ROWS = 2000;

/** A request of a publication, at which the worker and its process are killed. */
interface Moment {
  readonly name: string;
  /** Whether OpenSearch still does what it asks for. */
  readonly isDone: boolean;
  readonly is: (request: ProxiedRequest) => boolean;
}

type Asks = Moment['is'];

const INDEX = /licenses-\d{4}-\d{2}-\d{2}-\w+/.source;

function asks(method: string, path: string): Asks {
  const pattern = new RegExp(`${path}(\\?|$)`);
  return (request) => request.method === method && pattern.test(request.path);
}

function tellsLedger(event: string): Asks {
  return ({ path, body }) => path.includes('publications/_doc') && body.includes(`"event":"${event}"`);
}

const MOMENTS: readonly Moment[] = [
  { name: 'the index is made', isDone: true, is: asks('PUT', INDEX) },
  { name: 'the ledger is to tell of the load', isDone: false, is: tellsLedger('loading') },
  { name: 'the first documents are sent', isDone: true, is: asks('POST', `${INDEX}/_bulk`) },
  { name: 'the index is to be verified', isDone: false, is: asks('GET', `${INDEX}/_refresh`) },
  { name: 'the counts are noted', isDone: true, is: asks('POST', `${INDEX}/_mapping`) },
  { name: 'the index is to be made durable', isDone: false, is: asks('PUT', `${INDEX}/_settings`) },
  { name: 'the alias is to flip', isDone: false, is: asks('POST', '_aliases') },
  { name: 'the alias has flipped', isDone: true, is: asks('POST', '_aliases') },
  { name: 'the ledger is to say that it is live', isDone: false, is: tellsLedger('live') },
  { name: 'the ledger says that it is live', isDone: true, is: tellsLedger('live') },
  { name: 'the ledger is to say what it took the place of', isDone: false, is: tellsLedger('superseded') },
  { name: 'the oldest index is to be deleted', isDone: false, is: asks('DELETE', INDEX) },
];

const SHORT: ReadonlySet<string> = new Set(['the alias has flipped']);

let publications: Publisher;
let proxy: OpenSearchProxy;
let moment: Moment | undefined;

/** Settles once the moment has come and everything has been killed. */
let killed = Promise.withResolvers<number>();

beforeAll(async () => {
  publications = await publisher({ rows: ROWS });
  proxy = await openSearchProxy(publications.environment.config.OPENSEARCH_URL, async (request) => {
    if (moment?.is(request) !== true) return request.forward();
    if (moment.isDone) await request.forward();
    moment = undefined;
    await killAll();
    killed.resolve(Date.now());
    return undefined;
  });
}, 120_000);
beforeEach(async () => {
  killed = Promise.withResolvers();
  await publications.makeReady();
  await publications.startWorker({ OPENSEARCH_URL: proxy.url });
}, 60_000);
afterAll(async () => {
  await publications.stop();
  await proxy.close();
});

async function killAll(): Promise<void> {
  const { child } = publications.worker();
  const children = await childrenOf(child.pid ?? 0);
  child.kill('SIGKILL');
  for (const id of children) process.kill(id, 'SIGKILL');
}

for (const each of MOMENTS.filter(({ name }) => inForm({ short: SHORT.has(name), full: true }))) {
  faultTest(
    'worker and its process killed (SIGKILL) at a chosen request',
    `when ${each.name}`,
    async () => {
      const publication = await publications.begin('large');
      moment = each;
      const killedAt = await Promise.race([killed.promise, publication.ended]);
      if (typeof killedAt !== 'number') throw new Error('The publication ended without this request.');
      await lapseLocks(publications.environment);
      await publications.startWorker();
      await publications.expectPublished(publication);
      const seconds = (Date.now() - killedAt) / 1000;
      await publications.expectRecovered('large');
      return { seconds, outcome: 'the next worker ends it; live' };
    },
    60_000,
  );
}
