import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { licenses, startApi } from '../../scripts/licenses-processes.ts';
import { freePorts } from '../../scripts/ports.ts';
import { apiKeyHash, isWellFormedKey } from '../../src/access/api-keys.ts';
import { todayInOhio } from '../../src/licenses/dates.ts';
import { GOOD_LOOKUP, issuedKey, issueKey, requestWith } from '../support/keys.ts';
import { rawRequest } from '../support/raw-http.ts';
import { type ReadService, sharedService } from '../support/shared-service.ts';
import { verifies } from '../support/verifies.ts';

const VERIFIED = ['--verified-by', 'Ada Operator'];

let service: ReadService;

beforeAll(async () => {
  service = await sharedService();
});

describe('a key', () => {
  verifies(
    ['KEYS-02', 'KEYS-06'],
    'starts with the prefix and belongs to an account that a named person verified',
    async () => {
      const { key, account, verified_by } = await issueKey(service, 'Acme Staffing LLC');
      expect(key).toMatch(/^olv_[0-9A-Za-z]{49}$/);
      expect(isWellFormedKey('olv', key)).toBe(true);
      expect([account, verified_by]).toEqual(['Acme Staffing LLC', 'Ada Operator']);
      expect((await requestWith(service, 'GET', '/api/v1/lookup/boards', { 'x-api-key': key })).status).toBe(
        200,
      );
    },
  );

  test('belongs to an account with a contact; account names ignore case', async () => {
    const first = await issueKey(service, 'Contacted  Care Inc', '--contact', 'grace@care.example');
    const second = await issueKey(service, ' contacted care inc', '--verified-by', 'Somebody Else');
    expect(second.id).not.toBe(first.id);
    const expected = {
      account: 'Contacted Care Inc',
      contact: 'grace@care.example',
      verified_by: 'Ada Operator',
    };
    for (const { key: _, ...each } of [first, second]) expect(each).toMatchObject(expected);
    const moved = await issueKey(service, 'Contacted Care Inc', '--contact', 'alan@care.example');
    expect(moved).toMatchObject({ ...expected, contact: 'alan@care.example' });
  });

  test.each([
    ['without a name', ['', ...VERIFIED], 'The name of the account must have 1 to 200 characters.'],
    [
      'with a long name',
      ['x'.repeat(201), ...VERIFIED],
      'The name of the account must have 1 to 200 characters.',
    ],
    [
      'with a blank contact',
      ['Blank Inc', '--contact', ' ', ...VERIFIED],
      'The contact must have 1 to 200 characters.',
    ],
    [
      'with a blank verifier',
      ['Blank Inc', '--verified-by', ' '],
      'Who verified the account must have 1 to 200 characters.',
    ],
  ])('is not issued %s', async (_what, options, message) => {
    const { code, stderr } = await licenses(service.environment.variables, 'keys', 'create', ...options);
    expect([code, stderr]).toEqual([1, `${message}\n`]);
  });

  test('is not issued without the name of who verified the business', async () => {
    const { code, stdout, stderr } = await licenses(
      service.environment.variables,
      ...['keys', 'create', 'Unverified Inc', '--json'],
    );
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain("required option '--verified-by <name>' not specified");
  });

  test('keeps working after rotation, next to the new key, until it is revoked', async () => {
    const first = await issueKey(service, 'Rotating Inc');
    const rotated = await licenses(service.environment.variables, 'keys', 'rotate', first.id, '--json');
    const second = issuedKey.parse(JSON.parse(rotated.stdout));
    expect([second.account, second.verified_by]).toEqual([first.account, first.verified_by]);
    const tried = (key: string) => requestWith(service, 'GET', '/api/v1/lookup/boards', { 'x-api-key': key });
    for (const { key } of [first, second]) expect((await tried(key)).status).toBe(200);
    const { code } = await licenses(service.environment.variables, 'keys', 'revoke', first.id);
    expect(code).toBe(0);
    expect((await tried(second.key)).status).toBe(200);
  });

  test('has its usage counted by day and outcome, and the time of its last use', async () => {
    const { variables } = service.environment;
    const [port = 0, adminPort = 0] = await freePorts(2);
    const own = { ...variables, PORT: String(port), ADMIN_PORT: String(adminPort) };
    const used = await issueKey(service, 'Counted Inc');
    const unused = await issueKey(service, 'Idle Inc');
    const api = await startApi(own);
    const lookUp = (content: object) => {
      const body = JSON.stringify(content);
      return rawRequest({
        ...{ port, method: 'POST', path: '/api/v1/lookup/verify', body },
        headers: {
          'x-api-key': used.key,
          'content-type': 'application/json',
          'content-length': String(body.length),
        },
      });
    };
    for (const content of [
      GOOD_LOOKUP,
      GOOD_LOOKUP,
      { ...GOOD_LOOKUP, license_number: 'RN.0700001' },
      { board: 'x' },
    ]) {
      await lookUp(content);
    }
    await api.stop();
    const again = await startApi(own);
    await lookUp(GOOD_LOOKUP);
    await again.stop();

    const usage = await licenses(variables, 'keys', 'usage', used.id, '--days', '2', '--json');
    const today = todayInOhio();
    expect(JSON.parse(usage.stdout)).toEqual([
      { key: used.id, day: today, counts: { found: 3, none: 1, refused: 1 } },
    ]);
    const shown = await licenses(variables, 'keys', 'usage', used.id);
    expect(shown.stdout).toMatch(new RegExp(`${today} +${used.id} +5 +found 3, none 1, refused 1\\n`));

    const listed = z
      .array(z.object({ id: z.string(), last_used: z.string().nullable() }))
      .parse(JSON.parse((await licenses(variables, 'keys', 'list', '--json')).stdout));
    const lastUsed = (id: string) => listed.find((key) => key.id === id)?.last_used;
    expect([lastUsed(used.id), lastUsed(unused.id)]).toEqual([today, null]);
  });

  verifies('KEYS-07', 'is stored only as its SHA-256', async () => {
    const { store, client } = service.environment;
    const { key, id } = await issueKey(service, 'Hashed Inc');
    const found = await client.search({
      index: store.names.apiKeys,
      body: { size: 100, query: { match_all: {} } },
    });
    const stored = JSON.stringify(found.body);
    expect(stored).toContain(apiKeyHash(key));
    expect(apiKeyHash(key).startsWith(id)).toBe(true);
    for (const secret of [key, key.slice(4), key.slice(4, 30), service.rest.key]) {
      expect(stored).not.toContain(secret);
    }
  });
});

