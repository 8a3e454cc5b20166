import { hkdfSync } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { compactVerify, createLocalJWKSet, decodeProtectedHeader } from 'jose';
import { z } from 'zod';
import { DOCUMENT_CHECKS } from '../../src/cli/stored-documents.ts';
import { type NewRecord, savedRecords } from '../../src/records/saved-records.ts';
import { rotateSigningKey, SIGNING_KEYS, signingKeys } from '../../src/signing/keys.ts';
import { restoreBackup, writeBackup } from '../../src/storage/backup.ts';
import type { Store } from '../../src/storage/store.ts';
import { apiClient } from '../support/api.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { command } from '../support/in-process.ts';
import { type ProxyStep, throughProxy } from '../support/proxy.ts';
import { newEnvironment } from '../support/publication-days.ts';
import { installedRequirements, NO_PYTHON, runPython } from '../support/python.ts';
import { RECORD_LIMITS, shownList, shownNurse } from '../support/saved-records.ts';
import { startService } from '../support/service.ts';

const SECRET = 'a secret for the signatures of the tests, of 32 characters and more';
const OTHER = 'another secret for the signatures of the tests, of 32 characters and more';
const JOSE = 'application/jose';
const ROOT = resolve(import.meta.dirname, '../..');
const NURSE = { board: 'Nursing Board', license_number: 'RN.700001' };
const HOUR_MS = 3_600_000;

const service = await startService({ settings: { SIGNING_SECRET_KEY: SECRET, LOG_LEVEL: 'trace' } });
const { api, environment, rest } = service;
const { client, config, store } = environment;
const keysFile = join(environment.folder, 'keys.json');

async function post(account: string, body: object = NURSE, at = service) {
  const client = await apiClient(at.environment, account);
  return client.request('POST', '/api/v1/records', { headers: { accept: JOSE }, json: body });
}

/** Saves a record in this process, as the service does, and gives its signed form. */
async function signed(record: NewRecord, { secret = SECRET, at = new Date(), in: kept = store } = {}) {
  const records = savedRecords(kept, { ...RECORD_LIMITS, sign: signingKeys(kept, secret).sign });
  return (await records.read(await records.save(record, at), at))?.jws ?? '';
}

const keySetOf = (kept: Store, secret?: string) => signingKeys(kept, secret).keySet();

const anyStatement = z.looseObject({ type: z.string() });

async function statementIn(jws: string) {
  const { payload } = await compactVerify(jws, createLocalJWKSet(await keySetOf(store, SECRET)));
  return anyStatement.parse(JSON.parse(new TextDecoder().decode(payload)));
}

/** A signed record with the lowest bit of one character changed, or another letter for A. */
function changedAt(jws: string, at: number): string {
  const other = jws[at] === 'A' ? 'B' : String.fromCharCode(jws.charCodeAt(at) ^ 1);
  return jws.slice(0, at) + other + jws.slice(at + 1);
}

/** What the command prints of signed records, a line each, and its exit code. */
async function verified(lines: readonly string[], keys: string) {
  const file = join(environment.folder, 'signed.jose');
  await writeFile(file, lines.map((line) => `${line}\n`).join(''));
  const { code, stdout, stderr } = await command({}, 'verify-record', file, '--keys', keys);
  expect(stderr).toBe('');
  return { code, printed: stdout.trimEnd().split('\n') };
}

async function writeKeys(kept: Store, secret: string): Promise<string> {
  await writeFile(keysFile, JSON.stringify(await keySetOf(kept, secret)));
  return keysFile;
}

