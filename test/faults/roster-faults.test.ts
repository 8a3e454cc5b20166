import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { MAX_ROSTERS_WAITING_WITHOUT_KEY } from '../../src/rosters/service.ts';
import { type ApiAnswer, waitForLive } from '../support/api.ts';
import { licensesOf } from '../support/day-files.ts';
import { eventually } from '../support/eventually.ts';
import { times } from '../support/fixtures.ts';
import { published } from '../support/publication-days.ts';
import { ROSTER_PATH, sendRoster } from '../support/rosters.ts';
import { requestsEnded, valueAt } from '../support/series.ts';
import { startService } from '../support/service.ts';

const NURSING = 'Nursing Board';
const NURSES = licensesOf(NURSING, 'RN.', 1000);
/** All nurses, which takes several requests to OpenSearch, one after the other. */
const ROSTER = { board: NURSING, items: NURSES.map(({ number }) => ({ license_number: number })) };
/** Of the protocol of tools. */
const REVISIONS = ['2025-06-18', '2026-07-28'];
const unavailable = (detail: string) => ({ detail, data_age_days: expect.any(Number) });
const UNAVAILABLE = unavailable('Lookups are not available right now; try again shortly.');

const idsOf = z.object({ ids: z.array(z.string()) });

/** Requests for licenses by id that reached OpenSearch. */
let requests = 0;
/** How many ids each of them asked for. */
let idCounts: number[] = [];
/** What happens before the request of this number is answered; `false` breaks its connection. */
let before: (request: number) => Promise<boolean> = async () => true;

const { environment, rest } = await startService({
  files: async () => [],
  proxied: async (request) => {
    if (!/licenses-.*_mget/.test(request.path)) return request.forward();
    requests += 1;
    idCounts.push(idsOf.parse(JSON.parse(request.body)).ids.length);
    return (await before(requests)) ? request.forward() : undefined;
  },
});
/** The indices of two days. The first is live before each test. */
const firstDay = await publishDay('2026-11-20', 'LIMA');
const secondDay = await publishDay('2026-11-21', 'AKRON');
// The first call of each revision loads code, which a held request would not wait for.
for (const version of REVISIONS)
  await rest.request('POST', '/mcp', toolCall('list_ohio_boards', {}, version));

beforeEach(async () => {
  before = async () => true;
  await makeLive(firstDay);
  await waitForLive(environment);
  requests = 0;
  idCounts = [];
});

/** @returns the index of the day, which is live now */
async function publishDay(date: string, city: string): Promise<string> {
  const individual = NURSES.map((nurse) => ({ ...nurse, city }));
  return (await published(environment, date, { individual })).index;
}

/** Makes the index live in one call, as a publication does. */
async function makeLive(index: string): Promise<void> {
  const { alias, licensesPattern } = environment.store.names;
  const actions = [{ remove: { index: licensesPattern, alias } }, { add: { index, alias } }];
  await environment.client.indices.updateAliases({ body: { actions } });
}

const answer = z.object({
  last_scraped: z.string(),
  results: z.array(z.object({ record: z.object({ city: z.string(), last_scraped: z.string() }) })),
});

/** Expects all results from this day. */
function expectDay({ status, body }: ApiAnswer, date: string, city: string): void {
  expect(status).toBe(200);
  const { last_scraped: lastScraped, results } = answer.parse(body);
  expect(lastScraped).toBe(`${date}T00:00:00`);
  expect(results).toEqual(times(1000, () => ({ record: { city, last_scraped: `${date}T00:00:00` } })));
}

/** The items of rosters under way and waiting. */
const itemsInFlight = () => valueAt(environment.config.ADMIN_PORT, 'licenses_roster_items_in_flight');

/** The requests that have ended, or whose clients are gone. */
const ended = (of: 'rest' | 'mcp') => requestsEnded(environment.config.ADMIN_PORT, of);

const untilInFlight = (items: number): Promise<void> =>
  eventually(`${items} items are in flight`, async () => (await itemsInFlight()) === items);

/** Does something before the second request of a roster is answered. */
function atSecond(work: () => Promise<unknown>): void {
  before = async (request) => {
    if (request === 2) await work();
    return true;
  };
}

test('while another publication goes live, a roster is answered from one', async () => {
  atSecond(() => makeLive(secondDay));
  expectDay(await sendRoster(rest, ROSTER), '2026-11-20', 'LIMA');
});

test('when the publication that it reads is pruned, a roster is answered whole from another', async () => {
  const thirdDay = await publishDay('2026-11-22', 'TOLEDO');
  requests = 0;
  atSecond(async () => {
    await makeLive(secondDay);
    await environment.client.indices.delete({ index: thirdDay });
  });
  expectDay(await sendRoster(rest, ROSTER), '2026-11-21', 'AKRON');
});

test.each([
  ['does not answer', () => sleep(20_000, true, { ref: false })],
  ['breaks the connection', async () => false],
  ['is slow', () => sleep(2200, true)],
])('when OpenSearch %s in the middle, the whole roster gets 503 within ten seconds', async (what, fault) => {
  before = async (request) => (request === 1 && what !== 'is slow' ? true : fault());
  const startedAt = performance.now();
  const { status, headers, body } = await sendRoster(rest, ROSTER);
  expect([status, headers.get('retry-after'), body]).toEqual([503, '5', UNAVAILABLE]);
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  before = async () => true;
  expectDay(await sendRoster(rest, ROSTER), '2026-11-20', 'LIMA');
});

