import { hash } from 'node:crypto';
import { z } from 'zod';
import { collection } from '../storage/collection.ts';
import type { Store } from '../storage/store.ts';

const storedAccount = z.object({
  /** The name of the business, as it was first entered. */
  account: z.string(),
  /** The person or address to contact; null if none was given. */
  contact: z.string().nullable(),
  verified_by: z.string(),
  verified_at: z.string(),
  /** The time of deactivation, ISO 8601; null while the account is active. */
  deactivated_at: z.string().nullable().default(null),
});

/** A business that holds API keys. */
export type StoredAccount = z.output<typeof storedAccount>;

/** The accounts. The id of each is a hash of its name. */
export const ACCOUNTS = collection('accounts', storedAccount, { order: [{ account: 'asc' }] });

const MAX_CHARACTERS = 200;

/**
 * Creates the account of a business, or returns the existing one. Names that differ only in case or blanks belong to
 * the same account. In an existing account only the contact is updated, if one is given.
 *
 * @throws {Error} for an empty or long name or contact, or a deactivated account
 */
export async function enterAccount(
  store: Store,
  given: { account: string; contact?: string | undefined; verifiedBy: string },
): Promise<StoredAccount> {
  const account = bounded('The name of the account', given.account);
  const contact = given.contact === undefined ? undefined : bounded('The contact', given.contact);
  const fresh = {
    account,
    contact: contact ?? null,
    verified_by: bounded('Who verified the account', given.verifiedBy),
    verified_at: new Date().toISOString(),
    deactivated_at: null,
  };
  return ACCOUNTS.update(store, accountId(account), (known) => {
    if (known === undefined) return fresh;
    if (known.deactivated_at !== null) {
      throw new Error(
        `The account "${known.account}" is deactivated; activate it first: licenses accounts activate.`,
      );
    }
    return contact === undefined ? known : { ...known, contact };
  });
}

/**
 * Deactivates or reactivates an account. The keys of a deactivated account stop working within ten seconds.
 *
 * @throws {Error} when there is no such account
 */
export function setAccountActive(store: Store, account: string, isActive: boolean): Promise<StoredAccount> {
  return ACCOUNTS.update(store, accountId(plain(account)), (stored) => {
    const known = existing(account, stored);
    if (isActive === (known.deactivated_at === null)) return known;
    return { ...known, deactivated_at: isActive ? null : new Date().toISOString() };
  });
}

/** @throws {Error} when there is no such account */
export async function accountNamed(store: Store, account: string): Promise<StoredAccount> {
  return existing(account, (await ACCOUNTS.read(store, accountId(plain(account))))?.document);
}

function existing(account: string, stored: StoredAccount | undefined): StoredAccount {
  if (stored === undefined) throw new Error(`There is no account "${plain(account)}".`);
  return stored;
}

/**
 * Whether an account's keys and webhook may be used. Every key belongs to an account. If the account is missing, it was
 * lost, for example with its index. If it is invalid, it may have been deactivated. Neither grants access.
 */
export function isActive(account: StoredAccount | undefined): boolean {
  return account?.deactivated_at === null;
}

function bounded(what: string, text: string): string {
  const value = plain(text);
  if (value === '' || value.length > MAX_CHARACTERS) {
    throw new Error(`${what} must have 1 to ${MAX_CHARACTERS} characters.`);
  }
  return value;
}

function plain(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}

/**
 * The id of an account. Names that differ only in case have the same id.
 *
 * @param account the name of the account, also as one of its keys has it
 */
export function accountId(account: string): string {
  return hash('sha256', account.toLowerCase());
}
