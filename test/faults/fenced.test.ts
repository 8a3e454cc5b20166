import { beforeEach, describe, expect, test } from '@jest/globals';
import { testEnvironment } from '../../scripts/environment.ts';
import { deleteIndex } from '../../src/publications/fence.ts';
import {
  type PublishResult,
  publicationDetails,
  publicationHistory,
} from '../../src/publications/history.ts';
import { indicesUnderAlias, licensesIndices, newId, readMetadata } from '../../src/publications/metadata.ts';
import { rollBack } from '../../src/publications/rollback.ts';
import { countDocuments } from '../../src/storage/checked-search.ts';
import { licensesIndexName } from '../../src/storage/store.ts';
import { times } from '../support/fixtures.ts';
import { throughProxy } from '../support/proxy.ts';
import { filesOf, nurses, published } from '../support/publication-days.ts';
import { publishFiles } from '../support/publishing.ts';

const environment = await testEnvironment({ KEEP_PUBLICATIONS: '100' });
const { client, store } = environment;
/** Two publications; the second is live before each test. */
const first = await published(environment, '2026-11-20');
const second = await published(environment, '2026-11-21');

beforeEach(async () => {
  const [index] = await live();
  if (index !== second.index) await back(second.publication);
});

const live = () => indicesUnderAlias(store);
const back = (to?: string) => rollBack(store, to);

async function backAndForward(): Promise<void> {
  await back();
  await back(second.publication);
}

/** Publishes another day, and rolls it back. */
async function anotherAndBack(): Promise<void> {
  await published(environment, '2026-11-23');
  await back();
}

/** Makes an index live as a publication does that has its epoch already. */
async function switchTo(index: string): Promise<void> {
  const { alias } = store.names;
  const [now = ''] = await live();
  const actions = [{ remove: { index: now, alias } }, { add: { index, alias } }];
  await client.indices.updateAliases({ body: { actions } });
}

const AT = {
  /** Its first event. */
  'opens its files': /^POST \/[^/]*publications\/_doc\b/,
  'creates its index': /^PUT \/[^/]*licenses-\d{4}/,
  'sends its licenses': /_bulk/,
  'is verified': /licenses-[^/]+\/_refresh/,
  'is made durable': /licenses-[^/]+\/_flush/,
  'is about to flip': /^POST \/_aliases/,
} as const;

/**
 * Pauses a publication at its first request of this kind while something else is done. Returns how it ended, and the
 * status of its flip, which it does not request after it was fenced.
 */
async function pausedAt(moment: keyof typeof AT, meanwhile: () => Promise<unknown>) {
  const files = await filesOf(environment, '2026-11-22', { individual: nurses(19) });
  let isDone = false;
  let flipped: number | undefined;
  const result = await publishFiles(environment, files, {
    through: async (request) => {
      const asked = `${request.method} ${request.path}`;
      if (!isDone && AT[moment].test(asked)) {
        isDone = true;
        await meanwhile();
      }
      const answer = await request.forward();
      const isFlip = AT['is about to flip'].test(asked) && !request.body.includes('remove_index');
      if (isDone && isFlip) flipped = answer.status;
      return answer;
    },
  });
  expect(isDone).toBe(true);
  return { result, flipped };
}

/** Expects that a publication was refused because of what came in between. */
const expectFenced = (result: PublishResult, why = '') =>
  expect(result).toMatchObject({
    state: 'refused',
    reasons: [expect.stringMatching(new RegExp(`^fenced: ${why}`))],
  });