describe('an account', () => {
  const account = z.object({
    account: z.string(),
    contact: z.string().nullable(),
    verified_by: z.string(),
    keys: z.int(),
    deactivated_at: z.iso.datetime().nullable(),
  });

  function accounts(...parameters: string[]) {
    return licenses(service.environment.variables, 'accounts', ...parameters);
  }

  async function listed(name: string) {
    const { stdout } = await accounts('list', '--json');
    return z
      .array(account)
      .parse(JSON.parse(stdout))
      .find((each) => each.account === name);
  }

  async function statusAfterAtMost(seconds: number, key: string, expected: number): Promise<number> {
    const deadline = Date.now() + seconds * 1000;
    for (;;) {
      const { status } = await requestWith(service, 'GET', '/api/v1/lookup/boards', { 'x-api-key': key });
      if (status === expected || Date.now() > deadline) return status;
      await sleep(200);
    }
  }

  verifies(
    'KEYS-09',
    'has no working key 10 seconds after it is deactivated, and all of them again when it is activated',
    async () => {
      const first = await issueKey(service, 'Leaving Inc', '--contact', 'lee@leaving.example');
      const second = await issueKey(service, 'Leaving Inc');
      const other = await issueKey(service, 'Staying Inc');
      for (const { key } of [first, second, other]) expect(await statusAfterAtMost(0, key, 200)).toBe(200);

      const ended = await accounts('deactivate', ' leaving  INC ');
      expect(ended).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^account +Leaving Inc\n(.*\n)*deactivated at +\d/),
      });
      for (const { key } of [first, second]) expect(await statusAfterAtMost(10, key, 401)).toBe(401);
      expect(await statusAfterAtMost(0, other.key, 200)).toBe(200);
      expect(await listed('Leaving Inc')).toEqual({
        account: 'Leaving Inc',
        contact: 'lee@leaving.example',
        verified_by: 'Ada Operator',
        keys: 2,
        deactivated_at: expect.any(String),
      });
      expect((await listed('Staying Inc'))?.deactivated_at).toBeNull();
      for (const again of [
        ['create', 'Leaving Inc', ...VERIFIED],
        ['rotate', first.id],
      ]) {
        const { code, stderr } = await licenses(service.environment.variables, 'keys', ...again);
        expect([code, stderr]).toEqual([
          1,
          expect.stringMatching(/^The account "Leaving Inc" is deactivated;/),
        ]);
      }

      expect((await accounts('activate', 'Leaving Inc')).stdout).not.toContain('deactivated');
      for (const { key } of [first, second]) expect(await statusAfterAtMost(10, key, 200)).toBe(200);
      const table = await accounts('list');
      expect(table.stdout).toMatch(/^ACCOUNT +CONTACT +VERIFIED BY +VERIFIED +KEYS +STATE\n/);
      expect(table.stdout).toMatch(/Leaving Inc +lee@leaving\.example +Ada Operator +\S+ +2 +active\n/);
    },
  );

  test('that does not exist cannot be deactivated', async () => {
    expect(await accounts('deactivate', 'Nobody Inc')).toMatchObject({
      code: 1,
      stderr: 'There is no account "Nobody Inc".\n',
    });
  });
});
