/** @room outages */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test } from '@jest/globals';
import { createRandom } from '../../sample-data/generator/random.ts';
import { liveIndex } from '../../src/publications/metadata.ts';
import { apiClient, waitForLive } from '../support/api.ts';
import { isBulk } from '../support/bulk-faults.ts';
import { changesPage } from '../support/changes.ts';
import { killChildrenOf } from '../support/children.ts';
import { inForm, SEED } from '../support/fault-form.ts';
import { feedCopy, type LicenseCopy, licensesInIndex } from '../support/feed-copy.ts';
import { ownOpenSearch } from '../support/own-servers.ts';
import type { ProxiedRequest } from '../support/proxy.ts';
import { expectLiveResult, lapseLocks, publisher } from '../support/publisher.ts';

/** The long form has enough for several bulk requests. */
const ROWS = inForm({ short: 2000, long: 10_000 });
const AWAY_MS = 2000;

type RequestFilter = (request: ProxiedRequest) => boolean;

/** A request of a publication that is never answered. */
interface Moment {
  readonly name: string;
  readonly is: RequestFilter;
  /** Whether OpenSearch still does what it asks for. */
  readonly isDone: boolean;
  /** Its place among such requests of a publication without a fault: from 0, the first, up to but not including 1. */
  readonly share?: number;
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

const FLIPPED: Moment = { name: 'when the alias has flipped', isDone: true, is: isFlip };
const CHOSEN: readonly Moment[] = [
  { name: 'when the index has been created', isDone: true, is: isRequest('PUT', INDEX) },
  { name: 'when the ledger is about to record the load', isDone: false, is: isLedgerEvent('loading') },
  { name: 'when the first documents are stored', isDone: true, is: isRequest('POST', `${INDEX}/_bulk`) },
  { name: 'when it is about to be verified', isDone: false, is: isRequest('GET', `${INDEX}/_refresh`) },
  { name: 'when the counts have been stored', isDone: true, is: isRequest('POST', `${INDEX}/_mapping`) },
  { name: 'when it is about to be made durable', isDone: false, is: isRequest('PUT', `${INDEX}/_settings`) },
  { name: 'when the alias is about to flip', isDone: false, is: isFlip },
  FLIPPED,
  { name: 'when the ledger is about to record that it is live', isDone: false, is: isLedgerEvent('live') },
  { name: 'when the ledger has recorded that it is live', isDone: true, is: isLedgerEvent('live') },
  { name: 'when it is about to record what it replaced', isDone: false, is: isLedgerEvent('superseded') },
  { name: 'when the oldest index is about to be deleted', isDone: false, is: isDelete },
];

/** A worker asks for the health until it is answered, so there may be any number of these requests. */
const isOther: RequestFilter = (request) => !isBulk(request) && !request.path.startsWith('/_cluster/health');
/** It reads or writes digests or changes. */
const isComparing: RequestFilter = ({ path }) => /\/[^/]*(license-digests-|changes\/)/.test(path);
/** How many a publication of the second day makes without a fault. */
const counts = new Map<RequestFilter, number>([isBulk, isOther, isComparing].map((filter) => [filter, 0]));

/** Requests drawn from these kinds in turn. Each night draws others. */
function drawn(count: number, purpose: string, ...kinds: readonly RequestFilter[]): Moment[] {
  const random = createRandom(SEED, purpose);
  return Array.from({ length: count }, (_, at) => ({
    name: `at random request ${at + 1}, ${purpose}`,
    is: kinds[at % kinds.length] ?? isOther,
    share: random(),
    isDone: random() < 0.5,
  }));
}

interface Kill {
  /** Must throw when it kills nothing. */
  readonly kill: () => Promise<unknown>;
  readonly recover?: (publication: string) => Promise<unknown>;
  /** Whether the publication may go live at its first attempt. */
  readonly mayContinue?: boolean;
}

/** In the long form alone. */
const openSearch = await inForm({ short: undefined, long: ownOpenSearch })?.();
const own: Record<string, string> = openSearch === undefined ? {} : { OPENSEARCH_URL: openSearch.url };
// So few are kept that every publication deletes one: the requests are then the same each time.
const settings = { KEEP_PUBLICATIONS: '2', REST_REQUESTS_PER_MINUTE: '1000000', ...own };
const publications = await publisher(ROWS, settings, true);
const { environment } = publications;
const rest = await apiClient(environment);

const killProcess = () => killChildrenOf(publications.worker().child.pid ?? 0);
const killWorker = () => publications.worker().kill();

async function nextWorker(): Promise<void> {
  await lapseLocks(environment);
  await publications.restart();
}

const KILLS = {
  'worker and its child process': {
    kill: async () => {
      await killProcess();
      await killWorker();
    },
    recover: nextWorker,
  },
  worker: { kill: killWorker, recover: nextWorker },
  'worker, whose job lock expires after its normal time': {
    kill: killWorker,
    recover: () => publications.restart(),
  },
  "publication's child process": { kill: killProcess },
  OpenSearch: {
    kill: async () => openSearch?.kill(),
    recover: async (publication) => {
      await sleep(AWAY_MS);
      expect(await openSearch?.isListening()).toBe(false);
      // OpenSearch records the end of the publication. While it is away, the publication cannot have ended.
      await publications.expectUnderWay(publication);
      await openSearch?.start();
    },
    mayContinue: true,
  },
} satisfies Record<string, Kill>;

const CASES: readonly (readonly [keyof typeof KILLS, readonly Moment[]])[] = inForm({
  short: [['worker and its child process', [FLIPPED]]],
  long: [
    ['worker and its child process', CHOSEN],
    ['worker', drawn(12, 'worker', isBulk, isOther)],
    ['worker', drawn(20, 'changes', isComparing)],
    ['worker, whose job lock expires after its normal time', drawn(1, 'lock waited for', isBulk)],
    ["publication's child process", drawn(6, 'process', isBulk, isOther)],
    ['OpenSearch', drawn(3, 'OpenSearch', isBulk)],
    ['OpenSearch', drawn(4, 'changes and OpenSearch', isComparing)],
  ],
});

async function liveLicenses(): Promise<LicenseCopy> {
  await waitForLive(environment);
  return licensesInIndex(environment.store, (await liveIndex(environment.store)) ?? '');
}

/** What a client has that follows the feed. */
const copy = feedCopy(await liveLicenses(), (await changesPage(rest, { since: 'latest' })).next);
publications.disturb((request) => {
  for (const [filter, count] of counts) if (filter(request)) counts.set(filter, count + 1);
  return request.forward();
});
expectLiveResult(await publications.publish('second'));
expect(Math.min(...counts.values())).toBeGreaterThan(0);

beforeEach(() => publications.makeReady());

const KILLED = CASES.flatMap(([what, moments]) =>
  moments.map((moment) => [what, moment.name, moment] as const),
);

test.each(KILLED)('%s killed (SIGKILL) %s', async (what, _name, { is, isDone, share = 0 }) => {
  const { kill, recover, mayContinue = false }: Kill = KILLS[what];
  const number = 1 + Math.floor(share * (counts.get(is) ?? 0));
  const [held, released] = [Promise.withResolvers<'held'>(), Promise.withResolvers<void>()];
  let made = 0;
  publications.disturb(async (request) => {
    if (is(request)) made += 1;
    if (!is(request) || made !== number) return request.forward();
    if (isDone) await request.forward();
    held.resolve('held');
    await released.promise;
    return undefined;
  });
  const { publication, ended } = await publications.begin('second');
  if ((await Promise.race([held.promise, ended])) !== 'held')
    throw new Error('The publication ended without the request at which it was to be interrupted.');
  await kill().finally(() => released.resolve());
  await recover?.(publication);
  expectLiveResult(await ended);
  if (!mayContinue) await publications.expectInterrupted(publication);
  await publications.expectRecovered('second');
  const live = await liveLicenses();
  await copy.catchUp(rest, 100);
  expect(copy.licenses).toEqual(live);
});
