import { Command } from 'commander';
import { accountId, listAccounts } from '../access/accounts.ts';
import { ohioTime } from '../licenses/dates.ts';
import type { Store } from '../storage/store.ts';
import { WEBHOOKS, webhookState } from '../subscriptions/webhook.ts';
import { table } from './output.ts';
import { type JsonOption, jsonCommand, report } from './store-command.ts';

/** `licenses webhooks list`: which receivers are told of changes, and how far. */
export function webhooksCommand(): Command {
  const webhooks = new Command('webhooks').description('the receivers that accounts have named');

  jsonCommand(
    webhooks,
    'list',
    'each with its state (active, failing, paused or gone) and up to which change it was told',
  ).action((options: JsonOption) =>
    report(options, listWebhooks, (all) =>
      table(
        ['ACCOUNT', 'HOST', 'STATE', 'FAILING SINCE', 'DELIVERED', 'CURSOR'],
        all.map((each) => [
          ...[each.account, each.host, each.state],
          ...[timeOrBlank(each.failing_since), timeOrBlank(each.delivered_at), each.delivered_cursor],
        ]),
      ),
    ),
  );

  return webhooks;
}

function timeOrBlank(instant: string | null): string {
  return instant === null ? '' : ohioTime(instant);
}

const WEBHOOKS_AT_ONCE = 1000;

/** The path of a URL may be a secret, so only its host is shown. */
async function listWebhooks(store: Store) {
  const accounts = await listAccounts(store);
  const nameOf = new Map(accounts.map(({ account }) => [accountId(account), account]));
  const body = { size: WEBHOOKS_AT_ONCE, query: { match_all: {} }, sort: [{ account: 'asc' } as const] };
  const all = [];
  for await (const page of WEBHOOKS.pages(store, body))
    for (const webhook of page) {
      const { url, failing_since, delivered_at, delivered_cursor } = webhook;
      const account = nameOf.get(webhook.account) ?? webhook.account;
      const told = { failing_since, delivered_at, delivered_cursor };
      all.push({ account, host: URL.parse(url)?.host ?? '', state: webhookState(webhook), ...told });
    }
  return all.toSorted((one, other) => one.account.localeCompare(other.account));
}
