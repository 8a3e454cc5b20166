/** @room races @long */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { appendEvent } from '../../src/publications/ledger.ts';
import { indicesUnderAlias, newId } from '../../src/publications/metadata.ts';
import { prune } from '../../src/publications/prune.ts';
import { rollBack } from '../../src/publications/rollback.ts';
import { countDocuments } from '../../src/storage/checked-search.ts';
import { licensesIndexName, type Store } from '../../src/storage/store.ts';
import { takeEpoch } from '../support/epoch.ts';
import { SEED } from '../support/fault-form.ts';
import { type ProxiedRequest, throughProxy } from '../support/proxy.ts';
import { filesOf, newEnvironment, nurses } from '../support/publication-days.ts';
import { publishFiles } from '../support/publishing.ts';

const NURSING = 'Nursing Board';
const SAMPLE_COUNTS = { rows: 20, licenses: 20, endorsements: 0, rejected: 0 };

const environment = await newEnvironment({ KEEP_PUBLICATIONS: '1' });
const { client, store } = environment;
const day = (count: number) => filesOf(environment, '2026-11-23', { individual: nurses(count) });
const [files, fewer] = [await day(20), await day(2)];
/** The indices of three publications, the last of which is live. */
let indices: string[] = [];
let publications: string[] = [];

/** Leaves three publications, the last of which is live. */
async function threePublications(): Promise<void> {
  await client.indices.refresh({ index: [store.names.ledger, store.names.changes] });
  await client.indices.delete({ index: [store.names.licensesPattern, store.names.digestsPattern] });
  await client.deleteByQuery({
    index: [store.names.ledger, store.names.changes],
    conflicts: 'proceed',
    refresh: true,
    body: { query: { bool: { must_not: { ids: { values: ['epoch'] } } } } },
  });
  publications = [newId(), newId(), newId()];
  indices = [];
  for (const [at, publication] of publications.entries()) {
    const date = `2026-11-2${at}`;
    const index = licensesIndexName(store.prefix, date, newId());
    const epoch = await takeEpoch(store, publication);
    const metadata = {
      ...{ publication, epoch, date, sample: false, started_at: new Date().toISOString() },
      ...{ service_version: 'test', counts: SAMPLE_COUNTS, boards: { [NURSING]: 20 } },
    };
    await client.indices.create({ index, body: { mappings: { _meta: metadata } } });
    await client.index({ index, id: 'NUR/1', body: { license_number: 'RN.1' }, refresh: true });
    const { counts, boards } = metadata;
    await appendEvent(store, { publication, event: 'live', index, epoch, date, counts, boards });
    if (at < 2) await appendEvent(store, { publication, event: 'superseded', index });
    indices.push(index);
  }
  const add = { index: indices[2] ?? '', alias: store.names.alias };
  await client.indices.updateAliases({ body: { actions: [{ add }] } });
}

/** What works on the publications of an installation, as a command or the worker does. */
type Operation = (store: Store) => Promise<unknown>;

const OPERATIONS: readonly (readonly [name: string, Operation])[] = [
  ['prune', (store) => prune(store, 1)],
  ['rollback', (store) => rollBack(store)],
  ['rollback --to the oldest', (store) => rollBack(store, publications[0])],
  ['a publication that goes live', (store) => publishFiles({ ...environment, store }, files)],
  ['a refused publication', (store) => publishFiles({ ...environment, store }, fewer, { isGuarded: true })],
];

/** Pairs of which the first is paused. */
const PAIRS = OPERATIONS.flatMap(([first, paused]) =>
  OPERATIONS.map(([second, other]) => [first, second, paused, other] as const),
);

/** Requests that decide who is first: every night pauses before these. */
const DECISIVE = /^(POST \/_aliases|DELETE |GET \/_alias|(PUT|POST) [^ ]*(_doc\/epoch|_mapping))/;

/** Requests that every operation makes in the same way and that no other operation notices. */
const PREPARATION = /^(\w+ \/_index_template\/|HEAD )/;

