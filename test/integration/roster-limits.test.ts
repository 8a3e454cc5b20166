import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectLimited } from '../support/address-api.ts';
import { detailIn } from '../support/answers.ts';
import type { ApiAnswer } from '../support/api.ts';
import { times } from '../support/fixtures.ts';
import { sendRoster, sendTable } from '../support/rosters.ts';
import { startService, type TestService } from '../support/service.ts';

const REQUESTS = 20;
const ITEMS_PER_REQUEST = 5;
const MCP_REQUESTS = 4;
const KNOWN = { board: 'Nursing Board', license_number: 'RN.700001' };

let service: TestService;
let lastAddress = 0;

beforeAll(async () => {
  service = await startService({
    settings: {
      REST_REQUESTS_PER_MINUTE: String(REQUESTS),
      MCP_REQUESTS_PER_MINUTE: String(MCP_REQUESTS),
      ROSTER_ITEMS_PER_REQUEST: String(ITEMS_PER_REQUEST),
      TRUSTED_PROXIES: '1',
    },
  });
});
afterAll(() => service.stop());

/** Sends rosters of so many items from one new address, one after the other. */
function newClient() {
  lastAddress += 1;
  const headers = { 'x-forwarded-for': `198.51.100.${lastAddress}` };
  return {
    send: (items: number): Promise<ApiAnswer> =>
      sendRoster(service.rest, { items: times(items, () => KNOWN) }, headers),
    callTool: (items: number): Promise<ApiAnswer> =>
      service.rest.request('POST', '/mcp', {
        headers: {
          ...headers,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'verify_roster', arguments: { items: times(items, () => KNOWN) } },
        }),
      }),
    sendTable: (table: string) => sendTable(service.rest, table, '', headers),
  };
}

function remaining({ headers }: ApiAnswer): number {
  return Number(headers.get('x-ratelimit-remaining'));
}

test.each([
  [1, 1],
  [5, 1],
  [6, 2],
  [10, 2],
  [51, 11],
  [100, 20],
])('a roster of %d items costs %d requests of a limit of 20', async (items, requests) => {
  const answer = await newClient().send(items);
  expect([answer.status, remaining(answer)]).toEqual([200, REQUESTS - requests]);
});

test('CSV costs the same', async () => {
  const answer = await newClient().sendTable(`license_number\n${'RN.700001\n'.repeat(11)}`);
  expect([answer.status, remaining(answer)]).toEqual([200, REQUESTS - 3]);
});

test('a roster over what is left is refused whole, says when to come again, and costs one request', async () => {
  const { send } = newClient();
  expect(remaining(await send(60))).toBe(8);
  const refused = await send(41);
  expectLimited(refused);
  expect(remaining(refused)).toBe(0);
  expect(remaining(await send(35))).toBe(0);
  expectLimited(await send(1));
});

test('a roster over a whole minute’s limit is refused with how many items fit', async () => {
  const { send } = newClient();
  expect(detailIn(await send(101), 413)).toBe(
    'This request is for 101 licenses; your limit of 20 requests a minute allows at most 100. Ask for fewer.',
  );
  expect(remaining(await send(5))).toBe(REQUESTS - 2);
});

test('an invalid roster costs one request', async () => {
  const { send, sendTable: sendCsv } = newClient();
  expect((await sendCsv('nothing\n')).status).toBe(400);
  expect(remaining(await send(1))).toBe(REQUESTS - 2);
});

test('the MCP tool costs the same of the limit of MCP', async () => {
  const { callTool } = newClient();
  const answer = await callTool(11);
  expect([answer.status, remaining(answer)]).toEqual([200, MCP_REQUESTS - 3]);
  expectLimited(await callTool(6));
});