test('when the client goes away, the work stops', async () => {
  const gone = new AbortController();
  const endedBefore = await ended('rest');
  before = async (request) => {
    if (request !== 1) return true;
    gone.abort();
    await eventually('it is gone', async () => (await ended('rest')) > endedBefore);
    return true;
  };
  const sent = rest.request('POST', ROSTER_PATH, { json: ROSTER, signal: gone.signal });
  await expect(sent).rejects.toThrow();
  await untilInFlight(0);
  expect(requests).toBe(1);
  before = async () => true;
  expectDay(await sendRoster(rest, ROSTER), '2026-11-20', 'LIMA');
});

test('when the client of a tool goes away, its roster does not begin', async () => {
  const held = Promise.withResolvers<boolean>();
  before = () => held.promise;
  const items = ROSTER.items.slice(0, 10).map((item) => ({ board: NURSING, ...item }));
  const under = times(2, () => sendRoster(rest, { items }));
  await untilInFlight(20);
  const gone = new AbortController();
  for (const version of REVISIONS) {
    const call = toolCall('verify_roster', { items }, version);
    rest.request('POST', '/mcp', { ...call, signal: gone.signal }).catch(() => undefined);
  }
  await untilInFlight(40);
  const endedBefore = await ended('mcp');
  gone.abort();
  await eventually('both are gone', async () => (await ended('mcp')) === endedBefore + 2);
  const requestsBefore = requests;
  held.resolve(true);
  for (const { status } of await Promise.all(under)) expect(status).toBe(200);
  await untilInFlight(0);
  expect(requests).toBe(requestsBefore);
});

/** One is under way, the others wait. */
const PLACES_WITHOUT_KEY = 1 + MAX_ROSTERS_WAITING_WITHOUT_KEY;

test('rosters without a key never take the places of those with one', async () => {
  const held = Promise.withResolvers<boolean>();
  before = () => held.promise;
  const items = ROSTER.items.slice(0, 1).map((item) => ({ board: NURSING, ...item }));
  const withoutKey = () => rest.request('POST', '/mcp', toolCall('verify_roster', { items }, '2025-06-18'));
  const waiting = times(PLACES_WITHOUT_KEY, withoutKey);
  await untilInFlight(PLACES_WITHOUT_KEY);
  expect((await withoutKey()).text).toContain('The service is overloaded');
  // Lookups by name are not held.
  const { status } = await sendRoster(rest, { items: [{ board: NURSING, last_name: 'Smith' }] });
  expect([status, await itemsInFlight()]).toEqual([200, PLACES_WITHOUT_KEY]);
  held.resolve(true);
  await Promise.all(waiting);
});

/** A call of the tool server by a client of this revision of the protocol. */
function toolCall(name: string, parameters: object, version: string) {
  const of = 'io.modelcontextprotocol/';
  const _meta = { [`${of}protocolVersion`]: version, [`${of}clientCapabilities`]: {} };
  const params = { name, arguments: parameters, ...(version < '2026' ? {} : { _meta }) };
  const accept = 'application/json, text/event-stream';
  const revision = { 'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': name };
  const json = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  return { headers: { accept, ...revision }, json };
}

test('a roster waits for a single lookup, but not long for one that OpenSearch leaves unanswered', async () => {
  const single = Promise.withResolvers<boolean>();
  let rosterBeganAt = Number.POSITIVE_INFINITY;
  before = async (request) => {
    if (request === 1) return single.promise;
    rosterBeganAt = Math.min(rosterBeganAt, performance.now());
    return true;
  };
  const sentAt = performance.now();
  const lookup = rest.verify({ board: NURSING, license_number: NURSES[0]?.number });
  while (requests === 0) await sleep(1);
  expectDay(await sendRoster(rest, ROSTER), '2026-11-20', 'LIMA');
  // Timers may end a moment early.
  expect(rosterBeganAt - sentAt).toBeGreaterThan(48);
  single.resolve(true);
  await lookup;
});

test('while single lookups come all the time, a roster is answered, and asks for less at a time', async () => {
  expectDay(await sendRoster(rest, ROSTER), '2026-11-20', 'LIMA');
  expect(idCounts).toContain(250);
  idCounts = [];
  before = async () => sleep(30, true);
  let isAnswered = false;
  const singles = times(8, async (at) => {
    await sleep(at * 4);
    while (!isAnswered) {
      const { status } = await rest.verify({ board: NURSING, license_number: NURSES[at]?.number });
      expect(status).toBe(200);
    }
  });
  const answered = await sendRoster(rest, ROSTER).finally(() => {
    isAnswered = true;
  });
  expectDay(answered, '2026-11-20', 'LIMA');
  await Promise.all(singles);
  expect(idCounts).toContain(64);
});

test('of more rosters than can wait, some get 503 at once, and every other one is answered whole', async () => {
  const held = Promise.withResolvers<boolean>();
  before = () => held.promise;
  const small = { board: NURSING, items: ROSTER.items.slice(0, 10) };
  let answered = 0;
  const asked = times(60, () => sendRoster(rest, small).finally(() => (answered += 1)));
  await eventually('each waits or is refused', async () => (await itemsInFlight()) === 10 * (60 - answered));
  const waiting = 60 - answered;
  held.resolve(true);
  const answers = await Promise.all(asked);
  const refused = answers.filter(({ status }) => status === 503);
  const { length } = refused;
  expect([length, length > 5, length < 40]).toEqual([60 - waiting, true, true]);
  const overloaded = unavailable('The service is overloaded; try again shortly.');
  for (const { headers, body } of refused)
    expect([headers.get('retry-after'), body]).toEqual(['1', overloaded]);
  const whole = { status: 200, body: { count: 10, summary: { found: 10 } } };
  for (const each of answers.filter(({ status }) => status !== 503)) expect(each).toMatchObject(whole);
});