test('a signed record has what was asked, by whom, and the answer with its sources; the website offers the same file', async () => {
  const asked = { ...NURSE, license_number: ' rn 700001' };
  const answer = await post('Acme Staffing', { ...asked, checked_by: 'Zoë', reference: '#4711' });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([201, JOSE]);
  const statement = await statementIn(answer.text);
  const { body } = await rest.verify(NURSE);
  const hashed = expect.stringMatching(/^[0-9a-f]{64}$/);
  expect(statement).toEqual({
    ...{ type: 'license_check', by: 'Acme Staffing', checked_by: 'Zoë', reference: '#4711' },
    ...{ asked: { ...asked, license_number: 'rn 700001' }, answer: body, since: '2026-11-20', changes: [] },
    ...{ publication: expect.any(String), date: '2026-11-20', sample: false },
    ...{ files: { individual: hashed, business: hashed }, today: expect.any(String) },
    ...{ at: expect.any(String), code: expect.any(String), service_version: expect.any(String) },
  });

  const page = await rest.get(`/records/${statement.code}`);
  expect(page.text).toContain(`<a href="/records/${statement.code}.jose" type="${JOSE}">`);
  expect(page.text).toContain('Acme Staffing');
  const file = await rest.get(`/records/${statement.code}.jose`);
  const negotiated = await rest.request('GET', `/records/${statement.code}`, { headers: { accept: JOSE } });
  for (const { status, headers, text } of [file, negotiated])
    expect([status, headers.get('content-type'), text]).toEqual([200, JOSE, answer.text]);
});

test('a signed record of a list has the cautions and notes of each license, and of a visitor says so', async () => {
  const statement = await statementIn(await signed(shownList(2)));
  const license = expect.objectContaining({ cautions: expect.any(Array), notes: expect.any(Array) });
  expect(statement).toMatchObject({
    ...{ type: 'list_check', by: 'a visitor' },
    rows: [{ licenses: [license, license, license] }, { licenses: [license, license, license] }],
  });
});

test('a signed record leaves no private key in documents, logs or answers', async () => {
  const { kid } = decodeProtectedHeader(await signed(shownNurse()));
  const index = `${config.INDEX_PREFIX}*`;
  await client.indices.refresh({ index });
  const documents = JSON.stringify((await client.search({ index, body: { size: 10_000 } })).body);
  const { text } = await rest.get('/.well-known/jwks.json');
  expect(JSON.parse(text).keys).toContainEqual(expect.objectContaining({ kid, crv: 'Ed25519' }));
  expect(documents).toContain(String(kid));
  const seeds = [1, 2].map((at) => Buffer.from(hkdfSync('sha256', SECRET, '', `signing key ${at}`, 32)));
  const forms = (['hex', 'base64', 'base64url'] as const).flatMap((form) =>
    seeds.map((seed) => seed.toString(form)),
  );
  for (const secret of [SECRET, ...forms])
    for (const seen of [documents, text, api.output()]) expect(seen).not.toContain(secret);
});

test('licenses verify-record prints VALID, from the keys of the service, also of a record whose clock was wrong, which it says', async () => {
  const today = new Date().toISOString().slice(0, 10);
  const shown = shownNurse({ date: today, today });
  const lines = [
    await signed(shownNurse({ account: 'Acme' })),
    await signed(shownList(2)),
    await signed(shownNurse({ sample: true })),
    await signed(shown, { at: new Date(Date.now() + HOUR_MS) }),
    await signed(shown, { at: new Date(Date.now() - 48 * HOUR_MS) }),
  ];
  const { kid } = decodeProtectedHeader(lines[0] ?? '');
  const { code, printed } = await verified(lines, `http://127.0.0.1:${config.PORT}`);
  const of = (what: string, by: string, date: string, end: string) =>
    expect.stringMatching(
      `^VALID: signed with the key ${kid}. ${what} at \\S+Z by ${by}, from the State's data of ${date}.${end}$`,
    );
  const nurse = 'license_check of RN.123456';
  expect(printed).toEqual([
    of(nurse, 'Acme', '2026-11-20', ''),
    of('list_check of many', 'a visitor', '2026-11-20', ''),
    of(nurse, 'a visitor', '2026-11-20', ' SAMPLE DATA: of no real license.'),
    of(nurse, 'a visitor', today, ' WRONG CLOCK: this time has not come yet, or is before the data.'),
    of(nurse, 'a visitor', today, ' WRONG CLOCK: this time has not come yet, or is before the data.'),
  ]);
  expect(code).toBe(0);
});

test('licenses verify-record prints CHANGED or UNKNOWN KEY for every single changed byte', async () => {
  const jws = await signed(shownNurse());
  const changed = Array.from(jws, (_, at) => changedAt(jws, at));
  const { code, printed } = await verified(changed, await writeKeys(store, SECRET));
  expect([...new Set(printed)].toSorted()).toEqual([
    'CHANGED: the signature is not of this content. Do not rely on it.',
    'UNKNOWN KEY: none of these keys signed it, or it was changed. Do not rely on it.',
  ]);
  expect([code, printed.length]).toEqual([2, jws.length]);
});

