import { beforeAll, describe, expect, test } from '@jest/globals';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { accountNamed, setAccountActive } from '../../src/access/accounts.ts';
import { createKey, keyById, listKeys, revokeKey } from '../../src/access/api-keys.ts';
import type { Store } from '../../src/storage/store.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { throughProxy } from '../support/proxy.ts';

let environment: TestEnvironment;

beforeAll(async () => {
  environment = await testEnvironment();
  await prepareIndices(environment.store);
});

function issue(store: Store, account: string, contact?: string) {
  return createKey(store, environment.config.API_KEY_PREFIX, {
    account,
    verifiedBy: 'Ada',
    ...(contact !== undefined && { contact }),
  });
}

/** Does work with a store; once it has read a document of this index, somebody else writes before it goes on. */
async function withWriteAfterRead(
  index: string,
  write: () => Promise<unknown>,
  work: (store: Store) => Promise<unknown>,
): Promise<unknown> {
  let isWritten = false;
  const result = await throughProxy(
    environment,
    async (request) => {
      const answer = await request.forward();
      if (!isWritten && request.method === 'GET' && request.path.startsWith(`/${index}/_doc/`)) {
        isWritten = true;
        await write();
      }
      return answer;
    },
    ({ store }) => work(store).catch((error: unknown) => error),
  );
  expect(isWritten).toBe(true);
  return result;
}

describe('what another command wrote after this one had read', () => {
  test('stays when a key is issued: the account is deactivated, and no key is issued', async () => {
    const { store } = environment;
    await issue(store, 'Acme');
    const before = await listKeys(store);
    const result = await withWriteAfterRead(
      store.names.accounts,
      () => setAccountActive(store, 'Acme', false),
      (slow) => issue(slow, 'Acme', 'grace@acme.example'),
    );
    expect(String(result)).toContain('The account "Acme" is deactivated');
    expect(await accountNamed(store, 'Acme')).toMatchObject({
      deactivated_at: expect.any(String),
      contact: null,
    });
    expect(await listKeys(store)).toEqual(before);
  });

  test('stays when an account is deactivated: its new contact', async () => {
    const { store } = environment;
    await issue(store, 'Moved');
    await withWriteAfterRead(
      store.names.accounts,
      () => issue(store, 'Moved', 'grace@acme.example'),
      (slow) => setAccountActive(slow, 'Moved', false),
    );
    expect(await accountNamed(store, 'Moved')).toMatchObject({
      deactivated_at: expect.any(String),
      contact: 'grace@acme.example',
    });
  });

  test('stays when a key is revoked twice: the time of the first', async () => {
    const { store } = environment;
    const { stored: key } = await issue(store, 'Revoked');
    let first: unknown;
    const second = await withWriteAfterRead(
      store.names.apiKeys,
      async () => {
        first = await revokeKey(store, key.id);
      },
      (slow) => revokeKey(slow, key.id),
    );
    expect(second).toEqual(first);
    expect(await keyById(store, key.id)).toEqual(first);
  });
});
