import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect } from '@jest/globals';
import { z } from 'zod';
import { licenses } from '../../scripts/licenses-processes.ts';
import { apiKeyHash } from '../../src/access/api-keys.ts';
import { rawRequest } from '../support/raw-http.ts';
import { startService, type TestService } from '../support/service.ts';
import { verifies } from '../support/verifies.ts';

const ACCOUNT = 'Acme Staffing LLC';
const VERIFIER = 'Ada Operator';
/** A run of this many characters of a key does not occur elsewhere by chance. */
const PART_LENGTH = 8;
/** Time for more than a dozen commands on a busy machine. */
const RUNS_COMMANDS_FOR_MS = 240_000;

let service: TestService;

beforeAll(async () => {
  service = await startService({ settings: { LOG_LEVEL: 'trace' } });
});

/** What `licenses` printed. */
async function printed(...parameters: string[]): Promise<string> {
  const { code, stdout, stderr } = await licenses(service.environment.variables, ...parameters);
  expect([parameters, code]).toEqual([parameters, 0]);
  return stdout + stderr;
}

/** The only key in this text. */
function keyIn(text: string): string {
  const [key = '', ...others] = text.match(/olv_[0-9A-Za-z]{49}/g) ?? [];
  expect([key, others]).toEqual([expect.stringMatching(/^olv_/), []]);
  return key;
}

function idOf(key: string): string {
  return apiKeyHash(key).slice(0, 12);
}

/** Parts of a key's secret that occur in this text. */
function partsShown(key: string, text: string): string[] {
  const secret = key.slice('olv_'.length);
  const parts = Array.from(secret, (_, at) => secret.slice(at, at + PART_LENGTH));
  return parts.filter((part) => part.length === PART_LENGTH && text.includes(part));
}

function statusFor(key: string): Promise<number> {
  return rawRequest({
    ...{ port: service.environment.config.PORT, method: 'GET', path: '/api/v1/lookup/boards' },
    headers: { 'x-api-key': key },
  }).then(({ status }) => status);
}

const documents = z.object({
  hits: z.object({
    total: z.object({ value: z.int() }),
    hits: z.array(z.object({ _index: z.string(), _id: z.string(), _source: z.unknown() })),
  }),
});

/** Every document in OpenSearch, with the names of the indices. */
async function everythingStored() {
  const { client, config } = service.environment;
  const index = `${config.INDEX_PREFIX}*`;
  await client.indices.refresh({ index });
  const { hits, total } = documents.parse((await client.search({ index, body: { size: 10_000 } })).body).hits;
  expect(hits).toHaveLength(total.value);
  return { text: JSON.stringify(hits), indices: new Set(hits.map((hit) => hit._index)) };
}

verifies(
  'KEYS-04',
  'a key is printed once, by the command that issues it; no output, log or document has any part of it',
  async () => {
    const { environment, api } = service;
    const issue = ['keys', 'create', ACCOUNT, '--verified-by', VERIFIER];
    const keys = [keyIn(await printed(...issue)), keyIn(await printed(...issue, '--json'))];
    const [first = '', second = ''] = keys;
    keys.push(keyIn(await printed('keys', 'rotate', idOf(first))));
    keys.push(keyIn(await printed('keys', 'rotate', idOf(second), '--json')));
    expect(new Set(keys).size).toBe(4);
    for (const key of keys) expect(await statusFor(key)).toBe(200);

    const backup = join(environment.folder, 'licenses.backup');
    const shown = [
      await printed('keys', 'revoke', idOf(first)),
      await printed('keys', 'revoke', idOf(second), '--json'),
      await printed('keys', 'list'),
      await printed('keys', 'list', '--json'),
      await printed('keys', 'usage'),
      await printed('keys', 'usage', '--json'),
      await printed('keys', 'usage', idOf(first)),
      await printed('publications', '--json'),
      await printed('backup', backup),
      await readFile(backup, 'utf8'),
    ];
    // The process writes its counts and the rest of its log when it stops.
    await api.stop();
    const stored = await everythingStored();
    const log = api.output();
    expect(log.match(/"path":"\/api\/v1\/lookup\/boards"/g)).toHaveLength(keys.length);
    for (const key of keys) {
      expect(stored.text).toContain(`"sha256":"${apiKeyHash(key)}"`);
      for (const text of [...shown, stored.text, log]) expect(partsShown(key, text)).toEqual([]);
    }
    const { INDEX_PREFIX: prefix } = environment.config;
    const families = [...stored.indices].map((index) => index.slice(prefix.length)).sort();
    expect(families).toEqual(
      expect.arrayContaining(['accounts', 'api-key-usage', 'api-keys', 'publications']),
    );
  },
  RUNS_COMMANDS_FOR_MS,
);

verifies('KEYS-04', 'the account of a key has the name of its verifier and the time', async () => {
  const { store, client } = service.environment;
  const account = 'Verified Care Inc';
  const begun = Date.now();
  const key = keyIn(await printed('keys', 'create', account, '--verified-by', VERIFIER));
  const found = documents.parse(
    (
      await client.search({
        index: store.names.accounts,
        body: { query: { term: { account } } },
      })
    ).body,
  );
  const entered = z
    .object({ account: z.string(), verified_by: z.string(), verified_at: z.iso.datetime() })
    .array()
    .length(1)
    .parse(found.hits.hits.map((hit) => hit._source));
  expect(entered).toMatchObject([{ account, verified_by: VERIFIER }]);
  const [{ verified_at } = { verified_at: '' }] = entered;
  expect(Date.parse(verified_at)).toBeGreaterThanOrEqual(begun);
  expect(Date.parse(verified_at)).toBeLessThanOrEqual(Date.now());
  expect(await printed('keys', 'list', '--json')).toContain(idOf(key));
});
