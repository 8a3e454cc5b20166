import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { deleteIndex } from '../../src/publications/fence.ts';
import { publicationDetails, publicationHistory } from '../../src/publications/history.ts';
import { indicesUnderAlias, licensesIndices, newId, readMetadata } from '../../src/publications/metadata.ts';
import { rollBack } from '../../src/publications/rollback.ts';
import { countDocuments } from '../../src/storage/checked-search.ts';
import { licensesIndexName } from '../../src/storage/store.ts';
import { times } from '../support/fixtures.ts';
import { throughProxy } from '../support/proxy.ts';
import { filesOf, nurses, published } from '../support/publication-days.ts';
import { publishFiles } from '../support/publishing.ts';

let environment: TestEnvironment;

beforeAll(async () => {
  environment = await testEnvironment({ KEEP_PUBLICATIONS: '100' });
});

async function live(): Promise<string[]> {
  return indicesUnderAlias(environment.store);
}

function back(to?: string) {
  return rollBack(environment.store, to);
}

/**
 * Pauses a publication at its first request of this kind while something else is done. Returns how it ended, what was
 * live after the pause, and whether it requested the flip.
 */
async function pausedAt(date: string, at: RegExp, meanwhile: () => Promise<unknown>) {
  const files = await filesOf(environment, date, { individual: nurses(19) });
  let expected: string[] = [];
  let isDone = false;
  let hasFlipped = false;
  let flipped: number | undefined;
  const result = await throughProxy(
    environment,
    async (request) => {
      const asked = `${request.method} ${request.path}`;
      const isFlip = AT['is about to flip'].test(asked) && !request.body.includes('remove_index');
      if (isDone && isFlip) hasFlipped = true;
      if (!isDone && at.test(asked)) {
        isDone = true;
        await meanwhile();
        expected = await live();
      }
      const answer = await request.forward();
      if (isDone && isFlip) flipped = answer.status;
      return answer;
    },
    (through) => publishFiles(through, files),
  );
  expect(isDone).toBe(true);
  return { result, expected, hasFlipped, flipped };
}

/** Makes an index live as a publication does that has its epoch already. */
async function switchTo(index: string): Promise<void> {
  const { client, store } = environment;
  const { alias } = store.names;
  const [now = ''] = await live();
  const actions = [{ remove: { index: now, alias } }, { add: { index, alias } }];
  await client.indices.updateAliases({ body: { actions } });
}

const AT = {
  'creates its index': /^PUT \/[^/]*licenses-\d{4}/,
  'sends its licenses': /_bulk/,
  'is verified': /licenses-[^/]+\/_refresh/,
  'is made durable': /licenses-[^/]+\/_flush/,
  'is about to flip': /^POST \/_aliases/,
} as const;

/** Its first event. */
const AT_READING = /^POST \/[^/]*publications\/_doc\b/;

describe('a publication that pauses when it', () => {
  let first: Awaited<ReturnType<typeof published>>;
  let second: Awaited<ReturnType<typeof published>>;
  beforeAll(async () => {
    first = await published(environment, '2026-11-20');
    second = await published(environment, '2026-11-21');
  });
  beforeEach(async () => {
    const [index] = await live();
    if (index !== second.index) await back(second.publication);
  });

  const moments = Object.entries(AT);

  test.each([moments[0], moments[2], moments[4]].filter((each) => each !== undefined))(
    '%s does not go live if another goes live and is rolled back meanwhile',
    async (_, at) => {
      const { result, expected } = await pausedAt('2026-11-22', at, async () => {
        await published(environment, '2026-11-23');
        await back();
      });
      expect(result).toMatchObject({ state: 'refused', reasons: [expect.stringMatching(/^fenced: /)] });
      expect(await live()).toEqual(expected);
      expect(expected).toEqual([second.index]);
      const { publications } = await publicationHistory(environment.store);
      expect(publications[0]).toMatchObject({ state: 'rolled_back' });
      expect(publications[1]).toMatchObject({ publication: result.publication, state: 'refused' });
    },
  );

  test.each(moments)('%s does not go live if the operator rolls back meanwhile', async (moment, at) => {
    const { result, expected, hasFlipped, flipped } = await pausedAt('2026-11-22', at, () => back());
    expect(result).toMatchObject({ state: 'refused', reasons: [expect.stringMatching(/^fenced: /)] });
    expect(await live()).toEqual(expected);
    expect(expected).toEqual([first.index]);
    // It does not even request the flip, unless it was already doing so.
    if (moment !== 'is about to flip') expect(hasFlipped).toBe(false);
    // What it takes the place of is not live any more: OpenSearch refuses the whole call.
    else expect(flipped).toBe(404);
  });

  test.each<[string, () => Promise<unknown>, RegExp]>([
    [
      'the operator rolls back and forward meanwhile',
      async () => {
        await back();
        await back(second.publication);
      },
      /^fenced: A later publication or rollback has begun/,
    ],
    [
      'an earlier one goes live meanwhile, which has its epoch already',
      () => switchTo(first.index),
      /^fenced: Another publication went live since this one began/,
    ],
  ])('opens its files does not even load them if %s', async (_what, meanwhile, reason) => {
    const { result } = await pausedAt('2026-11-22', AT_READING, meanwhile);
    expect(result).toMatchObject({ state: 'refused', reasons: [expect.stringMatching(reason)] });
    const { events } = await publicationDetails(environment.store, result.publication);
    expect(events.map(({ event }) => event)).toEqual(['reading', 'refused']);
    await switchTo(second.index);
  });

  test('sends its licenses has deleted what an earlier attempt left', async () => {
    const { client, store } = environment;
    const left = licensesIndexName(store.prefix, '2026-11-22', newId());
    const { sources: _none, ...metadata } = await readMetadata(store, second.index);
    await client.indices.create({ index: left, body: { mappings: { _meta: metadata } } });
    let isLeft = true;
    await pausedAt('2026-11-22', AT['sends its licenses'], async () => {
      isLeft = (await client.indices.exists({ index: left })).body;
    });
    expect(isLeft).toBe(false);
  });

  test('is about to flip does not go live if the operator rolls back and forward meanwhile', async () => {
    const { result } = await pausedAt('2026-11-22', AT['is about to flip'], async () => {
      await back();
      await back(second.publication);
    });
    expect(result).toMatchObject({ state: 'refused', reasons: [expect.stringMatching(/^fenced: /)] });
    expect(await live()).toEqual([second.index]);
  });

  test('is verified leaves no index if the operator rolls back meanwhile', async () => {
    const { result } = await pausedAt('2026-11-22', AT['is verified'], () => back());
    const indices = await licensesIndices(environment.store);
    expect(indices.map(({ metadata }) => metadata.publication)).not.toContain(result.publication);
  });
});

