import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { accountId } from '../../src/access/accounts.ts';
import { lastOf } from '../../src/changes/feed.ts';
import { liveFeed } from '../../src/publications/live-feed.ts';
import { indicesUnderAlias } from '../../src/publications/metadata.ts';
import { changeBody } from '../../src/rest/changes.ts';
import { MAX_SUBSCRIPTIONS, subscriptionsService } from '../../src/subscriptions/service.ts';
import { fanOut } from '../../workers/webhooks/fan-out.ts';
import { type ApiClient, apiClient } from '../support/api.ts';
import { allChanges, changesPage } from '../support/changes.ts';
import type { DayRow } from '../support/day-files.ts';
import { daysAfter, onOneDay, todayInNewYork } from '../support/days.ts';
import { type FeedService, NURSES, NURSING, startFeedService } from '../support/feed-service.ts';
import { command } from '../support/in-process.ts';
import { answerChecker, openApiIn } from '../support/openapi.ts';
import { type ProxyStep, pass } from '../support/proxy.ts';

const PATH = '/api/v1/subscriptions';

const [first, second, third, ...fromFourth] = NURSES;
if (first === undefined || second === undefined || third === undefined)
  throw new Error('There are no nurses.');

/** What happens to the API's requests to OpenSearch. */
let step: ProxyStep = pass;
let accounts = 0;
/** Each test has an account of its own. */
let account: string;
let rest: ApiClient;

/** Publishes a day. Lookups that begin after a page of the feed answer from it. */
async function publishSeen(nurses: Parameters<FeedService['publishDay']>[0]): Promise<void> {
  await service.publishDay(nurses);
  await changesPage(service.rest, { since: 'latest' });
}

const service = await startFeedService({}, (request) => step(request));
const { environment } = service;
const { client, store } = environment;
await publishSeen(NURSES);
const check = answerChecker(openApiIn(await service.rest.get('/openapi.json')));
beforeEach(async () => {
  step = pass;
  accounts += 1;
  account = `Hospital ${accounts}`;
  rest = await apiClient(environment, account);
});

const created = z.object({ subscription_id: z.string(), license_number: z.string() });
const batch = z.object({
  summary: z.record(z.string(), z.int()),
  results: z.array(z.looseObject({ outcome: z.string(), subscription_id: z.string().optional() })),
});
const listing = z.object({
  ...{ next: z.string().nullable(), feed_cursor: z.string() },
  subscriptions: z.array(z.looseObject({ ...created.shape, in_dataset: z.boolean() })),
});

const ALL = NURSES.map(({ number }) => ({ license_number: number }));

const subscribe = (number: unknown, more: object = {}, client = rest) =>
  client.verify({ board: NURSING, license_number: number, ...more }, PATH);

async function watched(number: string, more: object = {}): Promise<string> {
  const { status, body } = await subscribe(number, more);
  expect([number, status]).toEqual([number, 201]);
  return created.parse(body).subscription_id;
}

const remove = (id: unknown, client = rest) => client.request('DELETE', `${PATH}/${id}`);

async function subscribeAll(items: readonly unknown[], more: object = { board: NURSING }) {
  const answer = await rest.verify({ ...more, items }, `${PATH}/batch`);
  expect(answer.status).toBe(200);
  check('post', `${PATH}/batch`, answer);
  return batch.parse(answer.body);
}

async function list(query: Record<string, string> = {}, client = rest) {
  const answer = await client.get(`${PATH}?${new URLSearchParams(query)}`);
  expect(answer.status).toBe(200);
  check('get', PATH, answer);
  return listing.parse(answer.body);
}

async function listAll(query: Record<string, string> = {}) {
  const all: z.output<typeof listing>['subscriptions'] = [];
  for (let after = ''; ; ) {
    const page = await list({ ...query, after });
    all.push(...page.subscriptions);
    if (page.next === null) return all;
    after = page.next;
  }
}

const numbers = (all: readonly { readonly license_number: string }[]) =>
  all.map(({ license_number: number }) => number).toSorted();

