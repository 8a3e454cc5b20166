/** @room outages */
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { isBulk } from '../support/bulk-faults.ts';
import { killChildrenOf } from '../support/children.ts';
import { inForm, inLongFormOnly } from '../support/fault-form.ts';
import {
  type FatalRequest,
  type KillingProxy,
  killingProxy,
  type RequestFilter,
} from '../support/kill-at-request.ts';
import { lapseLocks, type Publisher, publisher } from '../support/publisher.ts';
import { type RandomRequest, randomRequests } from '../support/random-moments.ts';

/** Enough for several bulk requests. */
const ROWS = inForm({ short: 2000, long: 10_000 });

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

/** So few are kept that every publication deletes one: the requests are then the same each time. */
const SETTINGS = { KEEP_PUBLICATIONS: '2' };

let publications: Publisher;
let proxy: KillingProxy;

beforeAll(async () => {
  publications = await publisher({ rows: ROWS, settings: SETTINGS });
  proxy = await killingProxy(publications);
});
beforeEach(async () => {
  await publications.makeReady();
  await publications.startWorker({ OPENSEARCH_URL: proxy.url });
});

const killWorker = () => publications.worker().kill();
const killChild = () => killChildrenOf(publications.worker().child.pid ?? 0);

/** The lock of the killed worker's job expires immediately. */
async function recover(): Promise<void> {
  await lapseLocks(publications.environment);
  await publications.startWorker();
}

for (const moment of MOMENTS.filter(({ name }) => inForm({ short: SHORT.has(name), long: true }))) {
  test(`worker and its child process killed (SIGKILL) at a chosen request: when ${moment.name}`, () =>
    proxy.killAt(
      { ...moment, after: 0 },
      { kill: async () => [await killChild(), await killWorker()], recover },
    ));
}

inLongFormOnly(() => {
  const isOther: RequestFilter = (request) => !isBulk(request);
  /** How many requests a publication of the second day makes without a fault. */
  let undisturbed: readonly number[];

  beforeAll(async () => {
    await publications.startWorker({ OPENSEARCH_URL: proxy.url });
    undisturbed = await proxy.requestsWithoutFault(isBulk, isOther);
    expect(undisturbed[0]).toBeGreaterThan(0);
  });

  /** The request at this random place of a publication without a fault. Each night draws others. */
  function requestAt({ isBulk: isBulkDrawn, share, isDone }: RandomRequest): FatalRequest {
    const count = undisturbed[isBulkDrawn ? 0 : 1] ?? 0;
    return { is: isBulkDrawn ? isBulk : isOther, after: Math.floor(share * count), isDone };
  }

  for (const random of randomRequests(12, 'worker')) {
    test(`worker killed (SIGKILL) at a random request, its job lock expires immediately: ${random.name}`, () =>
      proxy.killAt(requestAt(random), { kill: killWorker, recover }));
  }

  for (const random of randomRequests(1, 'worker, lock waited for')) {
    test(`worker killed (SIGKILL) at a random request, its job lock expires after its normal time: ${random.name}`, () =>
      proxy.killAt(requestAt(random), { kill: killWorker, recover: () => publications.startWorker() }));
  }

  for (const random of randomRequests(6, 'process')) {
    test(`the publication's child process killed (SIGKILL) at a random request: ${random.name}`, () =>
      proxy.killAt(requestAt(random), {
        kill: killChild,
        recover: () => publications.worker().printed('signal: SIGKILL'),
      }));
  }
});
