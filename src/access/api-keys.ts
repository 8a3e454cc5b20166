import { z } from 'zod';
import { collection } from '../storage/collection.ts';
import type { Store } from '../storage/store.ts';
import { accountNamed, enterAccount, type StoredAccount } from './accounts.ts';
import { apiKeyHash, newApiKey } from './key-format.ts';

const storedKey = z.object({
  id: z.string(),
  /** The business that holds it, as its account names it. */
  account: z.string(),
  sha256: z.string(),
  last_four: z.string(),
  created_at: z.string(),
  revoked_at: z.string().nullable(),
});

export type StoredKey = z.output<typeof storedKey>;

/** The keys, under their hashes. */
export const API_KEYS = collection('apiKeys', storedKey, {
  isStoredUnder: (id, { sha256 }) => id === sha256,
});

/** A stored key, and its text, which is never available again. */
export interface CreatedKey {
  readonly stored: StoredKey;
  readonly account: StoredAccount;
  readonly key: string;
}

/**
 * Issues a key to an account, which is entered where it is new. The key's document has its hash as id, so that one
 * realtime get finds it.
 *
 * @throws {AccountError} for an empty or long name or contact, or a deactivated account
 */
export async function createKey(
  store: Store,
  keyPrefix: string,
  given: { account: string; contact?: string | undefined; verifiedBy: string },
): Promise<CreatedKey> {
  const account = await enterAccount(store, given);
  const key = newApiKey(keyPrefix);
  const sha256 = apiKeyHash(key);
  const stored: StoredKey = {
    id: keyId(sha256),
    account: account.account,
    sha256,
    last_four: key.slice(-4),
    created_at: new Date().toISOString(),
    revoked_at: null,
  };
  await API_KEYS.update(store, sha256, () => stored);
  return { stored, account, key };
}

/**
 * Issues a second key to the account of a key.
 *
 * @param id of the key that is to be replaced; it goes on working until it is revoked
 * @throws {UnknownKeyError} when there is no key with the id
 * @throws {AccountError} when its account is deactivated
 */
export async function rotateKey(store: Store, keyPrefix: string, id: string): Promise<CreatedKey> {
  const { account } = await keyById(store, id);
  const { verified_by: verifiedBy } = await accountNamed(store, account);
  return createKey(store, keyPrefix, { account, verifiedBy });
}

/** What operators call a key: the first 12 characters of its hash. */
export function keyId(sha256: string): string {
  return sha256.slice(0, 12);
}

const MAX_KEYS = 10_000;

/** All keys, the earliest first, revoked ones too. */
export async function listKeys(store: Store): Promise<readonly StoredKey[]> {
  const { documents } = await API_KEYS.search(store, {
    size: MAX_KEYS,
    query: { match_all: {} },
    sort: [{ created_at: 'asc' }],
  });
  return documents;
}

/** No key has this id. */
class UnknownKeyError extends Error {}

/** Ends a key. Every process stops taking it within five seconds (`key-check.ts`). */
export async function revokeKey(store: Store, id: string): Promise<StoredKey> {
  const found = await keyById(store, id);
  const revoked = await API_KEYS.update(store, found.sha256, (key = found) =>
    key.revoked_at === null ? { ...key, revoked_at: new Date().toISOString() } : undefined,
  );
  return revoked ?? found;
}

/** The key of this id. @throws {UnknownKeyError} when there is none */
export async function keyById(store: Store, id: string): Promise<StoredKey> {
  const { documents } = await API_KEYS.search(store, { size: 1, query: { term: { id } } });
  const [key] = documents;
  if (key === undefined) throw new UnknownKeyError(`No key has the id "${id}".`);
  return key;
}