describe('watching one license', () => {
  test('is 409 with its id when it is watched, however the number is written', async () => {
    const id = await watched('RN.900001', { reference: 'A-1' });
    const detail = 'Your account watches this license already.';
    for (const number of ['RN.900001', ' rn 900001 ', 'rn-900.001', 'RN/900001', 'RN\u2013900001']) {
      const { status, body } = await subscribe(number, { reference: 'other' });
      expect([number, status, body]).toEqual([number, 409, { detail, subscription_id: id }]);
    }
    expect((await list()).subscriptions).toMatchObject([{ subscription_id: id, reference: 'A-1' }]);
  });

  test.each([
    [404, { board: 'Board of Pharmacy', license_number: 'RN.900001' }],
    [400, { board: 'Nursing', license_number: 'RN.900001' }],
    [400, { license_number: 'RN.900001' }],
    [400, { board: NURSING, license_number: ['RN.900001'] }],
    [400, []],
  ])('is refused with %i where /lookup/verify is, and with the same words: %j', async (status, body) => {
    const [asked, looked] = [await rest.verify(body, PATH), await rest.verify(body)];
    expect([asked.status, looked.status]).toEqual([status, status]);
    expect(looked.body).toEqual({ ...Object(asked.body), data_age_days: expect.any(Number) });
    check('post', PATH, asked);
    expect(await listAll()).toEqual([]);
  });

  test.each([
    [{ license_number: '\u0000' }, 'license_number is needed: the number of the license to watch.'],
    [{ reference: 7 }, 'reference must be a string.'],
    [{ reference: 'x'.repeat(101) }, 'reference must have at most 100 characters.'],
  ])('is 400 with what else is wrong: %j', async (more, detail) => {
    expect(await subscribe('RN.900001', more)).toMatchObject({ status: 400, body: { detail } });
  });

  test('is 413 with more than its body may have', async () => {
    expect((await rest.verify({ reference: 'x'.repeat(20_000) }, PATH)).status).toBe(413);
  });
});

test('a batch says of each item in its place what became of it', async () => {
  const id = await watched('RN.900002');
  const { summary, results } = await subscribeAll([
    { license_number: 'RN.900001', reference: 'A-1' },
    { license_number: 'RN.900002' },
    { license_number: 'RN.9000011' },
    { license_number: 'rn 900001', reference: 'again' },
    { board: 'Board of Pharmacy', license_number: '02900001' },
    { reference: 'A-6' },
    7,
    { board: 'Nursing', license_number: 'RN.900003', reference: 'A-8' },
    { license_number: 'RN.900003', reference: 'x'.repeat(101) },
    { board: 'Board of Pharmacy', license_number: 'RN.900003' },
  ]);
  expect(summary).toEqual({ created: 2, exists: 2, not_found: 2, invalid: 4 });
  expect(results).toMatchObject([
    { index: 0, reference: 'A-1', outcome: 'created', license_number: 'RN.900001', board: NURSING },
    { index: 1, reference: null, outcome: 'exists', subscription_id: id },
    {
      index: 2,
      outcome: 'not_found',
      reason: 'unknown',
      did_you_mean: expect.arrayContaining(['RN.900001']),
    },
    { index: 3, reference: 'again', outcome: 'exists', subscription_id: results[0]?.subscription_id },
    { index: 4, outcome: 'created', board: 'Board of Pharmacy', license_number: '02900001' },
    { index: 5, reference: 'A-6', outcome: 'invalid', detail: expect.stringContaining('license_number') },
    { index: 6, outcome: 'invalid' },
    { index: 7, reference: 'A-8', outcome: 'invalid', detail: expect.stringContaining('Nursing Board') },
    { index: 8, outcome: 'invalid', detail: 'reference must have at most 100 characters.' },
    { index: 9, outcome: 'not_found', reason: 'other_board' },
  ]);
  const listed = await listAll();
  expect(numbers(listed)).toEqual(['02900001', 'RN.900001', 'RN.900002']);
  expect(listed).toContainEqual(expect.objectContaining({ license_number: 'RN.900001', reference: 'A-1' }));
});

