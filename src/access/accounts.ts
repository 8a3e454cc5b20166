import { createHash } from 'node:crypto';
import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { accountsIndex } from '../publications/index-name.ts';
import { search } from '../search/checked-search.ts';
import { responseStatus } from '../search/client.ts';

const storedAccount = z.object({
  /** The business, as its name was first entered. */
  account: z.string(),
  /** Whom to reach there; null where nobody was named. */
  contact: z.string().nullable(),
  verified_by: z.string(),
  verified_at: z.string(),
});

/** A business that holds API keys. */
export type StoredAccount = z.output<typeof storedAccount>;

const MOST_CHARACTERS = 200;

/** A name or a contact is empty or too long. The message says which. */
export class AccountError extends Error {}

/**
 * The account of a business, entered where it is new. Names that differ in case or blanks are one account. A known
 * one keeps what was entered; a contact given replaces the one before.
 *
 * @throws {AccountError} for an empty or long name or contact
 */
export async function enterAccount(
  client: Client,
  indexPrefix: string,
  given: { account: string; contact?: string | undefined; verifiedBy: string },
): Promise<StoredAccount> {
  const account = bounded('The name of the account', given.account);
  const contact = given.contact === undefined ? undefined : bounded('The contact', given.contact);
  const verifiedBy = bounded('Who verified the account', given.verifiedBy);
  const index = accountsIndex(indexPrefix);
  const id = accountId(account);

  const known = await accountById(client, indexPrefix, id);
  const entered: StoredAccount =
    known === undefined
      ? {
          account,
          contact: contact ?? null,
          verified_by: verifiedBy,
          verified_at: new Date().toISOString(),
        }
      : { ...known, contact: contact ?? known.contact };
  await client.index({ index, id, body: entered, refresh: true });
  return entered;
}

const accountResponse = z.object({ _source: storedAccount });

async function accountById(
  client: Client,
  indexPrefix: string,
  id: string,
): Promise<StoredAccount | undefined> {
  try {
    const response = await client.get({ index: accountsIndex(indexPrefix), id });
    return accountResponse.parse(response.body)._source;
  } catch (error) {
    if (responseStatus(error) === 404) return undefined;
    throw error;
  }
}

const MOST_ACCOUNTS = 10_000;
const accountsResponse = z.object({
  hits: z.object({ hits: z.array(z.object({ _source: storedAccount })) }),
});

/** All accounts by name. */
export async function listAccounts(client: Client, indexPrefix: string): Promise<StoredAccount[]> {
  const response = await search(client, accountsResponse, {
    index: accountsIndex(indexPrefix),
    body: { size: MOST_ACCOUNTS, query: { match_all: {} }, sort: [{ account: 'asc' }] },
  });
  const { hits } = response.hits;
  return hits.map((hit) => hit._source);
}

function bounded(what: string, text: string): string {
  const plain = text.trim().replaceAll(/\s+/g, ' ');
  if (plain === '' || plain.length > MOST_CHARACTERS) {
    throw new AccountError(`${what} must have 1 to ${MOST_CHARACTERS} characters.`);
  }
  return plain;
}

function accountId(account: string): string {
  return createHash('sha256').update(account.toLowerCase()).digest('hex');
}
