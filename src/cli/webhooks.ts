import { Command } from 'commander';
import { accountId, listAccounts } from '../access/accounts.ts';
import type { Store } from '../storage/store.ts';
import { WEBHOOKS, webhookState } from '../subscriptions/webhook.ts';
import { table } from './output.ts';
import { JSON_OPTION, type JsonOption, report } from './store-command.ts';

/** `licenses webhooks list`: which receivers are told of changes, and how far. */
export function webhooksCommand(): Command {
  const webhooks = new Command('webhooks').description('the receivers that accounts have named');

  webhooks
    .command('list')
    .description('each with its state (active, failing, paused or gone) and up to which change it was told')
    .option(...JSON_OPTION)
    .action((options: JsonOption) =>
      report(options, listWebhooks, (all) =>
        table(
          ['ACCOUNT', 'HOST', 'STATE', 'FAILING SINCE', 'DELIVERED', 'CURSOR'],
          all.map((each) => [
            each.account,
            each.host,
            each.state,
            each.failing_since ?? '',
            each.delivered_at ?? '',
            each.delivered_cursor,
          ]),
        ),
      ),
    );

  return webhooks;
}

const WEBHOOKS_AT_ONCE = 1000;

/** The path of a URL may be a secret, so only its host is shown. */
async function listWebhooks(store: Store) {
  const accounts = await listAccounts(store);
  const nameOf = new Map(accounts.map(({ account }) => [accountId(account), account]));
  const webhooks = WEBHOOKS.pages(store, {
    size: WEBHOOKS_AT_ONCE,
    query: { match_all: {} },
    sort: [{ account: 'asc' }],
  });
  const all = [];
  for await (const page of webhooks) {
    for (const webhook of page) {
      const { url, failing_since, delivered_at, delivered_cursor } = webhook;
      all.push({
        account: nameOf.get(webhook.account) ?? webhook.account,
        host: URL.parse(url)?.host ?? '',
        state: webhookState(webhook),
        failing_since,
        delivered_at,
        delivered_cursor,
      });
    }
  }
  return all.toSorted((one, other) => one.account.localeCompare(other.account));
}