test('a batch and others at once create each license once, and answer with the same ids', async () => {
  const [singles, lists] = await Promise.all([
    Promise.all(['RN.900001', 'rn.900001'].map((number) => subscribe(number))),
    Promise.all([subscribeAll(ALL), subscribeAll(ALL.toReversed())]),
  ]);
  const made = lists.map(({ summary }) => summary.created ?? 0);
  made.push(singles.filter(({ status }) => status === 201).length);
  expect(made.reduce((sum, each) => sum + each, 0)).toBe(NURSES.length);
  const ids = singles.map(({ body }) => created.partial().parse(body).subscription_id);
  const ofLists = lists.flatMap(({ results }) => results.map((each) => each.subscription_id));
  expect([ids[0], ofLists.includes(ids[0])]).toEqual([ids[1], true]);
  expect(await listAll()).toHaveLength(NURSES.length);
});

test('a batch has 1 to 1,000 items, and is otherwise 400 as a whole', async () => {
  const items = (length: number) => Array.from({ length }, () => ({ license_number: 'RN.1' }));
  const wrong = [{ items: [] }, { items: items(1001) }, { items: { length: 1 } }, null];
  for (const body of [...wrong, { board: 'Nursing', items: items(1) }]) {
    const answer = await rest.verify(body, `${PATH}/batch`);
    expect(answer.status).toBe(400);
    check('post', `${PATH}/batch`, answer);
  }
  const { summary } = await subscribeAll(items(1000));
  expect(summary).toEqual({ created: 0, exists: 0, not_found: 1000, invalid: 0 });
});

test('the list has every subscription once, in pages, each with its record and cautions', async () => {
  await subscribeAll(ALL);
  for (const limit of ['1', '7', '20', '1000'])
    expect(numbers(await listAll({ limit }))).toEqual(numbers(ALL));
  const [first] = (await list({ limit: '1' })).subscriptions;
  const { body } = await rest.verify({ board: NURSING, license_number: first?.license_number });
  expect(first).toMatchObject({ in_dataset: true, reference: null, record: body });
  expect((await list()).next).toBeNull();
});

test.each([
  ...['limit=0', 'limit=1001', 'limit=1.5', `after=sub_${'g'.repeat(24)}`, `after=sub_${'0'.repeat(25)}`],
  ...['-1', '3651', 'soon'].map((text) => `expires_within_days=${text}`),
])('the list is 400 for %s', async (query) => {
  expect((await rest.get(`${PATH}?${query}`)).status).toBe(400);
});

test('the list with expires_within_days has the licenses that expire from today on', async () => {
  const today = todayInNewYork();
  const left = [-1, 0, 1, 30, 31];
  const rows = NURSES.map((nurse, at): DayRow => {
    const days = left[at];
    return days === undefined ? nurse : { ...nurse, expires: daysAfter(today, days) };
  });
  await publishSeen(rows);
  await subscribeAll(ALL);
  const queries = [{ expires_within_days: '0' }, { expires_within_days: '30', limit: '3' }];
  const { today: asked, answer } = await onOneDay(() => Promise.all(queries.map(listAll)));
  const within = (most: number) =>
    rows.filter(({ expires = '2099-01-01' }) => expires >= asked && expires <= daysAfter(asked, most));
  const expected = [within(0), within(30)].map((each) => each.map(({ number }) => number));
  expect(answer.map(numbers)).toEqual(expected);
  expect(answer[1]?.length).toBeGreaterThan(1);
  await publishSeen(NURSES);
});

test('subscriptions belong to the account all of its keys see the same, and another account nothing', async () => {
  const id = await watched('RN.900001');
  const colleague = await apiClient(environment, account.toUpperCase());
  const stranger = await apiClient(environment, `Not ${account}`);
  expect(await list({}, colleague)).toEqual(await list());
  expect((await subscribe('RN.900001', {}, colleague)).status).toBe(409);
  expect((await list({}, stranger)).subscriptions).toEqual([]);

  const unknown = await remove(`sub_${'0'.repeat(24)}`, stranger);
  expect(await remove(id, stranger)).toMatchObject({ status: 404, text: unknown.text });
  const theirs = await subscribe('RN.900001', {}, stranger);
  expect([theirs.status, created.parse(theirs.body).subscription_id === id]).toEqual([201, false]);

  expect([(await remove(id, colleague)).status, (await remove(id)).status]).toEqual([204, 404]);
  expect((await list()).subscriptions).toEqual([]);
  expect((await list({}, stranger)).subscriptions).toHaveLength(1);
});

