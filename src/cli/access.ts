import { Command } from 'commander';
import { listAccounts, type StoredAccount, setAccountActive } from '../access/accounts.ts';
import {
  type CreatedKey,
  createKey,
  keyById,
  listKeys,
  revokeKey,
  rotateKey,
  type StoredKey,
} from '../access/api-keys.ts';
import { type KeyDay, lastUsed, readKeyUsage } from '../access/usage.ts';
import type { Config } from '../config.ts';
import { daysBefore, ohioTime, todayInOhio } from '../licenses/dates.ts';
import { readAudit, recordAudit } from '../storage/audit-log.ts';
import type { Store } from '../storage/store.ts';
import { wholeNumber } from './options.ts';
import { grouped, sumOf, table } from './output.ts';
import { JSON_OPTION, type JsonOption, jsonCommand, report } from './store-command.ts';

/** `licenses keys …`: issue, list, rotate and revoke API keys, and show what they were used for. */
export function keysCommand(): Command {
  const keys = new Command('keys').description('API keys');

  keys
    .command('create <account>')
    .description('issue a key to a verified business; it is shown this once')
    .option('--contact <who>', 'whom to reach there')
    .requiredOption('--verified-by <name>', 'the person who verified the business')
    .option(...JSON_OPTION)
    .action((account: string, options: JsonOption & { contact?: string; verifiedBy: string }) =>
      issue(options, 'keys create', (store, prefix) => createKey(store, prefix, { account, ...options })),
    );

  jsonCommand(keys, 'list', 'all keys, by their last four characters').action((options: JsonOption) =>
    report(options, keysWithUse, (all, config) =>
      table(
        ['ID', 'KEY', 'ACCOUNT', 'CREATED', 'LAST USED', 'STATE'],
        all.map((key) => [
          ...[key.id, `${config.API_KEY_PREFIX}_…${key.last_four}`, key.account],
          ...[dayOf(key.created_at), key.last_used ?? 'never', keyState(key)],
        ]),
      ),
    ),
  );

  keys
    .command('usage')
    .description('how often keys were used on each day, by how the requests ended')
    .argument('[id]', 'one key; without it, all')
    .option('--days <n>', 'so many days back', wholeNumber, 30)
    .option(...JSON_OPTION)
    .action((id: string | undefined, options: JsonOption & { days: number }) =>
      report(
        options,
        (store) => usage(store, id, options.days),
        (used) => table(['DAY', 'KEY', 'REQUESTS', 'OUTCOMES'], used.map(usageRow)),
      ),
    );

  jsonCommand(
    keys,
    'rotate <id>',
    'issue a second key to the same account; revoke the first when it is no longer used',
  ).action((id: string, options: JsonOption) =>
    issue(options, 'keys rotate', (store, prefix) => rotateKey(store, prefix, id), id),
  );

  jsonCommand(keys, 'revoke <id>', 'end a key; every process stops taking it within ten seconds').action(
    (id: string, options: JsonOption) =>
      report(
        options,
        (store) => revoke(store, id),
        (key) => `Key ${key.id} of ${key.account} is revoked; it stops within ten seconds.`,
      ),
  );

  return keys;
}

function issue(
  options: JsonOption,
  action: 'keys create' | 'keys rotate',
  create: (store: Store, prefix: string) => Promise<CreatedKey>,
  replaced?: string,
): Promise<void> {
  const createAndRecord = async (store: Store, config: Config) => {
    const { stored, account, key } = await create(store, config.API_KEY_PREFIX);
    const { account: name, verified_by } = account;
    await recordAudit(store, action, { key: stored.id, account: name, verified_by, replaced });
    return { ...shown(stored), ...account, key };
  };
  return report(options, createAndRecord, ({ id, account, verified_by, key }) => [
    `Key ${id} for ${account}, verified by ${verified_by}. It is shown only now:`,
    key,
  ]);
}

/** The day in Ohio of an instant. */
function dayOf(instant: string): string {
  return todayInOhio(new Date(instant));
}

function sinceOr(otherwise: string, state: string, instant: string | null | undefined): string {
  return instant ? `${state} ${dayOf(instant)}` : otherwise;
}

