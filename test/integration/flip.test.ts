import { afterEach, expect, test } from '@jest/globals';
import { testEnvironment } from '../../scripts/environment.ts';
import {
  currentEpoch,
  FlipRefusedError,
  flip,
  readEpoch,
  releaseEpoch,
  takeEpochAfter,
} from '../../src/publications/fence.ts';
import { appendEvent } from '../../src/publications/ledger.ts';
import { indicesUnderAlias, licensesIndices, liveIndex, newId } from '../../src/publications/metadata.ts';
import { prune } from '../../src/publications/prune.ts';
import { licensesIndexName } from '../../src/storage/store.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { takeEpoch } from '../support/epoch.ts';
import { loseResponse, type ProxyStep, throughProxy } from '../support/proxy.ts';
import { newEnvironment } from '../support/publication-days.ts';

const environment = await newEnvironment();
const { client, store } = environment;
afterEach(async () => {
  expect((await under()).length).toBeLessThanOrEqual(1);
  await client.indices.delete({ index: store.names.licensesPattern, ignore_unavailable: true });
});

async function newIndex(): Promise<string> {
  const index = licensesIndexName(environment.config.INDEX_PREFIX, '2026-11-20', newId());
  await client.indices.create({ index });
  return index;
}

const epoch = (holder: string) => takeEpoch(store, holder);
const flipTo = (index: string, under: number) => flip(store, { to: index, epoch: under });
const under = () => indicesUnderAlias(store);

/** A new index that is made live. */
async function newLive(): Promise<string> {
  const index = await newIndex();
  await flipTo(index, await epoch(index));
  return index;
}

/** Flips through a proxy in which this step gets the requests that switch the alias. */
const flipThrough = (step: ProxyStep, change: Parameters<typeof flip>[1]) =>
  throughProxy(
    environment,
    (request) => (request.path.startsWith('/_aliases') ? step(request) : request.forward()),
    ({ store }) => flip(store, change),
  );

/** The aliases of each index that has any. */
async function aliases(): Promise<Record<string, string[]>> {
  const { client, prefix } = store;
  const { body } = await client.indices.getAlias({ index: `${prefix}licenses-*` });
  const named = Object.entries(body).map(([index, each]) => [index, Object.keys(each.aliases).toSorted()]);
  return Object.fromEntries(named.filter(([, names]) => (names ?? []).length > 0));
}

test('the epoch grows by one each time it is taken, even ten times simultaneously', async () => {
  const before = await epoch('before');
  const taken = await Promise.all(Array.from({ length: 10 }, (_, at) => epoch(`taker ${at}`)));
  expect(taken.toSorted((one, other) => one - other)).toEqual(taken.map((_, at) => before + at + 1));
  expect(await currentEpoch(store)).toBe(before + 10);
});

test('a flip makes the first index live, and later replaces the live index', async () => {
  const [first, second] = [await newIndex(), await newIndex()];
  expect(await flipTo(first, await epoch('first'))).toBeUndefined();
  expect([await flipTo(second, await epoch('second')), await under()]).toEqual([first, [second]]);
  await flip(store, { to: first, epoch: await epoch('rollback'), isRollback: true });
  const rolledBack = [store.names.rolledBack, store.names.wasLive];
  const live = [store.names.alias, store.names.wasLive];
  expect(await aliases()).toEqual({ [first]: live, [second]: rolledBack });
  await flipTo(second, await epoch('forward'));
  expect(await aliases()).toEqual({ [first]: [store.names.wasLive], [second]: live });
});

interface Race {
  readonly isRollback: boolean;
  /** What the later one found live. */
  readonly uses?: readonly string[];
  readonly isResponseLost?: boolean;
}

/** Takes the next epoch once the alias has switched to an index, before the flip looks again. */
const flipFenced = (to: string, under: number, { isRollback, uses = [], isResponseLost = false }: Race) =>
  flipThrough(
    async (request) => {
      const answer = await request.forward();
      const read = await readEpoch(store);
      if (read.epoch !== under) return answer;
      await takeEpochAfter(store, read, 'later', uses);
      return isResponseLost ? undefined : answer;
    },
    { to, epoch: under, isRollback },
  );

