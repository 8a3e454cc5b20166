import { describe, expect, test } from '@jest/globals';
import { testEnvironment } from '../../scripts/environment.ts';
import { startApi } from '../../scripts/licenses-processes.ts';
import { freePorts } from '../../scripts/ports.ts';
import { createKey, newApiKey } from '../../src/access/api-keys.ts';
import { detailIn } from '../support/answers.ts';
import { type ApiAnswer, apiClient } from '../support/api.ts';
import { FIXTURES, times } from '../support/fixtures.ts';
import { publishFiles } from '../support/publishing.ts';
import { rawRequest } from '../support/raw-http.ts';
import { ROSTER_PATH } from '../support/rosters.ts';
import { verifies } from '../support/verifies.ts';

/** What an address may do in a minute, and by what a client's address and protocol are known. */
const REST = 20;
const MCP = 6;
/** A twentieth of the REST limit, but at least ten. */
const BAD_KEYS = 10;
const PARTNER = 25;
const ASSISTANTS = 9;
const ITEMS_PER_REQUEST = 5;
const KNOWN = { board: 'Nursing Board', license_number: 'RN.700001' };

const SETTINGS = {
  REST_REQUESTS_PER_MINUTE: String(REST),
  MCP_REQUESTS_PER_MINUTE: String(MCP),
  ROSTER_ITEMS_PER_REQUEST: String(ITEMS_PER_REQUEST),
  RATE_LIMIT_RANGES: `203.0.113.0/24=${PARTNER}, 2001:db8:77::/48=${PARTNER}`,
  MCP_RATE_LIMIT_RANGES: `203.0.113.128/25=${ASSISTANTS}, 192.0.2.0/24=${ASSISTANTS}`,
};

let lastAddress = 0;

const environment = await testEnvironment(SETTINGS);
await publishFiles(environment, FIXTURES);
const { key } = await apiClient(environment);
const [behindProxy, direct] = await Promise.all([api(1), api(0)]);

type Headers = Readonly<Record<string, string>>;

/** Starts an API process on its own port, which gets requests from given client addresses. */
async function api(proxies: number) {
  const [port = 0, adminPort] = await freePorts(2);
  const settings = { PORT: String(port), ADMIN_PORT: String(adminPort), TRUSTED_PROXIES: String(proxies) };
  const process = await startApi({ ...environment.variables, ...settings });
  /** Sends a request from this address, which the proxy adds. */
  const send = (path: string, from: string, headers: Headers, body?: string) =>
    rawRequest(port, path, {
      ...(body !== undefined && { method: 'POST', body }),
      headers: {
        ...{ host: `localhost:${port}`, 'x-forwarded-for': from, 'x-api-key': key },
        ...{ 'content-type': 'application/json', ...headers },
      },
    });
  const call = (from: string, method: string, params?: object) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    return send('/mcp', from, { accept: 'application/json, text/event-stream' }, body);
  };
  const rest = (from: string, apiKey = key, more: Headers = {}): Promise<ApiAnswer> =>
    send('/api/v1/lookup/boards', from, { 'x-api-key': apiKey, ...more });
  const mcp = (from: string) => call(from, 'tools/list');
  const SUBSCRIPTIONS = '/api/v1/subscriptions';
  // The first requests load code, so their counts in Redis may come too late: then this process counts them alone.
  const first = newAddress();
  await Promise.all([rest(first), mcp(first)]);
  return {
    process,
    rest,
    mcp,
    /** A roster of so many items. */
    roster: (from: string, items: number) =>
      send(ROSTER_PATH, from, {}, JSON.stringify({ items: times(items, () => KNOWN) })),
    csv: (from: string, table: string) => send(ROSTER_PATH, from, { 'content-type': 'text/csv' }, table),
    rosterTool: (from: string, items: number) =>
      call(from, 'tools/call', { name: 'verify_roster', arguments: { items: times(items, () => KNOWN) } }),
    watch: (from: string, numbers: readonly string[]) => {
      const items = numbers.map((license_number) => ({ ...KNOWN, license_number }));
      return send(`${SUBSCRIPTIONS}/batch`, from, {}, JSON.stringify({ items }));
    },
    watched: (from: string) => send(SUBSCRIPTIONS, from, {}),
  };
}

