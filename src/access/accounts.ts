import { hash } from 'node:crypto';
import { z } from 'zod';
import { collection } from '../storage/collection.ts';
import type { Store } from '../storage/store.ts';

const storedAccount = z.object({
  /** The business, as its name was first entered. */
  account: z.string(),
  /** Whom to contact; null if nobody was named. */
  contact: z.string().nullable(),
  verified_by: z.string(),
  verified_at: z.string(),
  /** When it was deactivated, ISO 8601; null while it is active. */
  deactivated_at: z.string().nullable().default(null),
});

/** A business that holds API keys. */
export type StoredAccount = z.output<typeof storedAccount>;

/** The accounts, under a hash of their names. */
export const ACCOUNTS = collection('accounts', storedAccount, { order: [{ account: 'asc' }] });

const MAX_CHARACTERS = 200;

/**
 * Creates the account of a business, or returns the existing one. Names that differ only in case or blanks are one
 * account. Of an existing account only the contact changes, if one is given.
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
 * Deactivates an account, whose keys then stop within ten seconds, or activates it again.
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
 * Whether an account's keys and webhook may be used. Each key is issued to an account, so a missing one was lost, as with
 * its index, and one that is not valid may have been deactivated, too.
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

/** The id of an account: names that differ only in case are one. @param account its name, or one of its keys has it */
export function accountId(account: string): string {
  return hash('sha256', account.toLowerCase());
}