/** A night pauses before every third of the other requests. By their seeds, three nights pause before all. */
const NIGHTS = 3;

/** Requests before which the first operation is paused. Of a row of equal requests, only the first is one. */
function countedRequests(): (request: ProxiedRequest) => boolean {
  let last: string | undefined;
  let others = SEED;
  return ({ method, path }) => {
    const request = `${method} ${path}`;
    const isRepeated = request === last;
    last = request;
    if (DECISIVE.test(request)) return !isRepeated;
    if (isRepeated || PREPARATION.test(request)) return false;
    others += 1;
    return others % NIGHTS === 0;
  };
}

/** Requests that only read, or that only make searchable what a load has written: lookups get the same as before. */
const READS = /^(GET|HEAD) |\/_(m?search|mget|count|refresh|flush)\b/;

/** Lookups ask the alias. */
async function expectAnswers(): Promise<void> {
  expect(await countDocuments(client, store.names.alias)).toBeGreaterThan(0);
}

/** Runs an operation with its own store, and looks at what lookups get after each of its requests that writes. */
async function ran(operation: Operation, before: (request: ProxiedRequest) => Promise<void>) {
  const running = throughProxy(
    environment,
    async (request) => {
      await before(request);
      const answer = await request.forward();
      if (!READS.test(`${request.method} ${request.path}`)) await expectAnswers();
      return answer;
    },
    ({ store }) => operation(store),
  );
  const [ended] = await Promise.allSettled([running]);
  return ended;
}

/**
 * Runs an operation, pauses it before its counted request of this number, runs another to its end, and continues.
 * `second` and `pausedAt` are undefined if the first one makes fewer requests.
 */
async function interleaved(first: Operation, second: Operation, number: number) {
  const isCounted = countedRequests();
  let made = 0;
  let pausedAt: string | undefined;
  let secondEnded: PromiseSettledResult<unknown> | undefined;
  const firstEnded = await ran(first, async (request) => {
    if (isCounted(request)) made += 1;
    if (made !== number || pausedAt !== undefined) return;
    pausedAt = `${request.method} ${request.path.replaceAll(store.prefix, '')}`;
    secondEnded = await ran(second, async () => undefined);
  });
  return { first: firstEnded, second: secondEnded, pausedAt };
}

/** What an operation returns that made an index live. */
const madeLive = z.union([
  z.object({ to: z.object({ index: z.string() }) }).transform(({ to }) => to.index),
  z.object({ state: z.literal('live'), index: z.string() }).transform(({ index }) => index),
]);

const EXPECTED_ERRORS =
  /later publication or rollback|went live while|to roll back to|being deleted|was deleted/;

describe('one live index is left, and lookups are answered all the time, when before each request of one', () => {
  test.each(PAIRS)(
    '%s waits for: %s',
    async (_first, _second, paused, other) => {
      for (let number = 1; ; number += 1) {
        await threePublications();
        const ended = await interleaved(paused, other, number);
        if (ended.pausedAt === undefined) {
          expect([ended.first.status, number > 2]).toEqual(['fulfilled', true]);
          return;
        }
        const under = await indicesUnderAlias(store);
        const outcomes = [ended.first, ended.second].filter((each) => each !== undefined);
        const errors = outcomes.flatMap((each) => (each.status === 'rejected' ? [String(each.reason)] : []));
        expect({ number, ...ended, under }).toMatchObject({ under: [expect.any(String)] });
        await expectAnswers();
        for (const error of errors) expect(`${ended.pausedAt}: ${error}`).toMatch(EXPECTED_ERRORS);
        const made = outcomes.flatMap((each) =>
          each.status === 'fulfilled' ? (madeLive.safeParse(each.value).data ?? []) : [],
        );
        expect(made.length === 0 ? indices.slice(2) : made).toContain(under[0]);
      }
    },
    3_600_000,
  );
});
