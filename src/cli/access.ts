import { ACCOUNTS, accountId, setAccountActive } from '../access/accounts.ts';
import {
  API_KEYS,
  type CreatedKey,
  createKey,
  keyById,
  revokeKey,
  rotateKey,
  type StoredKey,
} from '../access/api-keys.ts';
import { lastUsed, readKeyUsage } from '../access/usage.ts';
import { daysBefore, todayInOhio } from '../licenses/dates.ts';
import { rotateSigningKey } from '../signing/keys.ts';
import { AUDIT_ENTRIES, recordAudit } from '../storage/audit-log.ts';
import type { Store } from '../storage/store.ts';
import { WEBHOOKS, webhookState } from '../subscriptions/webhook.ts';
import type { Actions } from './options.ts';
import { described, sumOf, table } from './output.ts';
import { storeAction } from './store-command.ts';

/** API keys, the accounts that hold them, their webhooks, and what operators did. */
export const ACTIONS: Actions = {
  'keys create': storeAction(
    async (store, [account = ''], { contact, verifiedBy = '' }, { API_KEY_PREFIX: prefix }) =>
      issued(store, await createKey(store, prefix, { account, contact, verifiedBy })),
    shownOnce,
  ),
  'keys rotate': storeAction(
    async (store, [id = ''], _options, { API_KEY_PREFIX: prefix }) =>
      issued(store, await rotateKey(store, prefix, id), id),
    shownOnce,
  ),
  'keys revoke': storeAction(async (store, [id = '']) => {
    const key = withoutHash(await revokeKey(store, id));
    await recordAudit(store, 'keys revoke', { key: key.id, account: key.account });
    return key;
  }),
  'keys list': storeAction(
    async (store, _given, _options, { API_KEY_PREFIX: prefix }) => {
      const accountOf = new Map((await ACCOUNTS.list(store)).map((account) => [account.account, account]));
      const used = await lastUsed(store);
      return (await API_KEYS.list(store)).map((key) => {
        const account = accountOf.get(key.account);
        const held = account ? stateSince('account deactivated', account.deactivated_at) : 'account missing';
        const state = stateSince('revoked', key.revoked_at) ?? held ?? 'active';
        const last_used = used.get(key.id) ?? null;
        return { ...withoutHash(key), ...account, key: `${prefix}_…${key.last_four}`, last_used, state };
      });
    },
    (keys) => table(keys, ['id', 'key', 'account', 'created_at', 'last_used', 'state']),
  ),
  'keys usage': storeAction(
    async (store, [id], { days = 30 }) => {
      if (id !== undefined) await keyById(store, id);
      return readKeyUsage(store, daysBefore(todayInOhio(), days - 1), id);
    },
    (used) =>
      table(used.map(({ day, key, counts }) => ({ day, key, requests: sumOf(counts), outcomes: counts }))),
  ),
  'accounts list': storeAction(
    async (store) => {
      const [accounts, keys] = await Promise.all([ACCOUNTS.list(store), API_KEYS.list(store)]);
      return accounts.map((each) => ({
        ...each,
        keys: keys.filter((key) => key.account === each.account && key.revoked_at === null).length,
        state: stateSince('deactivated', each.deactivated_at) ?? 'active',
      }));
    },
    (all) => table(all, ['account', 'contact', 'verified_by', 'verified_at', 'keys', 'state']),
  ),
  'accounts activate': setActive('accounts activate'),
  'accounts deactivate': setActive('accounts deactivate'),
  // The path of a URL may be a secret, so only the host is shown.
  'webhooks list': storeAction(async (store) => {
    const nameOf = new Map((await ACCOUNTS.list(store)).map(({ account }) => [accountId(account), account]));
    const listed = (await WEBHOOKS.list(store)).map((webhook) => {
      const { failing_since, delivered_at, delivered_cursor } = webhook;
      const account = nameOf.get(webhook.account) ?? webhook.account;
      const host = URL.parse(webhook.url)?.host ?? '';
      return { account, host, state: webhookState(webhook), failing_since, delivered_at, delivered_cursor };
    });
    return listed.toSorted((one, other) => one.account.localeCompare(other.account));
  }),
  'signing-keys rotate': storeAction(
    async (store, _given, _options, { SIGNING_SECRET_KEY: secret }) => {
      const rotated = await rotateSigningKey(store, secret);
      await recordAudit(store, 'signing-keys rotate', rotated);
      return rotated;
    },
    ({ before, now }) => `The key ${now} signs now. ${before} stays among the public keys.`,
  ),
  audit: storeAction((store, _given, { limit }) => AUDIT_ENTRIES.list(store, limit)),
};

function shownOnce(issued: object): string[] {
  return [...described(issued), '', 'The key is shown only this once.'];
}

async function issued(store: Store, made: CreatedKey, replaced?: string) {
  const { account, verified_by } = made.account;
  const action = replaced === undefined ? 'keys create' : 'keys rotate';
  await recordAudit(store, action, { key: made.stored.id, account, verified_by, replaced });
  return { ...withoutHash(made.stored), ...made.account, key: made.key };
}

const withoutHash = ({ sha256: _, ...key }: StoredKey) => key;

function stateSince(state: string, instant: string | null): string | undefined {
  return instant === null ? undefined : `${state} ${todayInOhio(new Date(instant))}`;
}

function setActive(action: 'accounts activate' | 'accounts deactivate') {
  return storeAction(async (store, [name = '']) => {
    const changed = await setAccountActive(store, name, action === 'accounts activate');
    await recordAudit(store, action, { account: changed.account });
    return changed;
  });
}