test('licenses verify-record prints VALID after a rotation, whose key is another; UNKNOWN KEY for the key of another service', async () => {
  const before = await signed(shownNurse());
  const rotated = await command(environment.variables, 'signing-keys', 'rotate', '--json');
  const kids = z.object({ before: z.string(), now: z.string() }).parse(JSON.parse(rotated.stdout));
  const after = (await post('After')).text;
  expect([before, after].map((jws) => decodeProtectedHeader(jws).kid)).toEqual([kids.before, kids.now]);
  const { text } = await rest.get('/.well-known/jwks.json');
  await writeFile(keysFile, text);

  const elsewhere = await newEnvironment();
  const other = await signed(shownNurse(), { secret: OTHER, in: elsewhere.store });
  const { code, printed } = await verified([before, after, other], keysFile);
  expect([printed.map((line) => line.split(':')[0]), code]).toEqual([['VALID', 'VALID', 'UNKNOWN KEY'], 2]);
});

test('licenses verify-record prints VALID in a restored installation with the same or another secret, of before and after', async () => {
  const before = await signed(shownNurse());
  const file = join(environment.folder, 'licenses.backup');
  await writeBackup(store, file, DOCUMENT_CHECKS);
  const restored = (await newEnvironment()).store;
  await restoreBackup(restored, file, DOCUMENT_CHECKS);
  const { length } = (await keySetOf(restored)).keys;
  const same = await signed(shownNurse(), { in: restored });
  expect((await keySetOf(restored)).keys).toHaveLength(length);
  const other = await signed(shownNurse(), { secret: OTHER, in: restored });
  expect((await keySetOf(restored)).keys).toHaveLength(length + 1);
  const { code, printed } = await verified([before, same, other], await writeKeys(restored, OTHER));
  expect([code, printed.map((line) => line.split(':')[0])]).toEqual([0, ['VALID', 'VALID', 'VALID']]);
});

test('licenses verify-record prints an error for a file without lines, and for keys by http', async () => {
  const file = join(environment.folder, 'other.json');
  await writeFile(file, '');
  const keys = await writeKeys(store, SECRET);
  for (const [of, from, says] of [
    [file, keys, 'is empty'],
    [keys, 'http://licenses.example.gov', '--keys must be an https address'],
  ] as const) {
    const { code, stderr } = await command({}, 'verify-record', of, '--keys', from);
    expect([code, stderr]).toEqual([1, expect.stringContaining(says)]);
  }
});

describeUnless(NO_PYTHON, 'examples/python/verify_record.py', () => {
  let installed: string;
  beforeAll(async () => {
    installed = await installedRequirements(resolve(ROOT, 'test/python/requirements.txt'));
  });

  test('says the same with PyJWT: valid, any byte changed, another key', async () => {
    const jws = await signed(shownNurse());
    const { store: elsewhere } = await newEnvironment();
    const other = await signed(shownNurse(), { secret: OTHER, in: elsewhere });
    const file = join(environment.folder, 'python.jose');
    const changed = [10, jws.indexOf('.') + 5, jws.length - 5].map((at) => changedAt(jws, at));
    await writeFile(file, [jws, other, ...changed].join('\n'));
    const program = resolve(ROOT, 'examples/python/verify_record.py');
    const keys = await writeKeys(store, SECRET);
    const { code, stdout } = await runPython(installed, [program, file, keys]);
    const [valid, unknown, ...rest] = stdout.trimEnd().split('\n');
    expect(JSON.parse(valid?.replace('VALID: ', '') ?? '')).toEqual(await statementIn(jws));
    expect(unknown).toMatch(/^UNKNOWN KEY: /);
    expect(rest.filter((line) => line.startsWith('VALID'))).toEqual([]);
    expect([code, rest.length]).toEqual([2, changed.length]);
  });
});

const { body: watched } = await rest.verify({ ...NURSE, reference: 'A-1' }, '/api/v1/subscriptions');
const { subscription_id: id } = z.object({ subscription_id: z.string() }).parse(watched);