test('subscriptions belong to the account a deleted one can be made again; what is no id is 404', async () => {
  const id = await watched('RN.900001');
  expect(await remove(id)).toMatchObject({ status: 204, text: '' });
  expect(await watched('RN.900001')).toBe(id);
  for (const text of ['__proto__', '%00', '_search', `${id.slice(0, -1)}*`])
    expect([text, (await remove(text)).status]).toEqual([text, 404]);
});

test('a watched license that the dataset has no longer stays watched, is shown as such, and is no other license', async () => {
  const gone = await watched(first.number, { reference: 'gone' });
  const renumbered = await watched(second.number, { reference: 'renumbered' });
  const { next } = await changesPage(rest, { since: 'latest' });
  // The second has the same letters and digits as before, and another holder: it is another license.
  await publishSeen([...NURSES.slice(2), { ...second, number: 'RN.90.0002', name: 'STRANGER, SAM' }]);

  const listed = await listAll();
  expect(listed).toHaveLength(2);
  for (const each of listed) expect(each).toMatchObject({ in_dataset: false, record: null });
  expect(await listAll({ expires_within_days: '3650' })).toEqual([]);
  const changes = await allChanges(rest, next, 7, { watched: 'true' });
  const told = changes.map(({ kind, reference }) => `${kind} ${reference}`);
  expect(told.toSorted()).toEqual(['removed gone', 'removed renumbered']);

  for (const number of [first.number, 'rn 900001'])
    expect(await subscribe(number)).toMatchObject({ status: 409, body: { subscription_id: gone } });
  const { results } = await subscribeAll([
    { license_number: 'rn900001', reference: 'x' },
    { license_number: 'RN.90.0002' },
    { license_number: third.number },
  ]);
  expect(results).toMatchObject([
    { outcome: 'exists', subscription_id: gone, license_number: first.number, reference: 'x' },
    { outcome: 'created', license_number: 'RN.90.0002' },
    { outcome: 'created', license_number: third.number },
  ]);
  expect(results[1]?.subscription_id).not.toBe(renumbered);
  // Of another account or board, it is simply not found.
  const stranger = await apiClient(environment, `Not ${account}`);
  expect((await subscribe(first.number, {}, stranger)).status).toBe(404);
  expect((await subscribe(first.number, { board: 'Dental Board' })).status).toBe(404);

  await publishSeen(NURSES);
  const back = (await listAll()).filter((each) => each.in_dataset);
  expect(numbers(back)).toEqual([first, second, third].map(({ number }) => number));
  expect((await remove(gone)).status).toBe(204);
});

const counted = z.looseObject({ hits: z.looseObject({ total: z.looseObject({ value: z.int() }) }) });

/** As if an account watched so many more: their documents make OpenSearch slow for a while. */
function counting(others: number): ProxyStep {
  return async (request) => {
    const answer = await request.forward();
    if (!/subscriptions\/_search/.test(request.path) || !request.body.includes('"size":0')) return answer;
    const found = counted.parse(JSON.parse(answer.body));
    found.hits.total.value += others;
    return { ...answer, body: JSON.stringify(found) };
  };
}

