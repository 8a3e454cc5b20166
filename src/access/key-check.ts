import { timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Store } from '../storage/store.ts';
import { BadDocumentError } from '../storage/stored.ts';
import { isAccountActive } from './accounts.ts';
import { API_KEYS, keyId } from './api-keys.ts';
import { apiKeyHash, isWellFormedKey } from './key-format.ts';

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
 * A check of keys for one process. Malformed keys are refused without a request. Each other key is read by its hash at
 * most once in five seconds. While OpenSearch is away the check fails; a key is never accepted for longer.
 */
export function keyCheck(store: Store, keyPrefix: string): KeyCheck {
  const active = new LRUCache<string, boolean>({
    max: KEYS_REMEMBERED,
    ttl: KEY_BELIEVED_MS,
    // `hasBeenActive` needs the last value while the key is read again.
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

async function isActive(store: Store, hash: string): Promise<boolean> {
  const deadline = performance.now() + KEY_LOOK_UP_MS;
  try {
    const found = await API_KEYS.read(store, hash, KEY_LOOK_UP_MS);
    if (found === undefined) return false;
    const { document: key } = found;
    const isKnown = timingSafeEqual(Buffer.from(key.sha256), Buffer.from(hash)) && key.revoked_at === null;
    const left = Math.max(1, Math.round(deadline - performance.now()));
    return isKnown && (await isAccountActive(store, key.account, left));
  } catch (error) {
    // Nobody knows what a key or an account that is not valid may do.
    if (error instanceof BadDocumentError) return false;
    throw error;
  }
}
