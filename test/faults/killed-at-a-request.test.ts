/** @room outages */
import { beforeAll, beforeEach, test } from '@jest/globals';
import { killChildrenOf } from '../support/children.ts';
import { inForm } from '../support/fault-form.ts';
import {
  type FatalRequest,
  type KillingProxy,
  killingProxy,
  type RequestFilter,
} from '../support/kill-at-request.ts';
import { lapseLocks, type Publisher, publisher } from '../support/publisher.ts';

const ROWS = 2000;

/** A request of a publication, during which the worker and its child process are killed. */
interface Moment extends Omit<FatalRequest, 'after'> {
  readonly name: string;
}

const INDEX = /licenses-\d{4}-\d{2}-\d{2}-\w+/.source;

function isRequest(method: string, path: string): RequestFilter {
  const pattern = new RegExp(`${path}(\\?|$)`);
  return (request) => request.method === method && pattern.test(request.path);
}

function isLedgerEvent(event: string): RequestFilter {
  return ({ path, body }) => path.includes('publications/_doc') && body.includes(`"event":"${event}"`);
}

/** One call of `_aliases` flips the alias; others delete an index, in the same moment in which another one is live. */
const isAliases = isRequest('POST', '_aliases');
const isDelete: RequestFilter = (request) => isAliases(request) && request.body.includes('"remove_index"');
const isFlip: RequestFilter = (request) => isAliases(request) && !isDelete(request);

const MOMENTS: readonly Moment[] = [
  { name: 'the index has been created', isDone: true, is: isRequest('PUT', INDEX) },
  { name: 'the ledger is about to record the load', isDone: false, is: isLedgerEvent('loading') },
  { name: 'the first documents have been stored', isDone: true, is: isRequest('POST', `${INDEX}/_bulk`) },
  { name: 'the index is about to be verified', isDone: false, is: isRequest('GET', `${INDEX}/_refresh`) },
  { name: 'the counts have been stored', isDone: true, is: isRequest('POST', `${INDEX}/_mapping`) },
  {
    name: 'the index is about to be made durable',
    isDone: false,
    is: isRequest('PUT', `${INDEX}/_settings`),
  },
  { name: 'the alias is about to flip', isDone: false, is: isFlip },
  { name: 'the alias has flipped', isDone: true, is: isFlip },
  { name: 'the ledger is about to record that it is live', isDone: false, is: isLedgerEvent('live') },
  { name: 'the ledger has recorded that it is live', isDone: true, is: isLedgerEvent('live') },
  {
    name: 'the ledger is about to record which publication it replaced',
    isDone: false,
    is: isLedgerEvent('superseded'),
  },
  { name: 'the oldest index is about to be deleted', isDone: false, is: isDelete },
];

const SHORT: ReadonlySet<string> = new Set(['the alias has flipped']);

let publications: Publisher;
let proxy: KillingProxy;

beforeAll(async () => {
  publications = await publisher({ rows: ROWS });
  proxy = await killingProxy(publications);
});
beforeEach(async () => {
  await publications.makeReady();
  await publications.startWorker({ OPENSEARCH_URL: proxy.url });
});

/** Kills the worker and the publication's own process. */
async function killAll(): Promise<void> {
  const worker = publications.worker();
  await killChildrenOf(worker.child.pid ?? 0);
  await worker.kill();
}

for (const moment of MOMENTS.filter(({ name }) => inForm({ short: SHORT.has(name), long: true }))) {
  test(`worker and its child process killed (SIGKILL) at a chosen request: when ${moment.name}`, () =>
    proxy.killAt(
      { ...moment, after: 0 },
      {
        kill: killAll,
        recover: async () => {
          await lapseLocks(publications.environment);
          await publications.startWorker();
        },
      },
    ));
}