test('an account watches at most 100,000 licenses', async () => {
  step = counting(MAX_SUBSCRIPTIONS - 2);
  const sent = (...numbers: string[]) => numbers.map((license_number) => ({ license_number }));
  const refused = await rest.verify({ board: NURSING, items: ALL }, `${PATH}/batch`);
  const detail =
    'An account watches at most 100,000 licenses; yours may watch 2 more. Delete subscriptions first.';
  expect(refused).toMatchObject({ status: 403, body: { detail, reason: 'limit' } });
  check('post', `${PATH}/batch`, refused);
  const { summary, results } = await subscribeAll(sent('RN.900001', 'RN.900001', 'RN.900002'));
  expect(summary).toMatchObject({ created: 2, exists: 1 });
  expect((await subscribeAll(sent('RN.900001', 'RN.900002'))).summary).toMatchObject({ exists: 2 });
  const full = await subscribe('RN.900003');
  expect(full).toMatchObject({ status: 403, body: { reason: 'limit' } });
  check('post', PATH, full);
  expect((await remove(results[0]?.subscription_id)).status).toBe(204);
  await watched('RN.900003');
});

test('what is subscribed or listed while a publication goes live is missed by nobody', async () => {
  await publishSeen(NURSES);
  const moved = NURSES.map((row) => ({ ...row, city: `MOVED ${row.number}` }));
  const cityOf = z.object({ record: z.object({ city: z.string() }) });
  await subscribe(second.number);
  const alias = async () => (await indicesUnderAlias(store)).join();
  const before = await alias();
  const publishing = service.publishDay(moved);
  while ((await alias()) === before);
  // The API process follows the alias once a second.
  const { feed_cursor, subscriptions } = await list();
  const made = await subscribe(first.number);
  expect(cityOf.parse(made.body).record.city).toBe(`MOVED ${first.number}`);
  await publishing;

  const isNew = cityOf.parse(subscriptions[0]).record.city === `MOVED ${second.number}`;
  const later = (await changesPage(rest, { since: feed_cursor, watched: 'true' })).changes;
  expect(later.map(({ license_number }) => license_number).includes(second.number)).toBe(!isNew);
});

test('the proof of a license that is subscribed while a publication is made ready has its change', async () => {
  await publishSeen(NURSES);
  const before = service.lastDate();
  const moved = NURSES.map((row) => ({ ...row, city: 'PROVEN' }));
  let id = '';
  const subscribing: ProxyStep = async (request) => {
    const isReady = /_cluster\/health\/.*licenses-\d/.test(request.path);
    if (isReady && id === '') id = await watched(first.number);
    return request.forward();
  };
  await service.publishDay(moved, { through: subscribing });
  expect((await rest.get(`${PATH}/${id}/proof`)).body).toMatchObject({
    ...{ coverage_start: before, compared: [service.lastDate()] },
    changes: [{ fields: { city: { before: 'LIMA', after: 'PROVEN' } } }],
  });
});

