import { beforeEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { deleteExpiredAnswers, FIRST_ANSWERS, firstAnswers } from '../../src/access/first-answers.ts';
import { SAVED_RECORDS } from '../../src/records/saved-records.ts';
import { type ApiClient, apiClient } from '../support/api.ts';
import { documentsIn } from '../support/documents.ts';
import { cut, type ProxyStep, pass, throughProxy } from '../support/proxy.ts';
import { startService } from '../support/service.ts';

const RECORDS = '/api/v1/records';
const BATCH = '/api/v1/subscriptions/batch';
const NURSE = { board: 'Nursing Board', license_number: 'RN.700001' };
const HOUR_MS = 3_600_000;

let accounts = 0;
let client: ApiClient;
/** What happens to the API's requests to OpenSearch. */
let step: ProxyStep = pass;

const { environment } = await startService({
  proxied: (request) => step(request),
  settings: { SIGNING_SECRET_KEY: 'a secret for the signatures of the tests, of 32 characters' },
});
const { store } = environment;

beforeEach(async () => {
  step = pass;
  await newAccount();
});

async function newAccount(): Promise<void> {
  accounts += 1;
  client = await apiClient(environment, `Account ${accounts}`);
}

async function post(key: string, body: object = NURSE, path = RECORDS, headers: Record<string, string> = {}) {
  const sent = { json: body, headers: { 'idempotency-key': key, ...headers } };
  const { status, text, body: answer } = await client.request('POST', path, sent);
  return { status, text, body: answer };
}

const saved = z.object({ code: z.string() });

/** How many records were saved for the account. */
async function savedCount(): Promise<number> {
  const all = { query: { match_all: {} }, size: 1000 };
  const { documents } = await SAVED_RECORDS.search(store, all);
  return documents.filter(({ account }) => account === `Account ${accounts}`).length;
}

/** Every first answer that is stored; those of other accounts, too. */
const stored = () => documentsIn(store, store.names.firstAnswers);

/** The only one of the account: it was stored since. */
async function onlyStored(before: readonly { readonly id: string }[]) {
  const known = new Set(before.map(({ id }) => id));
  const [only, ...others] = (await stored()).filter(({ id }) => !known.has(id));
  if (only === undefined || others.length > 0) throw new Error('There is not one answer more than before.');
  return only;
}

test('a request with an Idempotency-Key that is repeated gets the first answer, and nothing is done again; only a hash of its body is kept', async () => {
  const before = await stored();
  const noted = { ...NURSE, reference: 'a reference of this body' };
  const longest = 'k'.repeat(255);
  const first = await post(longest, noted);
  expect(first.body).not.toHaveProperty('url');
  const again = [await post(longest, noted), await post(longest, noted)];
  expect([first.status, ...again, await savedCount()]).toEqual([201, first, first, 1]);
  expect((await onlyStored(before)).source).toEqual({
    ...{ at: expect.any(String), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    answer: { status: 201, type: 'application/json', body: first.text },
  });

  const another = saved.parse((await post('two', noted)).body);
  expect(another.code).not.toBe(saved.parse(first.body).code);
  await newAccount();
  expect(saved.parse((await post(longest, noted)).body).code).not.toBe(saved.parse(first.body).code);
});

test('a request with an Idempotency-Key and another body is 400, and nothing is done', async () => {
  await post('one');
  expect(await post('one', { ...NURSE, reference: 'another' })).toMatchObject({
    status: 400,
    body: { detail: 'This Idempotency-Key came with another body before. Send another key.' },
  });
  expect(await savedCount()).toBe(1);
});

test('a request with an Idempotency-Key of a batch of subscriptions says created again; its keys are not those of records', async () => {
  await post('one');
  const items = { items: [NURSE, { ...NURSE, license_number: 'RN.999999' }] };
  const first = await post('one', items, BATCH);
  expect(first).toMatchObject({ status: 200, body: { summary: { created: 1, not_found: 1 } } });
  expect(await post('one', items, BATCH)).toEqual(first);
  expect(await post('two', items, BATCH)).toMatchObject({ body: { summary: { exists: 1, not_found: 1 } } });
});

test('a request with an Idempotency-Key that comes several times at once is done once; until it ends, the others get 503', async () => {
  const answers = await Promise.all(Array.from({ length: 6 }, () => post('one')));
  const [first, ...others] = answers.filter(({ status }) => status === 201);
  for (const other of others) expect(other).toEqual(first);
  expect(answers.filter(({ status }) => status !== 201 && status !== 503)).toEqual([]);
  expect([await post('one'), await savedCount()]).toEqual([first, 1]);
});

test('a request with an Idempotency-Key that was done gets its answer even if the answer can not be kept', async () => {
  let isDone = false;
  const step: ProxyStep = (request) => (isDone ? cut(request) : request.forward());
  const answer = { status: 201, type: 'application/json', body: '{}' };
  const request = { account: 'Kept', operation: 'tests', key: 'one', body: '' };
  const spent: string[] = [];
  const work = async () => {
    isDone = true;
    return answer;
  };
  const first = throughProxy(environment, step, ({ store }) =>
    firstAnswers(store, { spend: async (account) => spent.push(account) })(request, work),
  );
  expect([await first, spent]).toEqual([answer, ['Kept']]);
});

test('a request with an Idempotency-Key whose answer was an error is done again', async () => {
  const before = await stored();
  const missed = { ...NURSE, license_number: 'RN.999999' };
  expect((await post('one', missed)).status).toBe(404);
  expect((await post('one', { ...missed, board: 'No Board' })).status).toBe(400);
  expect(await stored()).toHaveLength(before.length);
  expect((await post('one')).status).toBe(201);
});

test('a request with an Idempotency-Key is done again after a day, and after half a minute where its process has ended before it', async () => {
  const before = await stored();
  const first = await post('one');
  const { id } = await onlyStored(before);
  const age = async (hours: number, isAnswered: boolean) => {
    await FIRST_ANSWERS.update(store, id, (current) => {
      const at = new Date(Date.now() - hours * HOUR_MS).toISOString();
      if (current === undefined) throw new Error('It is not stored.');
      const { answer, ...begun } = current;
      return { ...begun, at, ...(isAnswered && { answer }) };
    });
  };
  await age(23, true);
  expect(await post('one')).toEqual(first);
  await age(25, true);
  const second = await post('one');
  expect([second.status, second.text === first.text]).toEqual([201, false]);
  await age(1 / 3600, false);
  expect((await post('one')).status).toBe(503);
  await age(31 / 3600, false);
  expect((await post('one')).status).toBe(201);

  for (const hours of [23, 25]) {
    await age(hours, true);
    await deleteExpiredAnswers(store);
    expect((await stored()).some((each) => each.id === id)).toBe(hours === 23);
  }
});

test('a request with an Idempotency-Key that ends between the record and its answer saves no second one, and answers of the first', async () => {
  for (const accept of ['application/json', 'application/jose']) {
    await newAccount();
    const before = await stored();
    step = (request) => (request.body.includes('"answer"') ? cut(request) : request.forward());
    const first = await post('one', NURSE, RECORDS, { accept });
    step = pass;
    const { id } = await onlyStored(before);
    await FIRST_ANSWERS.update(store, id, (current) => {
      if (current === undefined || current.answer !== undefined) throw new Error('It has an answer.');
      return { ...current, at: new Date(Date.now() - 31_000).toISOString() };
    });
    const again = () => post('one', NURSE, RECORDS, { accept });
    expect([first.status, await again(), await again()]).toEqual([201, first, first]);
    // A signed record is signed once.
    expect(first.text.split('.').length === 3).toBe(accept === 'application/jose');
    expect(await savedCount()).toBe(1);
  }
});

test.each([
  ['nothing', ''],
  ['256 characters', 'k'.repeat(256)],
  ['a blank inside', 'a b'],
  ['a letter beyond ASCII', 'é'],
])('a request with an Idempotency-Key is 400 where the key has %s', async (_what, key) => {
  expect(await post(key)).toMatchObject({
    status: 400,
    body: { detail: 'Idempotency-Key takes 1 to 255 visible ASCII characters, without blanks.' },
  });
  expect(await savedCount()).toBe(0);
});