test('a rollback goes back from what went live just before it took its epoch', async () => {
  const [before, late] = [
    await published(environment, '2026-11-21'),
    await published(environment, '2026-11-22'),
  ];
  await back(before.publication);
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
  expect([from?.index, to.index]).toEqual([late.index, before.index]);
  expect(await live()).toEqual([before.index]);
});

describe('a refused publication or rollback does not stop others:', () => {
  beforeEach(async () => {
    await published(environment, '2026-11-20');
    await published(environment, '2026-11-21');
  });

  test.each([
    ['a rollback to a publication that there is not', () => back('typo').catch(() => undefined)],
    ['a publication of files that are too old', async () => publishGuarded('2026-10-01')],
    ['a publication of the files that are live', async () => publishGuarded('2026-11-21')],
  ])('%s', async (_who, refused) => {
    const { result } = await pausedAt('2026-11-22', AT['is verified'], refused);
    expect(result).toMatchObject({ state: 'live' });
  });

  async function publishGuarded(date: string, count = 20): Promise<void> {
    const result = await publishFiles(
      environment,
      await filesOf(environment, date, { individual: nurses(count) }),
      { isGuarded: true },
    );
    expect(['refused', 'skipped']).toContain(result.state);
  }
});

test('a flip that arrives only when its publication has given up leaves one live index', async () => {
  await published(environment, '2026-11-21');
  const files = await filesOf(environment, '2026-11-22');
  let late: (() => Promise<unknown>) | undefined;
  let isLate = false;
  await throughProxy(
    environment,
    async (request) => {
      const isFlip = request.path.startsWith('/_aliases') && !request.body.includes('remove_index');
      if (isFlip && late === undefined) {
        late = request.forward;
        return undefined;
      }
      const isDiscard =
        request.body.includes('remove_index') || /^\/[^/]*licenses-\d[^/]*$/.test(request.path);
      if (late !== undefined && !isLate && isDiscard && request.method !== 'GET') {
        isLate = true;
        await late();
      }
      return request.forward();
    },
    (through) => publishFiles(through, files).catch(() => undefined),
  );
  expect(isLate).toBe(true);
  const [index = '', ...others] = await live();
  expect(others).toEqual([]);
  expect(await countDocuments(environment.client, index)).toBeGreaterThan(0);
});

test('an index that several processes delete at the same moment is no error', async () => {
  const { client, prefix } = environment.store;
  for (let round = 0; round < 5; round += 1) {
    const index = `${prefix}license-digests-2026-11-20-round${round}`;
    await client.indices.create({ index });
    await Promise.all(times(4, () => deleteIndex(environment.store, index)));
    expect((await client.indices.exists({ index })).body).toBe(false);
  }
});

describe('two simultaneous first publications', () => {
  test.each([1, 2])('leave one index, which the alias points to (round %d)', async () => {
    const own = await testEnvironment();
    try {
      const [one, other] = [
        await filesOf(environment, '2026-11-20'),
        await filesOf(environment, '2026-11-21'),
      ];
      const results = await Promise.all([publishFiles(own, one), publishFiles(own, other)]);
      const lives = results.filter(({ state }) => state === 'live');
      expect(results.map(({ state }) => state).toSorted()).toEqual(['live', 'refused']);
      const under = await indicesUnderAlias(own.store);
      expect(lives).toEqual([expect.objectContaining({ index: under[0] })]);
      const indices = await licensesIndices(own.store);
      expect(indices.map(({ index }) => index)).toEqual(under);
    } finally {
      await own.cleanUp();
    }
  });
});