/** A client address that sent no requests yet. */
function newAddress(): string {
  lastAddress += 1;
  return `198.51.100.${lastAddress}`;
}

/** Sends so many requests, one after the other. @returns their statuses */
async function spend(count: number, ask: () => Promise<ApiAnswer>): Promise<number[]> {
  const statuses: number[] = [];
  for (const _ of times(count, Number)) statuses.push((await ask()).status);
  return statuses;
}

const repeated = (status: number, count: number) => times(count, () => status);

/** Expects a 429 that says when to try again: within a minute. */
function expectLimited(answer: ApiAnswer): void {
  expect(detailIn(answer, 429)).toMatch(/^Too many requests; try again in \d+ seconds/);
  const seconds = Number(answer.headers.get('retry-after'));
  expect(seconds).toBeGreaterThanOrEqual(1);
  expect(seconds).toBeLessThanOrEqual(60);
}

const limitOf = ({ headers }: ApiAnswer) => Number(headers.get('x-ratelimit-limit'));

const remaining = ({ headers }: ApiAnswer) => Number(headers.get('x-ratelimit-remaining'));

describe('the limit of an address', () => {
  verifies('LIMITS-02', 'counts REST and the MCP server separately', async () => {
    const [address, other] = [newAddress(), newAddress()];
    expect(await spend(MCP, () => behindProxy.mcp(address))).toEqual(repeated(200, MCP));
    const over = await behindProxy.mcp(address);
    expectLimited(over);
    expect([limitOf(over), remaining(over)]).toEqual([MCP, 0]);
    expect(remaining(await behindProxy.rest(address))).toBe(REST - 1);

    await spend(REST, () => behindProxy.rest(other));
    expectLimited(await behindProxy.rest(other));
    expect(remaining(await behindProxy.mcp(other))).toBe(MCP - 1);
  });

  verifies('LIMITS-06', 'counts a request before its key is checked', async () => {
    const address = newAddress();
    await spend(REST, () => behindProxy.rest(address));
    for (const apiKey of [key, '', 'malformed', newApiKey('olv')])
      expectLimited(await behindProxy.rest(address, apiKey));
  });

  verifies('LIMITS-05', 'holds for simultaneous requests', async () => {
    const address = newAddress();
    const answers = await Promise.all(times(REST + 10, () => behindProxy.rest(address)));
    const statuses = answers.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([...repeated(200, REST), ...repeated(429, 10)]);
  });

  verifies('LIMITS-05', 'is shared by all processes; each warns once of no X-Forwarded-Proto', async () => {
    const second = await api(1);
    const address = newAddress();
    await spend(REST - 1, () => behindProxy.rest(address));
    expect(remaining(await second.rest(address))).toBe(0);
    expectLimited(await behindProxy.rest(address));
    expectLimited(await second.rest(address));
    expect((await second.rest(newAddress())).status).toBe(200);
    await second.process.stop();
    const warnings = second.process.output().match(/"msg":"a trusted proxy sends no X-Forwarded-Proto/g);
    expect(warnings).toHaveLength(1);
    expect(direct.process.output()).not.toContain('X-Forwarded-Proto');
  });
});

describe('bad keys', () => {
  verifies(['LIMITS-07', 'KEYS-03'], 'have a smaller limit, and leave valid keys working', async () => {
    expect((await behindProxy.rest(newAddress())).status).toBe(200);
    const address = newAddress();
    const guess = () => behindProxy.rest(address, newApiKey('olv'));
    expect(await spend(BAD_KEYS, guess)).toEqual(repeated(401, BAD_KEYS));
    expectLimited(await guess());
    expectLimited(await behindProxy.rest(address, 'malformed'));
    expectLimited(await behindProxy.rest(address, ''));
    await spend(REST, guess);
    const good = await behindProxy.rest(address);
    expect([good.status, remaining(good)]).toEqual([200, REST - 1]);
    expect((await behindProxy.rest(newAddress(), 'malformed')).status).toBe(401);
  });

  verifies('LIMITS-07', 'over their limit keep every key out that was not in use before', async () => {
    const address = newAddress();
    await spend(BAD_KEYS, () => behindProxy.rest(address, newApiKey('olv')));
    const given = { account: 'Guessed', verifiedBy: 'the tests' };
    const created = await createKey(environment.store, 'olv', given);
    const guessed = await behindProxy.rest(address, created.key);
    expectLimited(guessed);
    expect(limitOf(guessed)).toBe(BAD_KEYS);
    expect((await behindProxy.rest(newAddress(), created.key)).status).toBe(200);
    expect((await behindProxy.rest(address, created.key)).status).toBe(200);
  });

  verifies('LIMITS-07', 'in a burst over every limit leave valid keys of their address alone', async () => {
    expect((await behindProxy.rest(newAddress())).status).toBe(200);
    const address = newAddress();
    const guesses = times(3 * REST, () => behindProxy.rest(address, newApiKey('olv')));
    const refused = [...repeated(401, BAD_KEYS), ...repeated(429, 3 * REST - BAD_KEYS)];
    expect((await Promise.all(guesses)).map(({ status }) => status).toSorted()).toEqual(refused);
    expect(await spend(REST, () => behindProxy.rest(address))).toEqual(repeated(200, REST));
    expectLimited(await behindProxy.rest(address));
  });
});

describe('configured address ranges', () => {
  verifies('LIMITS-09', 'have their own limit for each address', async () => {
    for (const [address, neighbor] of [
      ['203.0.113.7', '203.0.113.8'],
      ['2001:db8:77:1::1', '2001:db8:77:2::1'],
    ] as const) {
      expect(limitOf(await behindProxy.rest(address))).toBe(PARTNER);
      expect(await spend(PARTNER - 1, () => behindProxy.rest(address))).toEqual(repeated(200, PARTNER - 1));
      expectLimited(await behindProxy.rest(address));
      expect((await behindProxy.rest(neighbor)).status).toBe(200);
    }
    expect(limitOf(await behindProxy.rest('203.0.114.7'))).toBe(REST);
  });

  verifies('LIMITS-09', 'may have another limit for the MCP server', async () => {
    for (const [address, ...limits] of [
      ['192.0.2.7', REST, ASSISTANTS],
      ['203.0.113.200', PARTNER, ASSISTANTS],
      ['203.0.113.70', PARTNER, PARTNER],
      ['203.0.114.70', REST, MCP],
    ] as const) {
      const answers = [await behindProxy.rest(address), await behindProxy.mcp(address)];
      expect([address, ...answers.map(limitOf)]).toEqual([address, ...limits]);
    }
    expect(await spend(ASSISTANTS, () => behindProxy.mcp('192.0.2.8'))).toEqual(repeated(200, ASSISTANTS));
    expectLimited(await behindProxy.mcp('192.0.2.8'));
  });
});

describe('the address of a client', () => {
  verifies('LIMITS-08', 'behind one trusted proxy is what it added, whatever the client sent', async () => {
    const address = newAddress();
    for (const [at, from] of [
      ...[address, `203.0.113.9, ${address}`, `1.2.3.4, 5.6.7.8,${address}`, `::ffff:${address}`],
      `${address}:50123`,
    ].entries())
      expect([from, remaining(await behindProxy.rest(from))]).toEqual([from, REST - 1 - at]);
    const forwarded = { forwarded: 'for=203.0.113.77' };
    expect(remaining(await behindProxy.rest(address, key, forwarded))).toBe(REST - 6);
    expect((await behindProxy.rest('not-an-address')).status).toBe(200);
  });

  verifies('LIMITS-08', 'is counted by its /64 network for IPv6', async () => {
    expect(remaining(await behindProxy.rest('2001:db8:1:2::1'))).toBe(REST - 1);
    expect(remaining(await behindProxy.rest('2001:db8:1:2:ffff::9'))).toBe(REST - 2);
    expect(remaining(await behindProxy.rest('2001:db8:1:3::1'))).toBe(REST - 1);
  });

  verifies('LIMITS-08', 'without a trusted proxy is that of the connection, whatever is sent', async () => {
    const left = remaining(await direct.rest(newAddress()));
    expect(left).toBeGreaterThan(0);
    expect(await spend(left, () => direct.rest(newAddress()))).toEqual(repeated(200, left));
    expectLimited(await direct.rest(newAddress()));
    expectLimited(await direct.rest('203.0.113.7'));
  });
});

describe('a request', () => {
  const by = (protocol: string, asked = behindProxy) =>
    asked.rest(newAddress(), key, { 'x-forwarded-proto': protocol });

  verifies('HTTPS-02', 'over HTTPS, by a trusted proxy, gets Strict-Transport-Security', async () => {
    const header = ({ headers }: ApiAnswer) => headers.get('strict-transport-security');
    expect(header(await by('https'))).toMatch(/^max-age=\d{7,}/);
    expect([await by('http'), await by('https', direct)].map(header)).toEqual([null, null]);
  });

  verifies(['HTTPS-01', 'HTTPS-03'], 'over plain HTTP, as the nearest proxy says, is refused', async () => {
    const detail = 'Only https requests are accepted; use the https address.';
    for (const protocol of ['http', 'HTTP', 'https, http']) {
      const answer = await by(protocol);
      expect([protocol, detailIn(answer, 403)]).toEqual([protocol, detail]);
      expect(answer.headers.get('x-ratelimit-remaining')).not.toBeNull();
    }
    for (const protocol of ['https', 'HTTPS', 'http, https', 'wss', ''])
      expect([protocol, (await by(protocol)).status]).toEqual([protocol, 200]);
    expect((await by('http', direct)).status).not.toBe(403);
  });
});

describe('a roster', () => {
  test.each([
    [1, 1],
    [5, 1],
    [6, 2],
    [10, 2],
    [51, 11],
    [100, 20],
  ])('of %d items costs %d requests of a limit of 20', async (items, requests) => {
    const answer = await behindProxy.roster(newAddress(), items);
    expect([answer.status, remaining(answer)]).toEqual([200, REST - requests]);
  });

  test('in CSV costs the same, and one that is invalid costs one request', async () => {
    const address = newAddress();
    expect((await behindProxy.csv(address, 'nothing\n')).status).toBe(400);
    const answer = await behindProxy.csv(address, `license_number\n${'RN.700001\n'.repeat(11)}`);
    expect([answer.status, remaining(answer)]).toEqual([200, REST - 4]);
  });

  test('costs as much as to watch its licenses, and to list those that are watched', async () => {
    const address = newAddress();
    const numbers = ['RN.700001', 'RN.700002', 'RN.700003', 'RN.700005', 'RN.700015', 'RN.700020'];
    const watched = await behindProxy.watch(address, numbers);
    expect([watched.body, remaining(watched)]).toMatchObject([{ summary: { created: 6 } }, REST - 2]);
    expect(remaining(await behindProxy.watched(address))).toBe(REST - 4);
  });

  test('over what is left is refused whole, says when to come again, and costs one request', async () => {
    const address = newAddress();
    expect(remaining(await behindProxy.roster(address, 60))).toBe(8);
    const refused = await behindProxy.roster(address, 41);
    expectLimited(refused);
    expect([remaining(refused), remaining(await behindProxy.roster(address, 35))]).toEqual([0, 0]);
    expectLimited(await behindProxy.roster(address, 1));
  });

  test('over a whole minute’s limit is refused with how many items fit', async () => {
    const address = newAddress();
    expect(detailIn(await behindProxy.roster(address, 101), 413)).toBe(
      'This request is for 101 licenses; your limit of 20 requests a minute allows at most 100. Ask for fewer.',
    );
    expect(remaining(await behindProxy.roster(address, 5))).toBe(REST - 2);
  });

  test('of the MCP tool costs the same of the limit of MCP', async () => {
    const address = newAddress();
    const answer = await behindProxy.rosterTool(address, 11);
    expect([answer.status, remaining(answer)]).toEqual([200, MCP - 3]);
    expectLimited(await behindProxy.rosterTool(address, 16));
  });
});
