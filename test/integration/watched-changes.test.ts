import { beforeAll, describe, expect, test } from '@jest/globals';
import { accountId } from '../../src/access/accounts.ts';
import { CHANGES_LOOKED_THROUGH } from '../../src/changes/service.ts';
import { numberKey } from '../../src/licenses/fold.ts';
import { licenseId } from '../../src/licenses/license.ts';
import { liveFeed } from '../../src/publications/live-feed.ts';
import { rollBack } from '../../src/publications/rollback.ts';
import { SUBSCRIPTIONS, subscriptionId } from '../../src/subscriptions/subscription.ts';
import { type ApiClient, apiClient } from '../support/api.ts';
import { allChanges, askChanges, changesPage } from '../support/changes.ts';
import { type DayRow, licensesOf } from '../support/day-files.ts';
import { type FeedService, NURSES, NURSING, startFeedService } from '../support/feed-service.ts';

let service: FeedService;
let rest: ApiClient;

beforeAll(async () => {
  service = await startFeedService();
  ({ rest } = service);
});

const WATCHED = { watched: 'true' };

const inCity = (city: string, nurses: readonly DayRow[] = NURSES) =>
  nurses.map((nurse) => ({ ...nurse, city }));

const numbersOf = (changes: readonly { readonly license_number: string }[]) =>
  changes.map(({ license_number: number }) => number);

/** Writes a subscription of an account to a license of the Nursing Board, as the service does. */
async function watch(account: string, number: string, reference: string | null = null): Promise<void> {
  const owner = accountId(account);
  const license = licenseId(NURSING, number);
  const id = subscriptionId(owner, license);
  const created_at = new Date().toISOString();
  const subscription = {
    ...{ id, account: owner, license, board: NURSING, license_number: number, number: numberKey(number) },
    ...{ reference, created_at },
  };
  await SUBSCRIPTIONS.replace(service.environment.store, id, undefined, subscription);
}

/** The cursor after the latest change. */
async function latest(): Promise<string> {
  return (await changesPage(rest, { since: 'latest' })).next;
}

describe('the feed of what an account watches', () => {
  let beginning: string;
  let other: ApiClient;

  beforeAll(async () => {
    other = await apiClient(service.environment, 'Another Hospital');
    await service.publishDay(inCity('LIMA'));
    beginning = await latest();
    await watch('Test', 'RN.900003', 'A-3');
    await watch('Test', 'RN.900007');
    await watch('Another Hospital', 'RN.900009', 'theirs');
    await service.publishDay(inCity('DAYTON'));
    await service.publishDay(inCity('AKRON', NURSES.slice(3)));
  });

  test('has its changes alone, in their order, each with the reference', async () => {
    const changes = await allChanges(rest, beginning, 7, WATCHED);
    const all = await allChanges(rest, beginning);
    const ofWatched = all.filter(({ license_number: number }) => /00[37]$/.test(number));
    expect(changes.map(({ reference, ...change }) => change)).toEqual(ofWatched);
    expect(changes).toHaveLength(4);
    for (const { license_number: number, reference } of changes)
      expect(reference).toBe(number === 'RN.900003' ? 'A-3' : null);
    expect(changes.find(({ kind }) => kind === 'removed')).toMatchObject({
      license_number: 'RN.900003',
      reference: 'A-3',
    });
  });

  test('is the account’s: another sees only what it watches itself, and every key of an account the same', async () => {
    expect(numbersOf(await allChanges(other, beginning, 7, WATCHED))).toEqual(['RN.900009', 'RN.900009']);
    const colleague = await apiClient(service.environment, 'TEST');
    expect(await allChanges(colleague, beginning, 7, WATCHED)).toEqual(
      await allChanges(rest, beginning, 7, WATCHED),
    );
    const stranger = await apiClient(service.environment, 'Who Watches Nothing');
    expect(await changesPage(stranger, { since: beginning, ...WATCHED })).toEqual({
      changes: [],
      next: await latest(),
      more: false,
    });
  });

  test('without watched, and with watched=false or blank, has every change and no references', async () => {
    const all = await changesPage(rest, { since: beginning });
    expect(all.changes.some((change) => 'reference' in change)).toBe(false);
    for (const watched of ['false', '', ' '])
      expect(await changesPage(rest, { since: beginning, watched })).toEqual(all);
    for (const watched of ['yes', 'TRUE', '1', '__proto__', 'true\0']) {
      const { status, body } = await askChanges(rest, { watched });
      expect([watched, status, body]).toEqual([watched, 400, { detail: 'watched must be true or false.' }]);
    }
  });

  test('works together with filters and limits', async () => {
    const ask = (filters: Record<string, string>) =>
      allChanges(rest, beginning, 1, { ...WATCHED, ...filters });
    expect(numbersOf(await ask({ kind: 'removed' }))).toEqual(['RN.900003']);
    expect(numbersOf(await ask({ cause: 'rollback' }))).toEqual([]);
    expect(await ask({ board: NURSING })).toHaveLength(4);
    expect(await ask({ board: 'Board of Pharmacy' })).toEqual([]);
  });

  test('shows the changes before a subscription, and none once it is deleted', async () => {
    const { store, client } = service.environment;
    const late = await apiClient(service.environment, 'Late');
    const watched = async () => numbersOf(await allChanges(late, beginning, 7, WATCHED));
    expect(await watched()).toEqual([]);
    await watch('Late', 'RN.900011');
    expect(await watched()).toEqual(['RN.900011', 'RN.900011']);
    const id = subscriptionId(accountId('Late'), licenseId(NURSING, 'RN.900011'));
    await client.delete({ index: store.names.subscriptions, id, refresh: true });
    expect(await watched()).toEqual([]);
  });
});

