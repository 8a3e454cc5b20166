import { timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { search } from '../storage/checked-search.ts';
import { responseStatus } from '../storage/client.ts';
import type { Store } from '../storage/store.ts';
import { accountNamed, enterAccount, isAccountActive, type StoredAccount } from './accounts.ts';
import { apiKeyHash, isWellFormedKey, newApiKey } from './key-format.ts';

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
  await store.client.index({
    index: store.names.apiKeys,
    id: sha256,
    op_type: 'create',
    body: stored,
    refresh: true,
  });
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
function keyId(sha256: string): string {
  return sha256.slice(0, 12);
}

const MAX_KEYS = 10_000;
const keysResponse = z.object({ hits: z.object({ hits: z.array(z.object({ _source: storedKey })) }) });

/** All keys, the earliest first, revoked ones too. */
export async function listKeys(store: Store): Promise<StoredKey[]> {
  const response = await search(store.client, keysResponse, {
    index: store.names.apiKeys,
    body: { size: MAX_KEYS, query: { match_all: {} }, sort: [{ created_at: 'asc' }] },
  });
  return response.hits.hits.map((hit) => hit._source);
}

/** No key has this id. */
class UnknownKeyError extends Error {}

/** Ends a key. Every process stops taking it within `KEY_BELIEVED_MS`. */
export async function revokeKey(store: Store, id: string): Promise<StoredKey> {
  const key = await keyById(store, id);
  if (key.revoked_at !== null) return key;
  const revoked = { ...key, revoked_at: new Date().toISOString() };
  await store.client.index({
    index: store.names.apiKeys,
    id: key.sha256,
    body: revoked,
    refresh: true,
  });
  return revoked;
}

/** The key of this id. @throws {UnknownKeyError} when there is none */
export async function keyById(store: Store, id: string): Promise<StoredKey> {
  const response = await search(store.client, keysResponse, {
    index: store.names.apiKeys,
    body: { size: 1, query: { term: { id } } },
  });
  const [hit] = response.hits.hits;
  if (hit === undefined) throw new UnknownKeyError(`No key has the id "${id}".`);
  return hit._source;
}

/** How long a process uses what it read of a key and its account. Revoking takes effect within this time. */
export const KEY_BELIEVED_MS = 5000;
const KEYS_REMEMBERED = 10_000;

/** How long the look-up of a key and its account may take: the lookup that waits for it must still end in time. */
const KEY_LOOK_UP_MS = 1500;

/** A key of the right form, by its hash. */
export interface CheckedKey {
  readonly id: string;
  /** Whether it and its account are active, as read at most five seconds ago. */
  isActive(): Promise<boolean>;
  /** Whether it was active when this process last read it; sends no request. */
  hasBeenActive(): boolean;
}

/** Checks a key. Gives `undefined` for a malformed one. */
export type KeyCheck = (key: string) => CheckedKey | undefined;

/**
 * A check of keys for one process. Malformed keys are refused without a look-up; others are looked up by their
 * hash, at most once in five seconds each. Where OpenSearch is away the check fails: no key is believed longer.
 */
export function keyCheck(store: Store, keyPrefix: string): KeyCheck {
  const active = new LRUCache<string, boolean>({
    max: KEYS_REMEMBERED,
    ttl: KEY_BELIEVED_MS,
    // While it is read again, it is still one that has been active.
    noDeleteOnStaleGet: true,
    fetchMethod: (hash) => isActive(store, hash),
  });
  return (key) => {
    if (!isWellFormedKey(keyPrefix, key)) return undefined;
    const hash = apiKeyHash(key);
    return {
      id: keyId(hash),
      isActive: async () => active.get(hash) ?? (await active.fetch(hash)) === true,
      hasBeenActive: () => active.peek(hash, { allowStale: true }) === true,
    };
  };
}

const keyResponse = z.object({ _source: storedKey });

async function isActive(store: Store, hash: string): Promise<boolean> {
  const deadline = performance.now() + KEY_LOOK_UP_MS;
  try {
    const response = await store.client.get(
      { index: store.names.apiKeys, id: hash },
      { requestTimeout: KEY_LOOK_UP_MS },
    );
    const key = keyResponse.parse(response.body)._source;
    const isKnown = timingSafeEqual(Buffer.from(key.sha256), Buffer.from(hash)) && key.revoked_at === null;
    const left = Math.max(1, Math.round(deadline - performance.now()));
    return isKnown && (await isAccountActive(store, key.account, left));
  } catch (error) {
    if (responseStatus(error) === 404) return false;
    throw error;
  }
}
