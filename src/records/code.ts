import { randomBytes } from 'node:crypto';

/** Crockford's base32: no letter that is easily taken for a digit, and no U. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const CHARACTERS = 16;
const CODE = /^[0-9A-HJKMNP-TV-Z]{16}$/i;

/** More than a code with a blank or hyphen beside each character. */
const MAX_TYPED_CHARACTERS = 64;

/** The code of a new saved record: 80 random bits, so that nobody finds a record by trying codes. */
export function newRecordCode(): string {
  return Array.from(randomBytes(CHARACTERS), (byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('');
}

/**
 * Reads a code as typed: case, blanks and hyphens do not matter, O is read as 0, I and L as 1.
 *
 * @returns its 16 characters; `undefined` for a text that is no code
 */
export function readRecordCode(text: string): string | undefined {
  if (text.length > MAX_TYPED_CHARACTERS) return undefined;
  const code = text
    .replace(/[\s\p{Pd}]/gu, '')
    .replace(/[Oo]/g, '0')
    .replace(/[IiLl]/g, '1');
  // Upper case comes last: it makes plain letters of some that are no part of a code, such as the dotless i.
  return CODE.test(code) ? code.toUpperCase() : undefined;
}

/** A code as people read it: `XXXX-XXXX-XXXX-XXXX`. */
export function writtenRecordCode(code: string): string {
  return code.replace(/(.{4})(?=.)/g, '$1-');
}
