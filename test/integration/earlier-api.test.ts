import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import { testEnvironment } from '../../scripts/environment.ts';
import { startApi } from '../../scripts/licenses-processes.ts';
import { ACCOUNTS } from '../../src/access/accounts.ts';
import { API_KEYS } from '../../src/access/api-keys.ts';
import { KEY_USAGE } from '../../src/access/usage.ts';
import { CHANGES } from '../../src/changes/stored-changes.ts';
import { EARLIER_SEGMENTS, SWITCHES } from '../../src/changes/stored-feed.ts';
import { SERVICE_VERSION } from '../../src/config.ts';
import { storedLicense } from '../../src/licenses/license.ts';
import { LEDGER_EPOCH } from '../../src/publications/fence.ts';
import { LEDGER_EVENTS } from '../../src/publications/ledger.ts';
import { liveIndex, publicationMetadata } from '../../src/publications/metadata.ts';
import { REJECTED_ROWS } from '../../src/publications/rejected-rows.ts';
import { SAVED_RECORDS, savedRecords } from '../../src/records/saved-records.ts';
import { AUDIT_ENTRIES } from '../../src/storage/audit-log.ts';
import { SUBSCRIPTIONS } from '../../src/subscriptions/subscription.ts';
import { WEBHOOKS } from '../../src/subscriptions/webhook.ts';
import { apiClient, parsed } from '../support/api.ts';
import { licensesOf, writeDay } from '../support/day-files.ts';
import { FIXTURES } from '../support/fixtures.ts';
import { command } from '../support/in-process.ts';
import { startProxy } from '../support/proxy.ts';
import { publishFiles } from '../support/publishing.ts';
import { RECORD_LIMITS, shownNurse } from '../support/saved-records.ts';
import { readStoredData, saveStoredData } from '../support/stored-data.ts';
import { SECRET_KEY } from '../support/webhooks.ts';

/**
 * What the API of each released version asks OpenSearch for each kind of lookup, what that finds in the fixtures, and
 * the schemas of what it reads. During an upgrade, and after going back, an earlier API reads what this version wrote.
 */
const STORED = resolve(import.meta.dirname, '../fixtures/stored-data');
/** The schemas in the first line, then a request in each. */
const READER_FILE = 'reader.ndjson';

/** JSON Schemas by the name of the index, and of what in it is not like its other documents: `publications/epoch`. */
const readerSchemas = z.record(z.string(), z.record(z.string(), z.unknown()));

const readerRequest = z.object({
  lookup: z.string(),
  method: z.string(),
  path: z.string(),
  body: z.string(),
  /** The numbers of the licenses, and the surnames, in their order. */
  finds: z.array(z.string()),
});

const NURSING = 'Nursing Board';
const PHARMACY = 'Board of Pharmacy';

const MARY = { board: NURSING, last_name: 'Smith', first_name: 'Mary' };
const NURSE = { license_type: 'Registered Nurse (RN)', status: 'Active' };
const FILTERS = { ...NURSE, city: 'Akron', county: 'Summit' };
const ofBusiness = (business_name: string) => ({ board: PHARMACY, search_type: 'business', business_name });

const LOOKUPS: readonly (readonly [string, object])[] = [
  ['a number', { board: NURSING, license_number: 'RN.700001' }],
  ['a number in another form', { board: NURSING, license_number: 'rn 700 001' }],
  ['the number of an endorsement', { board: NURSING, license_number: 'APRN.CNP.0070001' }],
  ['a number under an earlier name of the board', { board: NURSING, license_number: 'RN.700020' }],
  ['a number that is not found', { board: NURSING, license_number: 'RN.0700001' }],
  ['a surname', { board: NURSING, last_name: 'Smith' }],
  ['a surname of several words', { board: NURSING, last_name: 'Delacruz' }],
  ['a surname with accents', { board: 'Medical Board', last_name: 'Munoz' }],
  ['a full name', MARY],
  ['a full name with filters', { ...MARY, ...FILTERS }],
  ['a surname that is not found', { board: NURSING, last_name: 'Smiht' }],
  ['a business', ofBusiness('Best Little Pharmacy')],
  ['a business by its other trade name', ofBusiness("Joe and Son's")],
  ['words of a business', ofBusiness('lima pharmacy')],
  ['words of a business, misspelled', ofBusiness('bset lima')],
];