test('a license whose number the State writes in another way stays watched, and so after a rollback', async () => {
  await publishSeen(NURSES);
  const made = created.parse((await subscribe(first.number)).body);
  const written = first.number.replace('.', '-');
  const since = (await changesPage(rest, { since: 'latest' })).next;
  // An account that watches the other number already keeps both.
  const both = await apiClient(environment, `Both of ${account}`);
  const wanted = [first.number, written].map((license_number) => ({
    ...{ record: { board: NURSING, license_number }, reference: null },
  }));
  await subscriptionsService(store).watch(accountId(`Both of ${account}`), wanted);
  const rewritten = { ...first, number: written };
  // Of another holder: this is another license.
  const stranger = { ...second, number: second.number.replace('.', '-'), name: 'STRANGER, ANN' };
  await publishSeen([rewritten, stranger, third, ...fromFourth]);

  const { changes } = await changesPage(rest, { since });
  const inWords = (some: readonly z.output<typeof changeBody>[]) =>
    some.map(({ kind, license_number: number, renumbered_from: from = '-', renumbered_to: to = '-' }) =>
      [kind, number, from, to].join(' '),
    );
  const ofFirst = [`added ${written} ${first.number} -`, `removed ${first.number} - ${written}`];
  expect(inWords(changes).toSorted()).toEqual([
    ...[ofFirst[0], `added ${stranger.number} - -`],
    ...[ofFirst[1], `removed ${second.number} - -`],
  ]);
  // A subscription may follow while its account reads: whichever number it has, both changes are told.
  expect(inWords(await allChanges(rest, since, 7, { watched: 'true' })).toSorted()).toEqual(ofFirst);
  const told = await fanOut(store)(lastOf((await liveFeed(store)).state));
  for (const name of [account, `Both of ${account}`])
    expect(told?.get(accountId(name))?.counts).toEqual({ added: 1, changed: 0, removed: 1 });
  for (const license_number of [first.number, written]) {
    const { subscription_id } = made;
    expect(await subscribe(license_number)).toMatchObject({ status: 409, body: { subscription_id } });
  }
  const listed = (await list()).subscriptions;
  expect(listed).toMatchObject([{ ...made, license_number: written, in_dataset: true }]);
  expect(numbers((await list({}, both)).subscriptions)).toEqual([written, first.number].toSorted());

  const later = (await changesPage(rest, { since: 'latest' })).next;
  const another = { ...first, name: 'OTHER, OLGA' };
  await publishSeen([another, { ...rewritten, city: 'SUSPENDED' }, stranger, third, ...fromFourth]);
  expect(await allChanges(rest, later, 7, { watched: 'true' })).toMatchObject([
    { kind: 'changed', license_number: written },
  ]);
  // Its history goes on, and has nothing of the license that has its earlier number now.
  const asked = new URLSearchParams({ board: NURSING, license_number: written });
  const history = z.object({ changes: z.array(changeBody) });
  const { changes: known } = history.parse((await rest.get(`/api/v1/history?${asked}`)).body);
  expect(inWords(known).slice(0, 3)).toEqual([`changed ${written} - -`, ofFirst[1], ofFirst[0]]);
  // That one is not watched by then.
  const other = await subscribe(first.number);
  const { subscription_id: otherId } = created.parse(other.body);
  expect([other.status, otherId === made.subscription_id]).toEqual([201, false]);
  expect(await subscribe(first.number)).toMatchObject({ status: 409, body: { subscription_id: otherId } });
  expect((await remove(otherId)).status).toBe(204);

  await command(environment.variables, 'rollback');
  await command(environment.variables, 'rollback');
  // Lookups that begin later answer from it.
  await changesPage(rest, { since: 'latest' });
  const back = (await list()).subscriptions;
  expect(back).toMatchObject([{ ...made, license_number: first.number }]);
});

test('a license whose number changes while it is subscribed, alone or in a list, is watched once', async () => {
  const others = NURSES.slice(1);
  const written = first.number.replace('.', '-');
  const { alias } = store.names;
  await publishSeen(NURSES);
  const [before = ''] = await indicesUnderAlias(store);
  await publishSeen([{ ...first, number: written }, ...others]);
  const [after = ''] = await indicesUnderAlias(store);
  /** Only the switch: a whole publication takes longer than the API waits for a write. */
  const switchTo = async (index: string, from: string) => {
    await client.indices.updateAliases({
      body: { actions: [{ remove: { index: from, alias } }, { add: { index, alias } }] },
    });
  };
  const watched = { board: NURSING, license_number: first.number };
  for (const [path, body, expected, others] of [
    [PATH, watched, 201, 0],
    [`${PATH}/batch`, { items: [watched] }, 200, 0],
    // Where the account may watch no more by then, nothing of it stays.
    [`${PATH}/batch`, { items: [watched] }, 403, MAX_SUBSCRIPTIONS - 1],
  ] as const) {
    const own = await apiClient(environment, `${account} of ${path} with ${others}`);
    const forward = counting(others);
    step = pass;
    await switchTo(before, after);
    await changesPage(service.rest, { since: 'latest' });
    let isHeld = false;
    step = async (request) => {
      if (isHeld || !/subscriptions\/(_bulk|_create|_doc)/.test(request.path)) return forward(request);
      isHeld = true;
      await switchTo(after, before);
      return request.forward();
    };
    const { status } = await own.verify(body, path);
    expect([isHeld, status]).toEqual([true, expected]);
    expect((await list({}, own)).subscriptions).toMatchObject(
      expected === 403 ? [] : [{ license_number: written, in_dataset: true }],
    );
  }
  // Other tests ask for the number as it was.
  await publishSeen(NURSES);
});
