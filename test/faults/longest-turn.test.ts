/** @long @room lookups */
import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import type { ApiAnswer } from '../support/api.ts';
import { rawRequest } from '../support/raw-http.ts';
import { ROSTER_PATH } from '../support/rosters.ts';
import { valueAt } from '../support/series.ts';
import { startService } from '../support/service.ts';
import {
  COMPRESSIONS,
  filled,
  formParts,
  PARTS_TYPE,
  WORST_FORMS,
  WORST_HEADERS,
  WORST_PARTS,
  WORST_ROSTERS,
  WORST_TABLES,
  WORST_VALUES,
} from '../support/worst-bodies.ts';

/** So long a request may keep the event loop at a time, in user CPU time: all others wait for it. */
const MAX_TURN_MS = 100;

const FORM = 'application/x-www-form-urlencoded';
const LOOKUP_PATH = '/api/v1/lookup/verify';
const JSON_TYPE = 'application/json';
const MEGABYTE = 1024 * 1024;
const LOOKUP_BYTES = 16 * 1024;

const meter = resolve(import.meta.dirname, '../support/longest-turn.ts');
const service = await startService({ settings: { NODE_OPTIONS: `--import=${meter}` } });
const { PORT, ADMIN_PORT } = service.environment.config;
const origin = `http://127.0.0.1:${PORT}`;

/** The longest turn since it was asked for last, in milliseconds. */
const longestTurn = () => valueAt(ADMIN_PORT, 'test_longest_turn_ms');

/**
 * Expects that an answer comes, that it is none of a failure, and that it keeps the event loop for no longer than
 * allowed, in one of three tries: the process may collect garbage meanwhile.
 */
async function expectShort(send: () => Promise<ApiAnswer>): Promise<void> {
  let status = 0;
  let ms = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 3 && ms >= MAX_TURN_MS; tries += 1) {
    await longestTurn();
    ({ status } = await send());
    ms = await longestTurn();
  }
  expect({ status, ms, isShort: ms < MAX_TURN_MS && status < 500 }).toEqual({ status, ms, isShort: true });
}

const allHeaders = (more: Record<string, string>) => ({
  ...{ host: new URL(origin).host, origin, 'x-api-key': service.rest.key },
  ...more,
});

const send = (path: string, body: string | Buffer, headers: Record<string, string>) =>
  rawRequest(PORT, path, { method: 'POST', body, headers: allHeaders(headers) });

const get = (path: string, headers: Record<string, string> = {}) =>
  rawRequest(PORT, path, { headers: allHeaders({ accept: 'text/html', ...headers }) });

const rosterPage = (body: string | Buffer, type: string, headers: Record<string, string> = {}) =>
  send('/roster', body, { 'content-type': type, accept: 'text/html', ...headers });

// What runs for the first time is compiled first, which is not the request's doing.
for (const text of ['license_number\nRN.700001\n', 'last_name\nSmith\n'])
  for (let times = 0; times < 5; times += 1) await rosterPage(formParts('roster', text), PARTS_TYPE);

const OF_MESSAGES = { 'content-type': JSON_TYPE, accept: `${JSON_TYPE}, text/event-stream` };
const message = (text: string, headers: Record<string, string> = {}) =>
  send('/mcp', text, { ...OF_MESSAGES, ...headers });

