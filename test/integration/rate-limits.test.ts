import { beforeAll, describe, expect } from '@jest/globals';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import type { RunningProcess } from '../../scripts/processes.ts';
import { createKey, newApiKey } from '../../src/access/api-keys.ts';
import {
  type AddressApi,
  expectLimited,
  newAddress,
  repeated,
  spend,
  startAddressApi,
} from '../support/address-api.ts';
import { apiClient } from '../support/api.ts';
import { FIXTURES, times } from '../support/fixtures.ts';
import { publishFiles } from '../support/publishing.ts';
import { verifies } from '../support/verifies.ts';

const REST = 20;
const MCP = 6;
/** A twentieth of the REST limit, but at least ten. */
const BAD_KEYS = 10;
const PARTNER = 25;
const ASSISTANTS = 9;

const SETTINGS = {
  REST_REQUESTS_PER_MINUTE: String(REST),
  MCP_REQUESTS_PER_MINUTE: String(MCP),
  RATE_LIMIT_RANGES: `203.0.113.0/24=${PARTNER}, 2001:db8:77::/48=${PARTNER}`,
  MCP_RATE_LIMIT_RANGES: `203.0.113.128/25=${ASSISTANTS}, 192.0.2.0/24=${ASSISTANTS}`,
};

let environment: TestEnvironment;
let key: string;
const running: RunningProcess[] = [];

async function api(settings: Record<string, string>): Promise<AddressApi> {
  const started = await startAddressApi(environment, key, settings);
  running.push(started.process);
  return started;
}

let behindProxy: AddressApi;

beforeAll(async () => {
  environment = await testEnvironment(SETTINGS);
  await publishFiles(environment, FIXTURES);
  ({ key } = await apiClient(environment));
  behindProxy = await api({ TRUSTED_PROXIES: '1' });
});

describe('the limit of an address', () => {
  verifies('LIMITS-02', 'counts REST and the MCP server separately', async () => {
    const [address, other] = [newAddress(), newAddress()];
    expect(await spend(MCP, () => behindProxy.mcp(address))).toEqual(repeated(200, MCP));
    const over = await behindProxy.mcp(address);
    expectLimited(over);
    expect(over.headers.get('x-ratelimit-limit')).toBe(String(MCP));
    expect((await behindProxy.rest(address)).headers.get('x-ratelimit-remaining')).toBe(String(REST - 1));

    await spend(REST, () => behindProxy.rest(other));
    expectLimited(await behindProxy.rest(other));
    expect((await behindProxy.mcp(other)).headers.get('x-ratelimit-remaining')).toBe(String(MCP - 1));
  });

  verifies('LIMITS-06', 'counts a request before its key is checked', async () => {
    const address = newAddress();
    await spend(REST, () => behindProxy.rest(address));
    for (const apiKey of [key, '', 'malformed', newApiKey('olv')]) {
      expectLimited(await behindProxy.rest(address, apiKey));
    }
  });

  verifies('LIMITS-05', 'holds for simultaneous requests', async () => {
    const address = newAddress();
    const answers = await Promise.all(times(REST + 10, () => behindProxy.rest(address)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(REST);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(10);
  });

  verifies('LIMITS-05', 'is shared by all API processes', async () => {
    const second = await api({ TRUSTED_PROXIES: '1' });
    const address = newAddress();
    await spend(REST - 1, () => behindProxy.rest(address));
    expect((await second.rest(address)).headers.get('x-ratelimit-remaining')).toBe('0');
    expectLimited(await behindProxy.rest(address));
    expectLimited(await second.rest(address));
  });
});

describe('bad keys', () => {
  verifies(
    ['LIMITS-07', 'KEYS-03'],
    'have a smaller limit, and valid keys from the same address keep working',
    async () => {
      expect((await behindProxy.rest(newAddress())).status).toBe(200);
      const address = newAddress();
      const guess = () => behindProxy.rest(address, newApiKey('olv'));
      expect(await spend(BAD_KEYS, guess)).toEqual(repeated(401, BAD_KEYS));
      expectLimited(await guess());
      expectLimited(await behindProxy.rest(address, 'malformed'));
      expectLimited(await behindProxy.rest(address, ''));
      await spend(REST, guess);
      const good = await behindProxy.rest(address);
      expect(good.status).toBe(200);
      expect(good.headers.get('x-ratelimit-remaining')).toBe(String(REST - 1));
      expect((await behindProxy.rest(newAddress(), 'malformed')).status).toBe(401);
    },
  );
});

describe('an address over its limit of bad keys', () => {
  verifies('LIMITS-07', 'cannot use any key, valid or not, that was not in use before', async () => {
    const address = newAddress();
    await spend(BAD_KEYS, () => behindProxy.rest(address, newApiKey('olv')));
    const created = await createKey(environment.store, 'olv', {
      account: 'Guessed',
      verifiedBy: 'the tests',
    });
    const guessed = await behindProxy.rest(address, created.key);
    expectLimited(guessed);
    expect(guessed.headers.get('x-ratelimit-limit')).toBe(String(BAD_KEYS));
    expect((await behindProxy.rest(newAddress(), created.key)).status).toBe(200);
    expect((await behindProxy.rest(address, created.key)).status).toBe(200);
  });
});

describe('a burst of bad keys', () => {
  verifies(
    'LIMITS-07',
    'far over every limit does not use up the requests of valid keys from the same address',
    async () => {
      expect((await behindProxy.rest(newAddress())).status).toBe(200);
      const address = newAddress();
      const guesses = times(3 * REST, () => behindProxy.rest(address, newApiKey('olv')));
      const statuses = (await Promise.all(guesses)).map(({ status }) => status);
      expect(statuses.toSorted()).toEqual([
        ...repeated(401, BAD_KEYS),
        ...repeated(429, 3 * REST - BAD_KEYS),
      ]);
      expect(await spend(REST, () => behindProxy.rest(address))).toEqual(repeated(200, REST));
      expectLimited(await behindProxy.rest(address));
    },
  );
});

describe('configured address ranges', () => {
  verifies('LIMITS-09', 'have their own limit for each address', async () => {
    for (const [address, neighbor] of [
      ['203.0.113.7', '203.0.113.8'],
      ['2001:db8:77:1::1', '2001:db8:77:2::1'],
    ] as const) {
      const first = await behindProxy.rest(address);
      expect(first.headers.get('x-ratelimit-limit')).toBe(String(PARTNER));
      expect(await spend(PARTNER - 1, () => behindProxy.rest(address))).toEqual(repeated(200, PARTNER - 1));
      expectLimited(await behindProxy.rest(address));
      expect((await behindProxy.rest(neighbor)).status).toBe(200);
    }
    expect((await behindProxy.rest('203.0.114.7')).headers.get('x-ratelimit-limit')).toBe(String(REST));
  });

  verifies('LIMITS-09', 'may have another limit for the MCP server', async () => {
    for (const [address, rest, mcp] of [
      ['192.0.2.7', REST, ASSISTANTS],
      ['203.0.113.200', PARTNER, ASSISTANTS],
      ['203.0.113.70', PARTNER, PARTNER],
      ['203.0.114.70', REST, MCP],
    ] as const) {
      const limits = [await behindProxy.rest(address), await behindProxy.mcp(address)].map(({ headers }) =>
        Number(headers.get('x-ratelimit-limit')),
      );
      expect([address, ...limits]).toEqual([address, rest, mcp]);
    }
    expect(await spend(ASSISTANTS, () => behindProxy.mcp('192.0.2.8'))).toEqual(repeated(200, ASSISTANTS));
    expectLimited(await behindProxy.mcp('192.0.2.8'));
  });
});