const numbered = z.object({ license_number: z.string() });
const suggested = z.array(z.object({ text: z.string() }));

/** The values of a key, wherever it is in an answer of OpenSearch, in order. */
function valuesOf(key: string, answer: unknown): unknown[] {
  if (typeof answer !== 'object' || answer === null) return [];
  return Object.entries(answer).flatMap(([name, value]) => (name === key ? [value] : valuesOf(key, value)));
}

/** The numbers of the licenses in an answer, and the suggested surnames. */
const foundIn = (answer: unknown): string[] => [
  ...valuesOf('options', answer).flatMap((options) => suggested.parse(options).map(({ text }) => text)),
  ...valuesOf('_source', answer).map((source) => numbered.parse(source).license_number),
];

/** What a document of an index is, by its id. */
function kindOf(index: string, id: string): string {
  const [, other] = /^(epoch|segment|switch|done)(?:-|$)/.exec(id) ?? [];
  return other === undefined ? index : `${index}/${other}`;
}

/** The schemas by which this version reads. */
function schemas(): z.output<typeof readerSchemas> {
  const all = {
    licenses: storedLicense,
    'licenses/_meta': publicationMetadata,
    publications: LEDGER_EVENTS.schema,
    'publications/epoch': LEDGER_EPOCH.schema,
    'rejected-rows': REJECTED_ROWS.schema,
    'saved-records': SAVED_RECORDS.schema,
    changes: CHANGES.schema,
    'changes/segment': EARLIER_SEGMENTS.schema,
    'changes/switch': SWITCHES.schema,
    accounts: ACCOUNTS.schema,
    'api-keys': API_KEYS.schema,
    'api-key-usage': KEY_USAGE.schema,
    audit: AUDIT_ENTRIES.schema,
    subscriptions: SUBSCRIPTIONS.schema,
    webhooks: WEBHOOKS.schema,
  };
  const options = { io: 'input', unrepresentable: 'any' } as const;
  const entries = Object.entries(all).map(([index, schema]) => [index, z.toJSONSchema(schema, options)]);
  return readerSchemas.parse(Object.fromEntries(entries));
}

/** Records what this version's API asks. */
async function record(file: string): Promise<void> {
  const environment = await testEnvironment();
  const requests: z.output<typeof readerRequest>[] = [];
  let lookup: string | undefined;
  const proxy = await startProxy(environment.config.OPENSEARCH_URL, async (request) => {
    const answer = await request.forward();
    const { method, path, body } = request;
    if (lookup !== undefined && path.includes(live)) {
      const finds = foundIn(JSON.parse(answer.body));
      requests.push({ lookup, method, path: path.replace(live, '{index}'), body, finds });
    }
    return answer;
  });
  await publishFiles(environment, FIXTURES);
  const live = (await liveIndex(environment.store)) ?? '';
  const api = await startApi({ ...environment.variables, OPENSEARCH_URL: proxy.url });
  const rest = await apiClient(environment);
  await rest.get('/api/v1/lookup/boards');
  for (const [name, body] of LOOKUPS) {
    lookup = name;
    await rest.verify(body);
  }
  await writeFile(file, [schemas(), ...requests].map((line) => `${JSON.stringify(line)}\n`).join(''));
  await api.stop();
}

if (process.env.RECORD === '1') await record(join(STORED, SERVICE_VERSION, READER_FILE));

const VERSIONS = (await readdir(STORED)).filter((name) => name !== 'README.md');

/**
 * Two publications, one refused and one rolled back, an account with two keys, one revoked, what they were used for, a
 * subscription, a webhook and a saved record.
 */
