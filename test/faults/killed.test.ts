/** @room outages @long */
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { isBulk } from '../support/bulk-faults.ts';
import { killChildrenOf } from '../support/children.ts';
import { inForm } from '../support/fault-form.ts';
import {
  type FatalRequest,
  type KillingProxy,
  killingProxy,
  type RequestFilter,
} from '../support/kill-at-request.ts';
import { lapseLocks, type Publisher, publisher } from '../support/publisher.ts';
import { type RandomRequest, randomRequests } from '../support/random-moments.ts';

/** Enough for several bulk requests. */
const ROWS = inForm({ short: 1000, long: 10_000 });
/** Each night draws other requests. */
const WORKER_KILLS = inForm({ short: 0, long: 12 });
const PATIENT_WORKER_KILLS = inForm({ short: 0, long: 1 });
const PROCESS_KILLS = inForm({ short: 1, long: 6 });

/** So few are kept that every publication deletes one: the requests are then the same each time. */
const SETTINGS = { KEEP_PUBLICATIONS: '2' };

let publications: Publisher;
let proxy: KillingProxy;

/** How many requests a publication of the second day makes without a fault. */
let undisturbed: { readonly bulk: number; readonly other: number };

const isOther: RequestFilter = (request) => !isBulk(request);

beforeAll(async () => {
  publications = await publisher({ rows: ROWS, settings: SETTINGS });
  proxy = await killingProxy(publications);
  await publications.startWorker({ OPENSEARCH_URL: proxy.url });
  const [bulk = 0, other = 0] = await proxy.requestsWithoutFault(isBulk, isOther);
  expect(bulk).toBeGreaterThan(0);
  undisturbed = { bulk, other };
});
beforeEach(async () => {
  await publications.makeReady();
  await publications.startWorker({ OPENSEARCH_URL: proxy.url });
});

/** The request at this random place of a publication without a fault. */
function requestAt({ isBulk: isBulkDrawn, share, isDone }: RandomRequest): FatalRequest {
  const count = isBulkDrawn ? undisturbed.bulk : undisturbed.other;
  return { is: isBulkDrawn ? isBulk : isOther, after: Math.floor(share * count), isDone };
}

function killWorker(): Promise<void> {
  return publications.worker().kill();
}

for (const random of randomRequests(WORKER_KILLS, 'worker')) {
  test(`worker killed (SIGKILL) at a random request, its job lock expires immediately: ${random.name}`, () =>
    proxy.killAt(requestAt(random), {
      kill: killWorker,
      recover: async () => {
        await lapseLocks(publications.environment);
        await publications.startWorker();
      },
    }));
}

for (const random of randomRequests(PATIENT_WORKER_KILLS, 'worker, lock waited for')) {
  test(`worker killed (SIGKILL) at a random request, its job lock expires after its normal time: ${random.name}`, () =>
    proxy.killAt(requestAt(random), {
      kill: killWorker,
      recover: () => publications.startWorker(),
    }));
}

for (const random of randomRequests(PROCESS_KILLS, 'process')) {
  test(`the publication's child process killed (SIGKILL) at a random request: ${random.name}`, () =>
    proxy.killAt(requestAt(random), {
      kill: () => killChildrenOf(publications.worker().child.pid ?? 0),
      recover: () => publications.worker().printed('signal: SIGKILL'),
    }));
}
