import { userInfo } from 'node:os';
import { Command } from 'commander';
import { createKey, keyById, listKeys, revokeKey } from '../access/api-keys.ts';
import { withOpenSearch } from './open-search.ts';
import { print, printJson, table } from './output.ts';

const JSON_OPTION = ['--json', 'print JSON'] as const;

/** `licenses keys …`: issue, list, rotate and revoke API keys. */
export function keysCommand(): Command {
  const keys = new Command('keys').description('API keys');

  keys
    .command('create <account>')
    .description('issue a key to a verified business; it is shown this once')
    .option('--verified-by <name>', 'who verified the business', userInfo().username)
    .option(...JSON_OPTION)
    .action((account: string, options: { verifiedBy: string; json?: boolean }) =>
      issue({ account, verifiedBy: options.verifiedBy }, options.json === true),
    );

  keys
    .command('list')
    .description('all keys, by their last four characters')
    .option(...JSON_OPTION)
    .action((options: { json?: boolean }) =>
      withOpenSearch(async (client, config) => {
        const stored = await listKeys(client, config.INDEX_PREFIX);
        const shown = stored.map(({ sha256: _, ...key }) => key);
        if (options.json === true) return printJson(shown);
        const rows = shown.map((key) => [
          key.id,
          `${config.API_KEY_PREFIX}_…${key.last_four}`,
          key.account,
          key.verified_by,
          key.created_at,
          key.revoked_at ?? '',
        ]);
        print(table(['ID', 'KEY', 'ACCOUNT', 'VERIFIED BY', 'CREATED', 'REVOKED'], rows));
      }),
    );

  keys
    .command('rotate <id>')
    .description('issue a second key to the same account; revoke the first when it is no longer used')
    .option(...JSON_OPTION)
    .action((id: string, options: { json?: boolean }) =>
      withOpenSearch(async (client, config) => {
        const { account, verified_by: verifiedBy } = await keyById(client, config.INDEX_PREFIX, id);
        await issue({ account, verifiedBy }, options.json === true);
      }),
    );

  keys
    .command('revoke <id>')
    .description('end a key; every process stops taking it within ten seconds')
    .option(...JSON_OPTION)
    .action((id: string, options: { json?: boolean }) =>
      withOpenSearch(async (client, config) => {
        const { sha256: _, ...key } = await revokeKey(client, config.INDEX_PREFIX, id);
        if (options.json === true) printJson(key);
        else print(`Key ${key.id} of ${key.account} is revoked since ${key.revoked_at}.`);
      }),
    );

  return keys;
}

function issue(holder: { account: string; verifiedBy: string }, asJson: boolean): Promise<void> {
  return withOpenSearch(async (client, config) => {
    const prefixes = { indexPrefix: config.INDEX_PREFIX, keyPrefix: config.API_KEY_PREFIX };
    const { stored, key } = await createKey(client, prefixes, holder);
    const { sha256: _, ...shown } = stored;
    if (asJson) return printJson({ ...shown, key });
    print(`Key ${stored.id} for ${stored.account}, verified by ${stored.verified_by}. It is shown only now:`);
    print(key);
  });
}