const environment = await testEnvironment({ GUARD_MAX_DUPLICATES: '0', WEBHOOK_SECRET_KEY: SECRET_KEY });
const { folder, variables } = environment;
await publishFiles(environment, FIXTURES);
const rest = await apiClient(environment);
const licenses = { individual: licensesOf(NURSING, 'RN.', 3), business: licensesOf(PHARMACY, '02', 1) };
const small = await writeDay(folder, 'small', { date: '2026-11-21', ...licenses });
const refused = await publishFiles(environment, small, { isGuarded: true });
const forced = await publishFiles(environment, small);
expect([refused.state, forced.state]).toEqual(['refused', 'live']);
const api = await startApi(variables);
await rest.verify({ board: NURSING, license_number: 'RN.900001' });
await rest.verify({ board: NURSING, license_number: 'RN.1' });
await rest.verify({ board: NURSING, license_number: 'RN.900001' }, '/api/v1/subscriptions');
const webhook = { url: 'https://hooks.example.com/licenses' };
await rest.request('PUT', '/api/v1/webhook', { json: webhook });
await api.stop();
const key = z.object({ id: z.string() });
const created = await command(variables, 'keys', 'create', 'Acme', '--verified-by', 'Ada', '--json');
for (const parameters of [['keys', 'revoke', key.parse(JSON.parse(created.stdout)).id], ['rollback']])
  expect(await command(variables, ...parameters)).toMatchObject({ code: 0 });
await savedRecords(environment.store, RECORD_LIMITS).save(shownNurse());
const live = (await liveIndex(environment.store)) ?? '';

describe.each(VERSIONS)('the API of version %s', (version) => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });

  async function recorded() {
    const text = await readFile(join(STORED, version, READER_FILE), 'utf8');
    const [first, ...others] = text.trimEnd().split('\n').map(parsed);
    return { schemas: readerSchemas.parse(first), requests: others.map((line) => readerRequest.parse(line)) };
  }

  const problemIn = (schema: object | undefined, stored: unknown) =>
    schema === undefined || ajv.validate(schema, stored) ? undefined : ajv.errorsText();

  test('finds what this version published', async () => {
    const { requests, schemas: read } = await recorded();
    expect(new Set(requests.map(({ lookup }) => lookup)).size).toBeGreaterThan(10);
    for (const { lookup, method, path, body, finds } of requests) {
      const type = path.includes('_msearch') ? 'application/x-ndjson' : 'application/json';
      const url = environment.config.OPENSEARCH_URL + path.replace('{index}', live);
      const response = await fetch(url, { method, headers: { 'content-type': type }, body });
      const answer: unknown = await response.json();
      expect([lookup, response.status, foundIn(answer)]).toEqual([lookup, 200, finds]);
      for (const source of valuesOf('_source', answer))
        expect(problemIn(read.licenses, source)).toBeUndefined();
    }
  });

  test('can read all that this version stores', async () => {
    const { schemas: read } = await recorded();
    const file = join(environment.folder, 'stored.ndjson');
    await saveStoredData(environment.store, file);
    const checked = new Set<string>();
    const problems: (string | undefined)[] = [];
    for (const { index, mappings, documents } of await readStoredData(file)) {
      const [, family = ''] = /^\{prefix\}([a-z-]+?)(?:-\d.*)?$/.exec(index) ?? [];
      const kinds = [
        ...documents.map(({ id, source }) => [kindOf(family, id), source] as const),
        ...('_meta' in mappings ? [[`${family}/_meta`, mappings._meta] as const] : []),
      ];
      for (const [kind, source] of kinds) {
        checked.add(kind);
        const problem = problemIn(read[kind], source);
        if (problem !== undefined) problems.push(`${kind}: ${problem} in ${JSON.stringify(source)}`);
      }
    }
    expect(problems).toEqual([]);
    // Since 0.4.0, what a restore has of the feed is elsewhere.
    const { 'changes/feed': _, ...others } = read;
    expect([...checked]).toEqual(expect.arrayContaining(Object.keys(others)));
  });
});
