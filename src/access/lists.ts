import { todayInOhio } from '../licenses/dates.ts';
import type { Store } from '../storage/store.ts';
import { ACCOUNTS } from './accounts.ts';
import { API_KEYS, withoutHash } from './api-keys.ts';
import { lastUsed } from './usage.ts';

/** Lists every key as operators see it: its last characters, its account, its last use, and its state. */
export async function listKeys(store: Store, keyPrefix: string) {
  const accountOf = new Map((await ACCOUNTS.list(store)).map((account) => [account.account, account]));
  const used = await lastUsed(store);
  return (await API_KEYS.list(store)).map((key) => {
    const account = accountOf.get(key.account);
    const held = account ? stateSince('account deactivated', account.deactivated_at) : 'account missing';
    const state = stateSince('revoked', key.revoked_at) ?? held ?? 'active';
    const last_used = used.get(key.id) ?? null;
    return { ...withoutHash(key), ...account, key: `${keyPrefix}_…${key.last_four}`, last_used, state };
  });
}

/** Lists every account with the number of its keys that are not revoked, and its state. */
export async function listAccounts(store: Store) {
  const [accounts, keys] = await Promise.all([ACCOUNTS.list(store), API_KEYS.list(store)]);
  return accounts.map((each) => ({
    ...each,
    keys: keys.filter((key) => key.account === each.account && key.revoked_at === null).length,
    state: stateSince('deactivated', each.deactivated_at) ?? 'active',
  }));
}

function stateSince(state: string, instant: string | null): string | undefined {
  return instant === null ? undefined : `${state} ${todayInOhio(new Date(instant))}`;
}