test('the proof of a subscription has the license as it is, and is signed where Accept asks for it', async () => {
  const path = `/api/v1/subscriptions/${id}/proof`;
  const { body } = await rest.get(path);
  expect(body).toMatchObject({
    ...{ type: 'watch_proof', by: 'Test', subscription_id: id, reference: 'A-1', date: '2026-11-20' },
    ...{ coverage_start: '2026-11-20', compared: [], withdrawn: [], gaps: [], changes: [] },
    record: (await rest.verify(NURSE)).body,
  });
  const answer = await rest.request('GET', path, { headers: { accept: JOSE } });
  expect(answer.headers.get('content-type')).toBe(JOSE);
  const signedBody = { ...anyStatement.parse(body), at: expect.any(String) };
  expect(await statementIn(answer.text)).toEqual(signedBody);
});

test('the proof of a subscription is written by watch --proof, for verify-record', async () => {
  const url = `http://127.0.0.1:${config.PORT}`;
  const file = join(environment.folder, 'proofs.jose');
  const variables = { LICENSES_URL: url, LICENSES_KEY: rest.key };
  const { stderr, stdout } = await command(variables, 'watch', '--proof', file);
  expect([stderr, stdout]).toEqual(['', `1 proofs in ${file}.\n`]);
  const { code, printed } = await verified([(await readFile(file, 'utf8')).trim()], url);
  expect([code, printed]).toEqual([0, [expect.stringMatching(/^VALID: .* watch_proof of RN\.700001 at /)]]);
  const alone = await command(variables, 'watch');
  expect([alone.code, alone.stderr]).toEqual([1, 'Name a roster, or send --proof FILE without one.\n']);
});

test('the proof of a subscription is the account’s alone', async () => {
  const other = await apiClient(environment, 'Another');
  const { status, body } = await other.get(`/api/v1/subscriptions/${id}/proof`);
  expect([status, body]).toEqual([404, { detail: 'Your account has no subscription with this id.' }]);
  expect((await rest.get('/api/v1/subscriptions/sub_1/proof')).status).toBe(404);
});

test('processes that start at the same time have one key, and rotations at the same time make one', async () => {
  const environment = await newEnvironment();
  const { store: empty } = environment;
  const processes = [1, 2, 3, 4].map(() => signingKeys(empty, SECRET));
  const shown = await Promise.all(processes.map(({ keySet }) => keySet()));
  const signatures = await Promise.all(processes.map(({ sign }) => sign({})));
  let read = 0;
  const allRead = Promise.withResolvers<void>();
  const together: ProxyStep = async ({ path, forward }) => {
    const answer = await forward();
    if (!path.includes('/_search')) return answer;
    read += 1;
    if (read === processes.length) allRead.resolve();
    await allRead.promise;
    return answer;
  };
  const rotated = await throughProxy(environment, together, (through) =>
    Promise.all(processes.map(() => rotateSigningKey(through.store, SECRET))),
  );
  const first = new Set(shown.flatMap(({ keys }) => keys.map(({ kid }) => kid)));
  expect(new Set(signatures.map((jws) => decodeProtectedHeader(jws ?? '').kid))).toEqual(first);
  expect([first.size, new Set(rotated.map(({ now }) => now)).size]).toEqual([1, 1]);
  const { documents } = await SIGNING_KEYS.search(empty, { query: { match_all: {} } });
  expect(documents.map(({ generation }) => generation).toSorted()).toEqual([1, 2]);
});

test('without SIGNING_SECRET_KEY records are saved without a signature, and who asks for one is told why', async () => {
  const own = await startService();
  const answer = await post('Acme', NURSE, own);
  const detail = 'This service signs nothing: its operator must set SIGNING_SECRET_KEY.';
  expect(answer).toMatchObject({ status: 501, body: { detail } });
  const saved = await own.rest.verify(NURSE, '/api/v1/records');
  const { code } = z.object({ code: z.string() }).parse(saved.body);
  expect((await own.rest.get(`/records/${code}`)).text).not.toContain('.jose');
  expect((await own.rest.get(`/records/${code}.jose`)).status).toBe(404);
  expect((await own.rest.get('/.well-known/jwks.json')).body).toEqual({ keys: [] });
});