function keyState({
  revoked_at,
  deactivated_at,
}: Pick<StoredKey, 'revoked_at'> & Partial<StoredAccount>): string {
  return sinceOr(sinceOr('active', 'account deactivated', deactivated_at), 'revoked', revoked_at);
}

/** All but the hash. */
function shown({ sha256: _, ...key }: StoredKey): Omit<StoredKey, 'sha256'> {
  return key;
}

async function keysWithUse(store: Store) {
  const [stored, accounts, used] = await Promise.all([listKeys(store), listAccounts(store), lastUsed(store)]);
  const accountOf = new Map(accounts.map((account) => [account.account, account]));
  return stored.map((key) => ({
    ...shown(key),
    ...accountOf.get(key.account),
    last_used: used.get(key.id) ?? null,
  }));
}

async function usage(store: Store, id: string | undefined, days: number): Promise<KeyDay[]> {
  if (id !== undefined) await keyById(store, id);
  return readKeyUsage(store, daysBefore(todayInOhio(), days - 1), id);
}

function usageRow({ key, day, counts }: KeyDay): string[] {
  return [
    day,
    key,
    grouped(sumOf(counts)),
    Object.entries(counts)
      .map(([name, count]) => `${name} ${grouped(count)}`)
      .join(', '),
  ];
}

async function revoke(store: Store, id: string): Promise<Omit<StoredKey, 'sha256'>> {
  const key = shown(await revokeKey(store, id));
  await recordAudit(store, 'keys revoke', { key: key.id, account: key.account });
  return key;
}

/** `licenses accounts …`: list, deactivate and activate the businesses that hold API keys. */
export function accountsCommand(): Command {
  const accounts = new Command('accounts').description('businesses that hold API keys');

  jsonCommand(accounts, 'list', 'all accounts, who verified them, and how many keys each has in use').action(
    (options: JsonOption) =>
      report(options, accountsWithKeys, (all) =>
        table(
          ['ACCOUNT', 'CONTACT', 'VERIFIED BY', 'VERIFIED', 'KEYS', 'STATE'],
          all.map((each) => [
            ...[each.account, each.contact ?? '', each.verified_by, dayOf(each.verified_at)],
            ...[String(each.keys), sinceOr('active', 'deactivated', each.deactivated_at)],
          ]),
        ),
      ),
  );

  jsonCommand(
    accounts,
    'deactivate <account>',
    'refuse all keys of an account; every process does so within ten seconds',
  ).action((account: string, options: JsonOption) => setActive(account, false, options));

  jsonCommand(accounts, 'activate <account>', 'take the keys of a deactivated account again').action(
    (account: string, options: JsonOption) => setActive(account, true, options),
  );

  return accounts;
}

async function accountsWithKeys(store: Store) {
  const [accounts, keys] = await Promise.all([listAccounts(store), listKeys(store)]);
  const inUse = keys.filter((key) => key.revoked_at === null);
  return accounts.map((account) => ({
    ...account,
    keys: inUse.filter((key) => key.account === account.account).length,
  }));
}

function setActive(name: string, isActive: boolean, options: JsonOption): Promise<void> {
  const change = async (store: Store) => {
    const changed = await setAccountActive(store, name, isActive);
    const action = isActive ? 'accounts activate' : 'accounts deactivate';
    await recordAudit(store, action, { account: changed.account });
    return changed;
  };
  return report(options, change, (account) => `Account ${account.account} is ${state(account)}.`);
}

function state({ deactivated_at: since }: StoredAccount): string {
  return since === null ? 'active' : `deactivated since ${ohioTime(since)}; its keys stop within ten seconds`;
}

/** `licenses audit`: who did what, and when. */
export function auditCommand(): Command {
  return new Command('audit')
    .description('what operators did: publications, rollbacks, keys, accounts; the latest first')
    .option('--limit <n>', 'only the latest n', wholeNumber)
    .option(...JSON_OPTION)
    .action((options: JsonOption & { limit?: number }) =>
      report(
        options,
        (store) => readAudit(store, options.limit),
        (entries) =>
          table(
            ['AT', 'BY', 'ACTION', 'DETAILS'],
            entries.map(({ at, by, action, details }) => [ohioTime(at), by, action, pairs(details)]),
          ),
      ),
    );
}

function pairs(details: Readonly<Record<string, unknown>>): string {
  return Object.entries(details)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}