const call = (name: string, parameters: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${parameters}}}`;

const manyArguments = (value: string): string =>
  `{${Array.from({ length: 1000 }, (_, at) => `"a${at}":${value}`).join()}}`;

const nested = (): string => `${'['.repeat(7000)}${']'.repeat(7000)}`;

const badBoards = (): string =>
  Array(50)
    .fill(`{"board":"${filled('nursng bord ', 190)}","last_name":"x"}`)
    .join();

describe('no request keeps the event loop for long', () => {
  test.each(WORST_TABLES)('a CSV of %s', async (_name, table) => {
    await expectShort(() =>
      send(`${ROSTER_PATH}?board=Nursing%20Board`, table, { 'content-type': 'text/csv' }),
    );
    await expectShort(() => rosterPage(formParts('roster', table.slice(0, -200)), PARTS_TYPE));
  });

  test.each(WORST_ROSTERS)('a JSON roster of %s', (_name, roster) =>
    expectShort(() => send(ROSTER_PATH, roster, { 'content-type': JSON_TYPE })),
  );

  test.each(WORST_FORMS)('a form of %s', (_name, form) => expectShort(() => rosterPage(form, FORM)));

  test.each(WORST_PARTS)('a form in parts of %s', (_name, form) =>
    expectShort(() => rosterPage(form, PARTS_TYPE)),
  );

  test('a form in parts with a long boundary', () => {
    const boundary = filled('-', 8000);
    const form = filled(`${boundary.slice(1)}x`, MEGABYTE);
    return expectShort(() => rosterPage(form, `multipart/form-data; boundary=${boundary}`));
  });

  test.each([...COMPRESSIONS])('a body of 1 MB and one of 128 MB in %s', async (encoding, compress) => {
    for (const text of [filled('a&', MEGABYTE), Buffer.alloc(128 * MEGABYTE)]) {
      const compressed = compress(text);
      await expectShort(() => rosterPage(compressed, FORM, { 'content-encoding': encoding }));
    }
  });

  test('a form of a kilobyte that unpacks to stray marks', async () => {
    const [[, table] = ['', '']] = WORST_TABLES;
    const form = gzipSync(formParts('roster', table.slice(0, 1_000_000)), { level: 9 });
    await expectShort(() => rosterPage(form, PARTS_TYPE, { 'content-encoding': 'gzip' }));
  });

  test.each([
    ['nested lists', filled('[', LOOKUP_BYTES)],
    ['a call with many arguments', call('verify_license', manyArguments(`"RN.1"`))],
    ['a call with many unknown arguments', call('search_licenses_by_name', manyArguments('{}'))],
    ['a call with nested arguments', call('verify_license', `{"license_number":${nested()}}`)],
    ['a roster of numbers', call('verify_roster', `{"items":[${filled('0,', 14_000)}0]}`)],
    ['a roster of objects', call('verify_roster', `{"items":[${filled('{},', 13_998)}{}]}`)],
    ['50 items with unknown boards', call('verify_roster', `{"items":[${badBoards()}]}`)],
    ['a long board', call('verify_license', `{"license_number":"1","board":"${filled('q ', 14_000)}"}`)],
    ['a long method', `{"jsonrpc":"2.0","id":1,"method":"${filled('a/', 15_000)}"}`],
    ['a long id', `{"jsonrpc":"2.0","id":"${filled('a', 15_000)}","method":"tools/list"}`],
    ['a batch', `[${filled('{},', 14_997)}{}]`],
  ])('an MCP message of %s', async (_name, text) => {
    await expectShort(() => message(text));
    await expectShort(() => message(text, { 'mcp-protocol-version': '2026-07-28' }));
  });

  test.each(WORST_HEADERS)('a header of %s', async (_name, value) => {
    for (const name of ['accept', 'accept-encoding', 'accept-language', 'content-type', 'cookie', 'range'])
      await expectShort(() => get('/nothing', { [name]: value }));
    const sending = ['content-type', 'accept', 'content-encoding', 'origin', 'x-forwarded-for', 'mcp-name'];
    for (const name of sending) {
      await expectShort(() => send(ROSTER_PATH, '{}', { 'content-type': JSON_TYPE, [name]: value }));
      await expectShort(() => rosterPage('a=b', FORM, { [name]: value }));
      await expectShort(() => message('{}', { [name]: value }));
    }
  });

  test.each(WORST_VALUES)('a roster of which each field has %s', async (_name, value) => {
    for (const field of ['license_number', 'last_name', 'business_name', 'board']) {
      const required = field === 'license_number' ? {} : { last_name: value };
      const business = field === 'business_name' ? { search_type: 'business' } : {};
      const item = { board: 'Nursing Board', ...required, ...business, [field]: value };
      const roster = JSON.stringify({ items: Array(300).fill(item) });
      await expectShort(() => send(ROSTER_PATH, roster, { 'content-type': JSON_TYPE }));
      await expectShort(() => send(LOOKUP_PATH, JSON.stringify(item), { 'content-type': JSON_TYPE }));
      await expectShort(() =>
        message(call('verify_license', JSON.stringify({ license_number: value, [field]: value }))),
      );
    }
  });

  test.each(WORST_HEADERS)('an address of %s', async (_name, value) => {
    const text = encodeURI(value)
      .slice(0, 15_000)
      .replace(/%[^%]?$/, '');
    for (const path of ['/?', '/', '/licenses/NUR/', '/api/v1/changes?since=', `/api/v1/lookup/boards/`])
      await expectShort(() => get(path + text));
  });
});
