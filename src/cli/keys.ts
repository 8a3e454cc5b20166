import { Command } from 'commander';
import { listAccounts } from '../access/accounts.ts';
import {
  type CreatedKey,
  createKey,
  keyById,
  listKeys,
  revokeKey,
  rotateKey,
  type StoredKey,
} from '../access/api-keys.ts';
import { type KeyDay, lastUsed, readKeyUsage } from '../access/key-usage.ts';
import type { Config } from '../config.ts';
import { daysBefore, todayInOhio } from '../licenses/dates.ts';
import { recordAudit } from '../storage/audit-log.ts';
import type { Store } from '../storage/store.ts';
import { withOpenSearch } from './open-search.ts';
import { grouped, JSON_OPTION, print, printJson, table } from './output.ts';

/** `licenses keys …`: issue, list, rotate and revoke API keys, and show what they were used for. */
export function keysCommand(): Command {
  const keys = new Command('keys').description('API keys');

  keys
    .command('create <account>')
    .description('issue a key to a verified business; it is shown this once')
    .option('--contact <who>', 'whom to reach there')
    .requiredOption('--verified-by <name>', 'the person who verified the business')
    .option(...JSON_OPTION)
    .action((account: string, options: { contact?: string; verifiedBy: string; json?: boolean }) =>
      withOpenSearch(async (store, config) => {
        const created = await createKey(store, config.API_KEY_PREFIX, { account, ...options });
        await recordIssued(store, 'keys create', created);
        printIssued(created, options.json === true);
      }),
    );

  keys
    .command('list')
    .description('all keys, by their last four characters')
    .option(...JSON_OPTION)
    .action((options: { json?: boolean }) => withOpenSearch((store, config) => list(store, config, options)));

  keys
    .command('usage')
    .description('how often keys were used on each day, by how the requests ended')
    .argument('[id]', 'one key; without it, all')
    .option('--days <n>', 'so many days back', '30')
    .option(...JSON_OPTION)
    .action((id: string | undefined, options: { days: string; json?: boolean }) =>
      withOpenSearch((store) => usage(store, id, options)),
    );

  keys
    .command('rotate <id>')
    .description('issue a second key to the same account; revoke the first when it is no longer used')
    .option(...JSON_OPTION)
    .action((id: string, options: { json?: boolean }) =>
      withOpenSearch(async (store, config) => {
        const created = await rotateKey(store, config.API_KEY_PREFIX, id);
        await recordIssued(store, 'keys rotate', created, id);
        printIssued(created, options.json === true);
      }),
    );

  keys
    .command('revoke <id>')
    .description('end a key; every process stops taking it within ten seconds')
    .option(...JSON_OPTION)
    .action((id: string, options: { json?: boolean }) =>
      withOpenSearch(async (store) => {
        const key = shown(await revokeKey(store, id));
        await recordAudit(store, 'keys revoke', { key: key.id, account: key.account });
        if (options.json === true) printJson(key);
        else print(`Key ${key.id} of ${key.account} is revoked since ${key.revoked_at}.`);
      }),
    );

  return keys;
}

function recordIssued(
  store: Store,
  action: 'keys create' | 'keys rotate',
  { stored, account }: CreatedKey,
  replaced?: string,
): Promise<void> {
  const { account: name, verified_by } = account;
  return recordAudit(store, action, {
    key: stored.id,
    account: name,
    verified_by,
    replaced,
  });
}

function printIssued({ stored, account, key }: CreatedKey, asJson: boolean): void {
  if (asJson) printJson({ ...shown(stored), ...account, key });
  else {
    print(
      `Key ${stored.id} for ${account.account}, verified by ${account.verified_by}. It is shown only now:`,
    );
    print(key);
  }
}

/** All but the hash. */
function shown({ sha256: _, ...key }: StoredKey): Omit<StoredKey, 'sha256'> {
  return key;
}

async function list(store: Store, config: Config, { json }: { json?: boolean }): Promise<void> {
  const [stored, accounts, used] = await Promise.all([listKeys(store), listAccounts(store), lastUsed(store)]);
  const accountOf = new Map(accounts.map((account) => [account.account, account]));
  const keys = stored.map((key) => ({
    ...shown(key),
    ...accountOf.get(key.account),
    last_used: used.get(key.id) ?? null,
  }));
  if (json === true) return printJson(keys);
  const rows = keys.map((key) => [
    key.id,
    `${config.API_KEY_PREFIX}_…${key.last_four}`,
    key.account,
    key.contact ?? '',
    key.verified_by ?? '',
    key.created_at,
    key.last_used ?? '',
    key.revoked_at ?? '',
  ]);
  print(table(['ID', 'KEY', 'ACCOUNT', 'CONTACT', 'VERIFIED BY', 'CREATED', 'LAST USED', 'REVOKED'], rows));
}

async function usage(
  store: Store,
  id: string | undefined,
  { days, json }: { days: string; json?: boolean },
): Promise<void> {
  if (!/^[1-9]\d{0,3}$/.test(days))
    throw new Error(`--days is "${days}", but must be a whole number from 1.`);
  if (id !== undefined) await keyById(store, id);
  const since = daysBefore(todayInOhio(), Number(days) - 1);
  const used = await readKeyUsage(store, since, id);
  if (json === true) return printJson(used);
  print(table(['DAY', 'KEY', 'REQUESTS', 'OUTCOMES'], used.map(usageRow)));
}

function usageRow({ key, day, counts }: KeyDay): string[] {
  const outcomes = Object.entries(counts);
  const requests = outcomes.reduce((sum, [, count]) => sum + count, 0);
  return [
    day,
    key,
    grouped(requests),
    outcomes.map(([name, count]) => `${name} ${grouped(count)}`).join(', '),
  ];
}
