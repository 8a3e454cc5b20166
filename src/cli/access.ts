import { setAccountActive } from '../access/accounts.ts';
import {
  type CreatedKey,
  createKey,
  keyById,
  revokeKey,
  rotateKey,
  withoutHash,
} from '../access/api-keys.ts';
import { listAccounts, listKeys } from '../access/lists.ts';
import { readKeyUsage } from '../access/usage.ts';
import { daysBefore, todayInOhio } from '../licenses/dates.ts';
import { rotateSigningKey } from '../signing/keys.ts';
import { AUDIT_ENTRIES, recordAudit } from '../storage/audit-log.ts';
import type { Store } from '../storage/store.ts';
import { listWebhooks } from '../subscriptions/webhook.ts';
import type { Actions } from './options.ts';
import { described, sumOf, table } from './output.ts';
import { storeAction } from './store-command.ts';

const shownOnce = (issued: object) => [...described(issued), '', 'The key is shown only this once.'];

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
    (store, _given, _options, { API_KEY_PREFIX: prefix }) => listKeys(store, prefix),
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
  'accounts list': storeAction(listAccounts, (all) =>
    table(all, ['account', 'contact', 'verified_by', 'verified_at', 'keys', 'state']),
  ),
  'accounts activate': setActive('accounts activate'),
  'accounts deactivate': setActive('accounts deactivate'),
  'webhooks list': storeAction(listWebhooks),
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

async function issued(store: Store, made: CreatedKey, replaced?: string) {
  const { account, verified_by } = made.account;
  const action = replaced === undefined ? 'keys create' : 'keys rotate';
  await recordAudit(store, action, { key: made.stored.id, account, verified_by, replaced });
  return { ...withoutHash(made.stored), ...made.account, key: made.key };
}

function setActive(action: 'accounts activate' | 'accounts deactivate') {
  return storeAction(async (store, [name = '']) => {
    const changed = await setAccountActive(store, name, action === 'accounts activate');
    await recordAudit(store, action, { account: changed.account });
    return changed;
  });
}
