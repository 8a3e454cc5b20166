import { createPrivateKey, createPublicKey, hkdfSync } from 'node:crypto';
import { CompactSign, calculateJwkThumbprint } from 'jose';
import { z } from 'zod';
import { collection } from '../storage/collection.ts';
import type { Store } from '../storage/store.ts';

const storedKey = z.object({
  /** The key's thumbprint (RFC 7638). */
  kid: z.string(),
  /** The public key in the form of a JWK. */
  x: z.string(),
  /** Starts at 1; each rotation adds one. */
  generation: z.int().min(1),
});

type StoredKey = Readonly<z.output<typeof storedKey>>;

/**
 * All public keys that have ever been used to sign, including the current one, latest generation first. The private
 * keys are not stored: they are derived from SIGNING_SECRET_KEY and the generation. So processes that start at the same
 * time have the same key.
 */
export const SIGNING_KEYS = collection('signingKeys', storedKey, {
  isStoredUnder: (id, { kid }) => id === kid,
  order: [{ generation: 'desc' }],
});

/** The media type of a signed statement: a compact JWS. */
export const JOSE = 'application/jose';

/** The bytes before the 32 bytes of a private Ed25519 key in PKCS #8 (RFC 8410, section 7). */
const PKCS8_BEGINNING = Buffer.from('302e020100300506032b657004220420', 'hex');

async function derivedKey(secret: string, generation: number) {
  const seed = hkdfSync('sha256', secret, '', `signing key ${generation}`, 32);
  const der = Buffer.concat([PKCS8_BEGINNING, Buffer.from(seed)]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { privateKey, kid: await calculateJwkThumbprint({ kty: 'OKP', crv: 'Ed25519', x }), x, generation };
}

type DerivedKey = Awaited<ReturnType<typeof derivedKey>>;

/**
 * The latest stored key that is derived from this secret. If there is none, the next generation: the installation or
 * the secret is new.
 */
async function presentKey(secret: string, stored: readonly StoredKey[]): Promise<DerivedKey> {
  for (const { kid, generation } of stored) {
    const key = await derivedKey(secret, generation);
    if (key.kid === kid) return key;
  }
  return derivedKey(secret, (stored[0]?.generation ?? 0) + 1);
}

/** Stores public keys. Existing keys are not changed. */
async function keep(store: Store, keys: readonly DerivedKey[]): Promise<void> {
  const documents = keys.map(({ kid, x, generation }) => [kid, { kid, x, generation }] as const);
  await SIGNING_KEYS.createAll(store, documents);
}

export type Signing = ReturnType<typeof signingKeys>;

/**
 * Signs statements, and lists the public keys for verifying them. Both functions throw `SearchUnavailableError` when
 * OpenSearch does not answer.
 *
 * @param secret SIGNING_SECRET_KEY; without it, nothing is signed
 */
export function signingKeys(store: Store, secret: string | undefined) {
  return {
    /** Whether signing is enabled. */
    isOn: secret !== undefined,
    /** The public keys as a JSON Web Key Set (RFC 7517), including those of earlier generations and secrets. */
    async keySet() {
      const stored = await SIGNING_KEYS.list(store);
      const present = secret === undefined ? [] : [await presentKey(secret, stored)];
      const all = new Map([...present, ...stored].map(({ kid, x }) => [kid, x]));
      const common = { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig' };
      return { keys: Array.from(all, ([kid, x]) => ({ ...common, kid, x })) };
    },
    /**
     * Signs a JSON statement.
     *
     * @returns a compact JWS (RFC 7515) whose `kid` names the key; `undefined` without a secret
     */
    async sign(statement: object): Promise<string | undefined> {
      if (secret === undefined) return undefined;
      const stored = await SIGNING_KEYS.list(store);
      const key = await presentKey(secret, stored);
      if (!stored.some(({ kid }) => kid === key.kid)) await keep(store, [key]);
      return new CompactSign(Buffer.from(JSON.stringify(statement)))
        .setProtectedHeader({ alg: 'EdDSA', kid: key.kid })
        .sign(key.privateKey);
    },
  };
}

/**
 * Makes the next generation sign from now on. The public keys of earlier generations are kept.
 *
 * @returns the ids of the previous and the new key
 * @throws {Error} without a secret
 */
export async function rotateSigningKey(store: Store, secret: string | undefined) {
  if (secret === undefined) throw new Error('SIGNING_SECRET_KEY is not set: nothing is signed.');
  const stored = await SIGNING_KEYS.list(store);
  const before = await presentKey(secret, stored);
  const now = await derivedKey(secret, Math.max(before.generation, stored[0]?.generation ?? 0) + 1);
  await keep(store, [before, now]);
  return { before: before.kid, now: now.kid };
}