test('a rollback is in it, and expired and invented cursors are as those of the whole feed', async () => {
  await watch('Test', 'RN.900003', 'A-3');
  await watch('Test', 'RN.900007');
  await service.publishDay(inCity('LIMA'));
  await service.publishDay(inCity('DAYTON', NURSES.slice(3)));
  const before = await latest();
  await rollBack(service.environment.store);
  const changes = await allChanges(rest, before, 7, WATCHED);
  expect(changes.map(({ license_number, kind, cause }) => [license_number, kind, cause]).toSorted()).toEqual([
    ['RN.900003', 'added', 'rollback'],
    ['RN.900007', 'changed', 'rollback'],
  ]);
  expect((await askChanges(rest, { since: `${before}0`, ...WATCHED })).status).toBe(400);
  await service.environment.client.indices.delete({ index: service.environment.store.names.digestsPattern });
  await service.publishDay(inCity('CANTON'));
  expect((await askChanges(rest, { since: before, ...WATCHED })).status).toBe(410);
});

describe('holes', () => {
  test('a change that is missing, or is not valid and watched, ends the feed for cursors before it', async () => {
    const { store, client } = service.environment;
    await watch('Test', 'RN.900003', 'A-3');
    await watch('Test', 'RN.900007');
    await service.publishDay(inCity('LIMA'));
    const beginning = await latest();
    await service.publishDay(inCity('DAYTON'));
    const all = await allChanges(rest, beginning);
    const { feed } = (await liveFeed(store)).state;
    const { body } = await client.search({
      index: store.names.changes,
      body: { size: 100, query: { term: { feed } }, sort: [{ position: 'desc' }] },
    });
    const documents = body.hits.hits.slice(0, all.length);
    const positionOf = (number: string) =>
      String(documents.find(({ _source }) => _source?.license_number === number)?._id);
    const ask = async () => (await askChanges(rest, { since: beginning, ...WATCHED })).status;
    const put = async (id: string, changed: object) =>
      client.index({
        index: store.names.changes,
        id,
        refresh: true,
        body: { ...documents.find(({ _id }) => _id === id)?._source, ...changed },
      });
    const [watched, unwatched] = [positionOf('RN.900007'), positionOf('RN.900015')];
    expect(await ask()).toBe(200);
    await put(watched, { fields: 'lost' });
    expect(await ask()).toBe(410);
    await put(watched, {});
    expect(await ask()).toBe(200);
    await put(unwatched, { license: undefined });
    expect(await ask()).toBe(410);
    await client.delete({ index: store.names.changes, id: unwatched, refresh: true });
    expect(await ask()).toBe(410);
    // Who has no copy begins after it.
    expect((await askChanges(rest, WATCHED)).status).toBe(200);
    await put(unwatched, {});
    expect(numbersOf(await allChanges(rest, beginning, 1, WATCHED)).toSorted()).toEqual([
      'RN.900003',
      'RN.900007',
    ]);
  });
});

test('a page that finds nothing among many changes goes on after them', async () => {
  const many = licensesOf(NURSING, 'RN.', CHANGES_LOOKED_THROUGH + 100);
  await service.publishDay(inCity('LIMA', many));
  const beginning = await latest();
  await service.publishDay(inCity('TOLEDO', many));
  const all = await allChanges(rest, beginning, 1000);
  expect(all).toHaveLength(many.length);
  const patient = await apiClient(service.environment, 'Patient');
  const [last] = numbersOf(all.slice(-1));
  await watch('Patient', last ?? '', 'last');
  const page = await changesPage(patient, { since: beginning, ...WATCHED });
  expect(page).toEqual({ changes: [], next: all[CHANGES_LOOKED_THROUGH - 1]?.cursor, more: true });
  expect(await changesPage(patient, { since: page.next, ...WATCHED })).toMatchObject({
    changes: [{ license_number: last, reference: 'last' }],
    next: all.at(-1)?.cursor,
    more: false,
  });
  const [first, second] = numbersOf(all.slice(CHANGES_LOOKED_THROUGH - 1));
  await watch('Patient', first ?? '');
  await watch('Patient', second ?? '');
  for (const limit of [1, 2, 3])
    expect(numbersOf(await allChanges(patient, beginning, limit, WATCHED))).toEqual([first, second, last]);
});
