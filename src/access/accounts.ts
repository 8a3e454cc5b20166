import { createHash } from 'node:crypto';
import { z } from 'zod';
import { search } from '../storage/checked-search.ts';
import { responseStatus } from '../storage/client.ts';
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

const MAX_CHARACTERS = 200;

/** An account can not be entered, found or used. The message says why. */
class AccountError extends Error {}

/**
 * Creates the account of a business, or returns the existing one. Names that differ only in case or blanks are one
 * account. Of an existing account only the contact changes, if one is given.
 *
 * @throws {AccountError} for an empty or long name or contact, or a deactivated account
 */
export async function enterAccount(
  store: Store,
  given: { account: string; contact?: string | undefined; verifiedBy: string },
): Promise<StoredAccount> {
  const account = bounded('The name of the account', given.account);
  const contact = given.contact === undefined ? undefined : bounded('The contact', given.contact);
  const verifiedBy = bounded('Who verified the account', given.verifiedBy);
  const index = store.names.accounts;
  const id = accountId(account);

  const known = await accountById(store, id);
  if (known !== undefined && known.deactivated_at !== null) {
    throw new AccountError(
      `The account "${known.account}" is deactivated; activate it first: licenses accounts activate.`,
    );
  }
  const entered: StoredAccount =
    known === undefined
      ? {
          account,
          contact: contact ?? null,
          verified_by: verifiedBy,
          verified_at: new Date().toISOString(),
          deactivated_at: null,
        }
      : { ...known, contact: contact ?? known.contact };
  await store.client.index({ index, id, body: entered, refresh: true });
  return entered;
}

/**
 * Deactivates an account, whose keys then stop within ten seconds, or activates it again.
 *
 * @throws {AccountError} when there is no such account
 */
export async function setAccountActive(
  store: Store,
  account: string,
  isActive: boolean,
): Promise<StoredAccount> {
  const known = await accountNamed(store, account);
  if (isActive === (known.deactivated_at === null)) return known;
  const changed = { ...known, deactivated_at: isActive ? null : new Date().toISOString() };
  await store.client.index({
    index: store.names.accounts,
    id: accountId(known.account),
    body: changed,
    refresh: true,
  });
  return changed;
}

/** The account of this name. @throws {AccountError} when there is none */
export async function accountNamed(store: Store, account: string): Promise<StoredAccount> {
  const known = await accountById(store, accountId(plain(account)));
  if (known === undefined) throw new AccountError(`There is no account "${plain(account)}".`);
  return known;
}

/**
 * Whether an account may use its keys. A key whose account was never entered may be used: only an operator ends it.
 *
 * @param timeoutMs how long OpenSearch may take
 */
export async function isAccountActive(store: Store, account: string, timeoutMs: number): Promise<boolean> {
  const known = await accountById(store, accountId(account), timeoutMs);
  return known === undefined || known.deactivated_at === null;
}

const accountResponse = z.object({ _source: storedAccount });

async function accountById(store: Store, id: string, timeoutMs?: number): Promise<StoredAccount | undefined> {
  try {
    const response = await store.client.get(
      { index: store.names.accounts, id },
      timeoutMs === undefined ? {} : { requestTimeout: timeoutMs },
    );
    return accountResponse.parse(response.body)._source;
  } catch (error) {
    if (responseStatus(error) === 404) return undefined;
    throw error;
  }
}

const MAX_ACCOUNTS = 10_000;
const accountsResponse = z.object({
  hits: z.object({ hits: z.array(z.object({ _source: storedAccount })) }),
});

/** All accounts by name. */
export async function listAccounts(store: Store): Promise<StoredAccount[]> {
  const response = await search(store.client, accountsResponse, {
    index: store.names.accounts,
    body: { size: MAX_ACCOUNTS, query: { match_all: {} }, sort: [{ account: 'asc' }] },
  });
  return response.hits.hits.map((hit) => hit._source);
}

function bounded(what: string, text: string): string {
  const value = plain(text);
  if (value === '' || value.length > MAX_CHARACTERS) {
    throw new AccountError(`${what} must have 1 to ${MAX_CHARACTERS} characters.`);
  }
  return value;
}

/** Text without blanks around it, and with single blanks inside. */
function plain(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}

function accountId(account: string): string {
  return createHash('sha256').update(account.toLowerCase()).digest('hex');
}
