import { beforeAll, describe, expect, test } from '@jest/globals';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import type { RunningProcess } from '../../scripts/processes.ts';
import {
  type AddressApi,
  expectLimited,
  newAddress,
  repeated,
  spend,
  startAddressApi,
} from '../support/address-api.ts';
import { type ApiAnswer, apiClient } from '../support/api.ts';
import { FIXTURES, times } from '../support/fixtures.ts';
import { publishFiles } from '../support/publishing.ts';
import { verifies } from '../support/verifies.ts';

const REST = 20;

let environment: TestEnvironment;
let key: string;
const running: RunningProcess[] = [];

async function api(settings: Record<string, string>): Promise<AddressApi> {
  const started = await startAddressApi(environment, key, settings);
  running.push(started.process);
  return started;
}

let behindProxy: AddressApi;
let direct: AddressApi;

beforeAll(async () => {
  environment = await testEnvironment({ REST_REQUESTS_PER_MINUTE: String(REST) });
  await publishFiles(environment, FIXTURES);
  ({ key } = await apiClient(environment));
  behindProxy = await api({ TRUSTED_PROXIES: '1' });
  direct = await api({ TRUSTED_PROXIES: '0' });
});

describe('the address of a client', () => {
  function remaining(answer: ApiAnswer): number {
    return Number(answer.headers.get('x-ratelimit-remaining'));
  }

  verifies(
    'LIMITS-08',
    'behind one trusted proxy is the address that this proxy added, whatever the client sent',
    async () => {
      const address = newAddress();
      expect(remaining(await behindProxy.rest(address))).toBe(REST - 1);
      expect(remaining(await behindProxy.rest(`203.0.113.9, ${address}`))).toBe(REST - 2);
      expect(remaining(await behindProxy.rest(`1.2.3.4, 5.6.7.8,${address}`))).toBe(REST - 3);
      expect(remaining(await behindProxy.rest(`::ffff:${address}`))).toBe(REST - 4);
      expect((await behindProxy.rest('not-an-address')).status).toBe(200);
    },
  );

  verifies('LIMITS-08', 'is counted by its /64 network for IPv6', async () => {
    expect(remaining(await behindProxy.rest('2001:db8:1:2::1'))).toBe(REST - 1);
    expect(remaining(await behindProxy.rest('2001:db8:1:2:ffff::9'))).toBe(REST - 2);
    expect(remaining(await behindProxy.rest('2001:db8:1:3::1'))).toBe(REST - 1);
  });

  verifies(
    'LIMITS-08',
    'without a trusted proxy is the address of the connection: a forged header changes nothing',
    async () => {
      const left = remaining(await direct.rest(newAddress()));
      expect(left).toBeGreaterThan(0);
      expect(await spend(left, () => direct.rest(newAddress()))).toEqual(repeated(200, left));
      expectLimited(await direct.rest(newAddress()));
      expectLimited(await direct.rest('203.0.113.7'));
    },
  );
});

describe('a request', () => {
  verifies(
    'HTTPS-02',
    'over HTTPS, according to a trusted proxy, gets Strict-Transport-Security',
    async () => {
      const byHttps = { 'x-forwarded-proto': 'https' };
      const header = async (asked: AddressApi, more: Record<string, string>) =>
        (await asked.rest(newAddress(), key, more)).headers.get('strict-transport-security');
      expect(await header(behindProxy, byHttps)).toMatch(/^max-age=\d{7,}/);
      expect(await header(behindProxy, { 'x-forwarded-proto': 'http' })).toBeNull();
      expect(await header(direct, byHttps)).toBeNull();
    },
  );

  test('without X-Forwarded-Proto from the proxy is logged as a warning, once', async () => {
    const proxied = await api({ TRUSTED_PROXIES: '1' });
    for (const _ of times(3, Number)) expect((await proxied.rest(newAddress())).status).toBe(200);
    await proxied.process.stop();
    expect(proxied.process.output().match(/"msg":"a trusted proxy sends no X-Forwarded-Proto/g)).toHaveLength(
      1,
    );
    expect(direct.process.output()).not.toContain('X-Forwarded-Proto');
  });

  verifies(
    ['HTTPS-01', 'HTTPS-03'],
    'over plain HTTP, according to the nearest trusted proxy, is refused',
    async () => {
      const statusOf = async (asked: AddressApi, protocol: string) =>
        (await asked.rest(newAddress(), key, { 'x-forwarded-proto': protocol })).status;
      for (const protocol of ['http', 'HTTP', 'https, http']) {
        const answer = await behindProxy.rest(newAddress(), key, { 'x-forwarded-proto': protocol });
        expect([protocol, answer.status, answer.body]).toMatchObject([
          protocol,
          403,
          { detail: 'Requests are taken by https only; send this one to the https address.' },
        ]);
        expect(answer.headers.get('x-ratelimit-remaining')).not.toBeNull();
      }
      for (const protocol of ['https', 'HTTPS', 'http, https', '']) {
        expect([protocol, await statusOf(behindProxy, protocol)]).toEqual([protocol, 200]);
      }
      expect(await statusOf(direct, 'http')).not.toBe(403);
    },
  );
});
