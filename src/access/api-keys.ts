import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { collection } from '../storage/collection.ts';
import type { Store } from '../storage/store.ts';
import { BadDocumentError } from '../storage/stored.ts';
import { ACCOUNTS, accountId, accountNamed, enterAccount, isActive } from './accounts.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_BYTES = 32;
/** 62^43 > 2^256 and 62^6 > 2^32. Both parts are padded with zeros to exactly these lengths. */
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;

/** Makes a new key: `<prefix>_`, 256 random bits in base62, and a checksum of the preceding characters. */
export function newApiKey(prefix: string): string {
  const secret = base62(BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`), SECRET_LENGTH);
  const start = `${prefix}_${secret}`;
  return start + checksum(start);
}

/** Whether a key has the right form and checksum. A mistyped key is detected without a request to OpenSearch. */
export function isWellFormedKey(prefix: string, key: string): boolean {
  if (key.length !== prefix.length + 1 + SECRET_LENGTH + CHECKSUM_LENGTH) return false;
  if (!key.startsWith(`${prefix}_`)) return false;
  // The checksum is not secret: anyone with the key can compute it.
  return key.slice(-CHECKSUM_LENGTH) === checksum(key.slice(0, -CHECKSUM_LENGTH));
}

/**
 * The SHA-256 of a key in hexadecimal, which is the only form of the key that is stored. The key's 256 random bits need
 * no salt.
 */
export function apiKeyHash(key: string): string {
  return hash('sha256', key);
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_LENGTH);
}

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; rest > 0n; rest /= 62n) text = ALPHABET.charAt(Number(rest % 62n)) + text;
  return text.padStart(length, '0');
}

const storedKey = z.object({
  id: z.string(),
  /** The account name of the business that holds the key. */
  account: z.string(),
  sha256: z.string(),
  last_four: z.string(),
  created_at: z.string(),
  revoked_at: z.string().nullable(),
});

type StoredKey = z.output<typeof storedKey>;

export const withoutHash = ({ sha256: _, ...key }: StoredKey) => key;

/** All keys, including revoked ones, listed from the oldest. */
export const API_KEYS = collection('apiKeys', storedKey, {
  isStoredUnder: (id, { sha256 }) => id === sha256,
  order: [{ created_at: 'asc' }],
});

/** A stored key and its text. The text cannot be retrieved later. */
export type CreatedKey = Awaited<ReturnType<typeof createKey>>;

/**
 * Issues a key to an account, and creates the account if it does not exist. The id of the key's document is the key's
 * hash, so that one realtime get finds it.
 *
 * @throws {Error} for an empty or long name or contact, or a deactivated account
 */
export async function createKey(
  store: Store,
  keyPrefix: string,
  given: { account: string; contact?: string | undefined; verifiedBy: string },
) {
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
 * Issues a second key to the account of an existing key.
 *
 * @param id the id of the key to replace; that key works until it is revoked
 * @throws {Error} when there is no such key, or its account is deactivated
 */
export async function rotateKey(store: Store, keyPrefix: string, id: string): Promise<CreatedKey> {
  const { account } = await keyById(store, id);
  const { verified_by: verifiedBy } = await accountNamed(store, account);
  return createKey(store, keyPrefix, { account, verifiedBy });
}

/** The short id that operators use for a key: the first 12 characters of its hash. */
function keyId(sha256: string): string {
  return sha256.slice(0, 12);
}

/** Revokes a key. Every process stops accepting it within ten seconds, because it caches a key for `KEY_CACHED_MS`. */
export async function revokeKey(store: Store, id: string): Promise<StoredKey> {
  const found = await keyById(store, id);
  return API_KEYS.update(store, found.sha256, (key = found) =>
    key.revoked_at === null ? { ...key, revoked_at: new Date().toISOString() } : key,
  );
}

/** @throws {Error} when there is no such key */
export async function keyById(store: Store, id: string): Promise<StoredKey> {
  const { documents } = await API_KEYS.search(store, { size: 1, query: { term: { id } } });
  const [key] = documents;
  if (key === undefined) throw new Error(`No key has the id "${id}".`);
  return key;
}

/** How long a process caches a key and its account. A revocation takes effect within this time. */
export const KEY_CACHED_MS = 5000;
const KEYS_CACHED = 10_000;

/** The time limit for looking up a key and its account. It leaves enough time for the lookup that waits for the key. */
const KEY_LOOK_UP_MS = 1500;

/** Checks a key. Returns `undefined` for a malformed key. */
export type KeyCheck = ReturnType<typeof keyCheck>;

/**
 * Returns a key check for one process. Malformed keys are rejected without a request. Every other key is read by its
 * hash at most once in five seconds. While OpenSearch is down the check fails; it does not accept cached keys for
 * longer.
 */
export function keyCheck(store: Store, keyPrefix: string) {
  /** The account name for a key that may be used; empty for a key that may not. */
  const accounts = new LRUCache<string, string>({
    max: KEYS_CACHED,
    ttl: KEY_CACHED_MS,
    // `hasBeenActive` needs the last value while the key is read again, and also if that read fails.
    noDeleteOnStaleGet: true,
    noDeleteOnFetchRejection: true,
    fetchMethod: (hash) => activeAccount(store, hash),
  });
  return (key: string) => {
    if (!isWellFormedKey(keyPrefix, key)) return undefined;
    const hash = apiKeyHash(key);
    return {
      id: keyId(hash),
      /** The name of the key's account if both are active, as read less than ten seconds ago; else `undefined`. */
      activeAccount: async () => (accounts.get(hash) ?? (await accounts.fetch(hash))) || undefined,
      /** Whether the key was active when this process last read it. Sends no request. */
      hasBeenActive: () => Boolean(accounts.peek(hash, { allowStale: true })),
    };
  };
}

const INACTIVE = '';

async function activeAccount(store: Store, hash: string): Promise<string> {
  const deadline = performance.now() + KEY_LOOK_UP_MS;
  try {
    const key = (await API_KEYS.read(store, hash, { requestTimeout: KEY_LOOK_UP_MS }))?.document;
    const isKnown = key !== undefined && timingSafeEqual(Buffer.from(key.sha256), Buffer.from(hash));
    if (!isKnown || key.revoked_at !== null) return INACTIVE;
    const requestTimeout = Math.max(1, Math.round(deadline - performance.now()));
    const holder = (await ACCOUNTS.read(store, accountId(key.account), { requestTimeout }))?.document;
    return isActive(holder) ? key.account : INACTIVE;
  } catch (error) {
    // An invalid key or account document grants no access.
    if (error instanceof BadDocumentError) return INACTIVE;
    throw error;
  }
}
