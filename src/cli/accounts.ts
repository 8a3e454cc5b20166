import { Command } from 'commander';
import { listAccounts, type StoredAccount, setAccountActive } from '../access/accounts.ts';
import { listKeys } from '../access/api-keys.ts';
import { recordAudit } from '../storage/audit-log.ts';
import { withOpenSearch } from './open-search.ts';
import { JSON_OPTION, print, printJson, table } from './output.ts';

interface JsonOption {
  json?: boolean;
}

/** `licenses accounts …`: list, deactivate and activate the businesses that hold API keys. */
export function accountsCommand(): Command {
  const accounts = new Command('accounts').description('businesses that hold API keys');

  accounts
    .command('list')
    .description('all accounts, who verified them, and how many keys each has in use')
    .option(...JSON_OPTION)
    .action(list);

  accounts
    .command('deactivate <account>')
    .description('refuse all keys of an account; every process does so within ten seconds')
    .option(...JSON_OPTION)
    .action((account: string, options: JsonOption) => setActive(account, false, options));

  accounts
    .command('activate <account>')
    .description('take the keys of a deactivated account again')
    .option(...JSON_OPTION)
    .action((account: string, options: JsonOption) => setActive(account, true, options));

  return accounts;
}

function list({ json }: JsonOption): Promise<void> {
  return withOpenSearch(async (store) => {
    const [accounts, keys] = await Promise.all([listAccounts(store), listKeys(store)]);
    const inUse = keys.filter((key) => key.revoked_at === null);
    const counted = accounts.map((account) => ({
      ...account,
      keys: inUse.filter((key) => key.account === account.account).length,
    }));
    if (json === true) return printJson(counted);
    const rows = counted.map((account) => [
      account.account,
      account.contact ?? '',
      account.verified_by,
      account.verified_at,
      String(account.keys),
      account.deactivated_at ?? '',
    ]);
    print(table(['ACCOUNT', 'CONTACT', 'VERIFIED BY', 'VERIFIED', 'KEYS', 'DEACTIVATED'], rows));
  });
}

function setActive(name: string, isActive: boolean, { json }: JsonOption): Promise<void> {
  return withOpenSearch(async (store) => {
    const account = await setAccountActive(store, name, isActive);
    await recordAudit(store, isActive ? 'accounts activate' : 'accounts deactivate', {
      account: account.account,
    });
    if (json === true) return printJson(account);
    print(`Account ${account.account} is ${state(account)}.`);
  });
}

function state({ deactivated_at: since }: StoredAccount): string {
  return since === null ? 'active' : `deactivated since ${since}; its keys stop within ten seconds`;
}
