import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { killChildrenOf } from '../../scripts/children.ts';
import { faultTest, inForm } from '../support/fault-form.ts';
import {
  type InterruptedRequest,
  type InterruptingProxy,
  interruptingProxy,
  killAtRequest,
} from '../support/interrupting-proxy.ts';
import { lapseLocks, type Publisher, publisher } from '../support/publisher.ts';

const ROWS = 2000;

/** A request of a publication, at which the worker and its process are killed. */
interface Moment extends InterruptedRequest {
  readonly name: string;
}

type Asks = InterruptedRequest['is'];

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
let proxy: InterruptingProxy;

beforeAll(async () => {
  publications = await publisher({ rows: ROWS });
  proxy = await interruptingProxy(publications);
}, 300_000);
beforeEach(async () => {
  await publications.makeReady();
  await publications.startWorker({ OPENSEARCH_URL: proxy.url });
}, 300_000);
afterAll(async () => {
  await publications.stop();
  await proxy.close();
});

/** Kills the worker and the publication's own process. */
async function killAll(): Promise<void> {
  const worker = publications.worker();
  await killChildrenOf(worker.child.pid ?? 0);
  await worker.kill();
}

for (const moment of MOMENTS.filter(({ name }) => inForm({ short: SHORT.has(name), full: true }))) {
  faultTest(
    'worker and its process killed (SIGKILL) at a chosen request',
    `when ${moment.name}`,
    () =>
      killAtRequest(proxy, publications, moment, {
        kill: killAll,
        recover: async () => {
          await lapseLocks(publications.environment);
          await publications.startWorker();
        },
      }),
    300_000,
  );
}