describe('a publication that pauses when it', () => {
  test.each([
    ...(['creates its index', 'sends its licenses', 'is verified'] as const),
    ...(['is made durable', 'is about to flip'] as const),
  ])('%s does not go live if the operator rolls back meanwhile', async (moment) => {
    const { result, flipped } = await pausedAt(moment, () => back());
    expectFenced(result);
    expect(await live()).toEqual([first.index]);
    // It does not even request the flip, unless it was already doing so. Then what it takes the place of is not live
    // any more: OpenSearch refuses the whole call.
    expect(flipped).toBe(moment === 'is about to flip' ? 404 : undefined);
    const indices = await licensesIndices(store);
    expect(indices.map(({ metadata }) => metadata.publication)).not.toContain(result.publication);
  });

  test.each(['creates its index', 'is verified', 'is about to flip'] as const)(
    '%s does not go live if another goes live and is rolled back meanwhile',
    async (moment) => {
      const { result } = await pausedAt(moment, anotherAndBack);
      expectFenced(result);
      expect(await live()).toEqual([second.index]);
      const [latest, before] = (await publicationHistory(store)).publications;
      const refused = { publication: result.publication, state: 'refused' };
      expect([latest, before]).toMatchObject([{ state: 'rolled_back' }, refused]);
    },
  );

  test('is about to flip does not go live if the operator rolls back and forward meanwhile', async () => {
    expectFenced((await pausedAt('is about to flip', backAndForward)).result);
    expect(await live()).toEqual([second.index]);
  });

  test.each([
    ['the operator rolls back and forward', backAndForward, 'A later publication or rollback has begun'],
    [
      'an earlier one that has its epoch already goes live',
      () => switchTo(first.index),
      'Another publication went live since this one began',
    ],
  ])('opens its files does not even load them if %s meanwhile', async (_what, meanwhile, reason) => {
    const { result } = await pausedAt('opens its files', meanwhile);
    expectFenced(result, reason);
    const { events } = await publicationDetails(store, result.publication);
    expect(events.map(({ event }) => event)).toEqual(['reading', 'refused']);
    await switchTo(second.index);
  });

  test('sends its licenses has deleted what an earlier attempt left', async () => {
    const left = licensesIndexName(store.prefix, '2026-11-22', newId());
    const { sources: _none, ...metadata } = await readMetadata(store, second.index);
    await client.indices.create({ index: left, body: { mappings: { _meta: metadata } } });
    let isLeft = true;
    await pausedAt('sends its licenses', async () => {
      isLeft = (await client.indices.exists({ index: left })).body;
    });
    expect(isLeft).toBe(false);
  });

  const guarded = async (date: string) => {
    const result = await publishFiles(environment, await filesOf(environment, date), { isGuarded: true });
    expect(['refused', 'skipped']).toContain(result.state);
  };

  test.each([
    ['a rollback to a publication that there is not', () => back('typo').catch(() => undefined)],
    ['a publication of files that are too old', () => guarded('2026-10-01')],
    ['a publication of the files that are live', () => guarded('2026-11-21')],
  ])('is verified goes live if what comes meanwhile is refused: %s', async (_who, refused) => {
    const { result } = await pausedAt('is verified', refused);
    expect(result).toMatchObject({ state: 'live' });
  });
});

test('a rollback goes back from what went live just before it took its epoch', async () => {
  const late = await published(environment, '2026-11-22');
  await back(second.publication);
  let isSwitched = false;
  const { from, to } = await throughProxy(
    environment,
    async (request) => {
      if (!isSwitched && request.method === 'PUT' && request.path.includes('/_doc/epoch')) {
        isSwitched = true;
        await switchTo(late.index);
      }
      return request.forward();
    },
    ({ store }) => rollBack(store),
  );
  expect([from?.index, to.index]).toEqual([late.index, second.index]);
  expect(await live()).toEqual([second.index]);
});

test('a flip that arrives only when its publication has given up leaves one live index', async () => {
  const files = await filesOf(environment, '2026-11-22');
  let late: (() => Promise<unknown>) | undefined;
  let isLate = false;
  await publishFiles(environment, files, {
    through: async ({ path, method, body, forward }) => {
      const isDelete = body.includes('remove_index');
      if (path.startsWith('/_aliases') && !isDelete && late === undefined) {
        late = forward;
        return undefined;
      }
      const isDiscard = method !== 'GET' && (isDelete || /^\/[^/]*licenses-\d[^/]*$/.test(path));
      if (late !== undefined && !isLate && isDiscard) {
        isLate = true;
        await late();
      }
      return forward();
    },
  }).catch(() => undefined);
  expect(isLate).toBe(true);
  const [index = '', ...others] = await live();
  expect(others).toEqual([]);
  expect(await countDocuments(client, index)).toBeGreaterThan(0);
});

test('an index that several processes delete at the same moment is no error', async () => {
  for (let round = 0; round < 5; round += 1) {
    const index = `${store.prefix}license-digests-2026-11-20-round${round}`;
    await client.indices.create({ index });
    await Promise.all(times(4, () => deleteIndex(store, index)));
    expect((await client.indices.exists({ index })).body).toBe(false);
  }
});

test.each([1, 2])('two simultaneous first publications leave one index, which is live (%d)', async () => {
  const own = await testEnvironment();
  const [one, other] = [await filesOf(own, '2026-11-20'), await filesOf(own, '2026-11-21')];
  const results = await Promise.all([publishFiles(own, one), publishFiles(own, other)]);
  expect(results.map(({ state }) => state).toSorted()).toEqual(['live', 'refused']);
  const under = await indicesUnderAlias(own.store);
  const lives = results.filter(({ state }) => state === 'live');
  expect(lives).toEqual([expect.objectContaining({ index: under[0] })]);
  expect((await licensesIndices(own.store)).map(({ index }) => index)).toEqual(under);
});
