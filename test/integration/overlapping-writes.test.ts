import { expect, test } from '@jest/globals';
import { accountNamed, setAccountActive } from '../../src/access/accounts.ts';
import { API_KEYS, createKey, keyById, revokeKey } from '../../src/access/api-keys.ts';
import type { Store } from '../../src/storage/store.ts';
import { throughProxy } from '../support/proxy.ts';
import { newEnvironment } from '../support/publication-days.ts';

const environment = await newEnvironment();
const { store } = environment;

function issue(store: Store, account: string, contact?: string) {
  const issued = { account, verifiedBy: 'Ada', ...(contact !== undefined && { contact }) };
  return createKey(store, environment.config.API_KEY_PREFIX, issued);
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

test('what another command wrote after this one had read stays when a key is issued: the account is deactivated, and no key is issued', async () => {
  await issue(store, 'Acme');
  const before = await API_KEYS.list(store);
  const deactivate = () => setAccountActive(store, 'Acme', false);
  const result = await withWriteAfterRead(store.names.accounts, deactivate, (slow) =>
    issue(slow, 'Acme', 'grace@acme.example'),
  );
  expect(String(result)).toContain('The account "Acme" is deactivated');
  const account = { deactivated_at: expect.any(String), contact: null };
  expect([await accountNamed(store, 'Acme'), await API_KEYS.list(store)]).toMatchObject([account, before]);
});

test('what another command wrote after this one had read stays when an account is deactivated: its new contact', async () => {
  const contact = 'grace@acme.example';
  await issue(store, 'Moved');
  const move = () => issue(store, 'Moved', contact);
  await withWriteAfterRead(store.names.accounts, move, (slow) => setAccountActive(slow, 'Moved', false));
  expect(await accountNamed(store, 'Moved')).toMatchObject({ deactivated_at: expect.any(String), contact });
});

test('what another command wrote after this one had read stays when a key is revoked twice: the time of the first', async () => {
  const { id } = (await issue(store, 'Revoked')).stored;
  let first: unknown;
  const revoke = async () => {
    first = await revokeKey(store, id);
  };
  const second = await withWriteAfterRead(store.names.apiKeys, revoke, (slow) => revokeKey(slow, id));
  expect([second, await keyById(store, id)]).toEqual([first, first]);
});