test.each<Race>([{ isRollback: false }, { isRollback: true }, { isRollback: false, isResponseLost: true }])(
  'a flip that is fenced right after it switched is taken back, with its mark, unless the later one found it live: %j',
  async (race) => {
    const [first, second] = [await newLive(), await newLive()];
    const before = await aliases();
    const to = race.isRollback ? first : await newIndex();
    const flipping = flipFenced(to, await epoch('fenced'), race);
    await expect(flipping).rejects.toThrow('it was taken back');
    expect(await aliases()).toEqual(before);
    const found = { isRollback: race.isRollback, uses: [to] };
    expect([await flipFenced(to, await epoch('found'), found), await under()]).toEqual([second, [to]]);
  },
);

const alreadySwitched: ProxyStep = async (request) => {
  await request.forward();
  return { status: 404, body: '{"error":{"type":"aliases_not_found_exception"},"status":404}' };
};
test.each([
  ['its response is lost', loseResponse],
  ['another node, asked again, answers that the alias has switched', alreadySwitched],
])('a flip has been made although %s', async (_what, step) => {
  const [first, second] = [await newLive(), await newIndex()];
  expect(await flipThrough(step, { to: second, epoch: await epoch('second') })).toBe(first);
  expect(await under()).toEqual([second]);
});

test('a flip changes nothing when a later one has made the same index live and ended', async () => {
  const [first, second] = [await newLive(), await newLive()];
  const back = async () => ({ to: first, epoch: await epoch('rollback'), isRollback: true });
  let isPaused = false;
  const flipping = flipThrough(
    async (request) => {
      if (!isPaused) {
        isPaused = true;
        await flip(store, await back());
        await releaseEpoch(store, await currentEpoch(store), first);
      }
      return request.forward();
    },
    await back(),
  );
  expect([await flipping, await under()]).toEqual([second, [first]]);
});

test('a flip is refused when a later publication or rollback has started, even if the same index is live again', async () => {
  const [a, b, paused] = [await newLive(), await newIndex(), await newIndex()];
  const pausedEpoch = await epoch('paused');
  let switches = 0;
  const expectRefused = async () => {
    const flipping = flipThrough(
      (request) => {
        switches += 1;
        return request.forward();
      },
      { to: paused, epoch: pausedEpoch },
    );
    await expect(flipping).rejects.toThrow(FlipRefusedError);
  };
  await flipTo(b, await epoch('b'));
  await expectRefused();
  await flipTo(a, await epoch('back to a'));
  await expectRefused();
  // It was not live for a moment either.
  expect([switches, await under()]).toEqual([0, [a]]);
});

test('a flip replaces an index that another first publication made live with an older epoch', async () => {
  const [one, other] = [await newIndex(), await newIndex()];
  const alias = store.names.alias;
  await epoch('one');
  const later = await epoch('other');
  await client.indices.updateAliases({ body: { actions: [{ add: { index: one, alias } }] } });
  await flipTo(other, later);
  expect(await under()).toEqual([other]);
});

test('an index with the name of the alias makes the start fail, so that it gets no documents', async () => {
  const { store, client } = await testEnvironment();
  await client.indices.create({ index: store.names.alias });
  await expect(prepareIndices(store)).rejects.toThrow('where the alias of the live publication belongs');
  expect(await liveIndex(store)).toBeUndefined();
});

test('a prune deletes what is obsolete although the disk is full', async () => {
  const [old, now] = [await newIndex(), await newIndex()];
  for (const [at, index] of [old, now].entries()) {
    const metadata = {
      ...{ publication: `p-${at}`, epoch: await epoch(`p-${at}`), date: '2026-11-20', sample: false },
      ...{ started_at: new Date().toISOString(), service_version: 'test' },
    };
    await client.indices.putMapping({ index, body: { _meta: metadata } });
    await appendEvent(store, { publication: `p-${at}`, event: 'live', index });
    await flipTo(index, await epoch('flip'));
  }
  await releaseEpoch(store, await currentEpoch(store), now);
  const full = (block: true | null) =>
    client.indices.putSettings({
      index: `${store.prefix}*`,
      body: { 'index.blocks.read_only_allow_delete': block },
    });
  await full(true);
  expect(await prune(store, 1)).toEqual([old]);
  expect([(await licensesIndices(store)).map(({ index }) => index), await under()]).toEqual([[now], [now]]);
  await full(null);
  expect(await prune(store, 1)).toEqual([]);
});
