import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_BYTES = 32;
/** 62^43 > 2^256 and 62^6 > 2^32: the lengths are always these, filled up with zeros. */
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;

/** A new key: `<prefix>_`, 256 random bits in base62, and a checksum of what stands before it. */
export function newApiKey(prefix: string): string {
  const secret = base62(BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`), SECRET_LENGTH);
  const start = `${prefix}_${secret}`;
  return start + checksum(start);
}

/** Whether a key has the right form and checksum: a mistyped key is recognized without a request. */
export function isWellFormedKey(prefix: string, key: string): boolean {
  if (key.length !== prefix.length + 1 + SECRET_LENGTH + CHECKSUM_LENGTH) return false;
  if (!key.startsWith(`${prefix}_`)) return false;
  const expected = Buffer.from(checksum(key.slice(0, -CHECKSUM_LENGTH)));
  const given = Buffer.from(key.slice(-CHECKSUM_LENGTH));
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** SHA-256 in hexadecimal: all of a key that is ever stored. The key's 256 random bits need no salt. */
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
