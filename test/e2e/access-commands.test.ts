import { hostname, userInfo } from 'node:os';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { testEnvironment } from '../../scripts/environment.ts';
import { accountId } from '../../src/access/accounts.ts';
import { createKey } from '../../src/access/api-keys.ts';
import { ohioTime } from '../../src/licenses/dates.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { WEBHOOKS, type Webhook } from '../../src/subscriptions/webhook.ts';
import { command } from '../support/in-process.ts';

const issued = z.object({ id: z.string(), key: z.string() });
const details = z.record(z.string(), z.string());
const entry = z.strictObject({ at: z.iso.datetime(), by: z.string(), action: z.string(), details });

const environment = await testEnvironment();
await prepareIndices(environment.store);

const run = (...parameters: string[]) => command(environment.variables, ...parameters);

async function printed(...parameters: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...parameters);
  expect([parameters, code, stderr]).toEqual([parameters, 0, '']);
  return stdout;
}

// That keys and accounts do what these commands say, and how they are listed, test/integration/keys.test.ts proves.
test('licenses audit lists who did what, latest first, and never a key', async () => {
  const account = 'Acme Staffing';
  const created = await printed('keys', 'create', account, '--verified-by', 'Ada Operator', '--json');
  const { id, key } = issued.parse(JSON.parse(created));
  const second = issued.parse(JSON.parse(await printed('keys', 'rotate', id, '--json')));
  await printed('keys', 'revoke', id);
  await printed('accounts', 'deactivate', 'acme staffing');
  await printed('accounts', 'activate', 'acme staffing');

  const entries = z.array(entry).parse(JSON.parse(await printed('audit', '--json')));
  const verified = { account, verified_by: 'Ada Operator' };
  expect(entries.map(({ action, details }) => [action, details]).toReversed()).toEqual([
    ['keys create', { key: id, ...verified }],
    ['keys rotate', { key: second.id, ...verified, replaced: id }],
    ['keys revoke', { key: id, account }],
    ['accounts deactivate', { account }],
    ['accounts activate', { account }],
  ]);
  const by = `${process.env.SUDO_USER ?? userInfo().username}@${hostname()}`;
  expect(new Set(entries.map((entry) => entry.by))).toEqual(new Set([by]));
  const times = entries.map(({ at }) => at);
  expect(times).toEqual(times.toSorted().toReversed());
  const table = await printed('audit');
  expect(table).toMatch(/^AT +BY +ACTION +DETAILS\n.* accounts activate +account Acme Staffing\n/);
  expect(await printed('audit', '--limit', '1')).toMatch(/^AT .*\n.*accounts activate.*\n$/);
  for (const secret of [key, second.key]) expect(table).not.toContain(secret.slice(4, 24));
});

const SINCE = '2026-11-21T09:00:00.000Z';
const SECRET_PATH = 'https://hooks.example.com/services/T0/secret-path?token=x';

async function put(account: string, fields: Partial<Webhook>): Promise<void> {
  const id = accountId(account);
  await WEBHOOKS.put(environment.store, id, {
    ...{ id: `whk_${account}`, account: id, url: SECRET_PATH, generation: 1, rotated_at: null },
    ...{ delivered_cursor: 'cursor-1', delivered_at: null, failing_since: null, paused: null },
    ...{ created_at: '2026-11-20T09:00:00.000Z', ...fields },
  });
}

test('licenses webhooks list shows each receiver by account, its state, and never its path', async () => {
  const none = await run('webhooks', 'list', '--json');
  expect(none).toMatchObject({ code: 0, stdout: '[]\n' });

  for (const account of ['Acme', 'Best Staffing', 'Care\u001b[2J Home'])
    await createKey(environment.store, environment.config.API_KEY_PREFIX, { account, verifiedBy: 'Ada' });
  await put('Care\u001b[2J Home', { paused: 'gone', failing_since: SINCE });
  await put('Best Staffing', { failing_since: SINCE, url: 'http://10.1.2.3:8443/hook' });
  await put('Acme', { delivered_at: SINCE, delivered_cursor: 'cursor-2' });
  // An account that is no longer stored.
  await put('Lost', { paused: 'failing', failing_since: SINCE });
  const { client, names } = environment.store;
  await client.indices.refresh({ index: names.webhooks });

  const { code, stdout, stderr } = await run('webhooks', 'list');
  expect([code, stderr]).toEqual([0, '']);
  const [since = ''] = ohioTime(SINCE).split(' ');
  for (const line of [
    ['ACCOUNT', 'HOST', 'STATE', 'FAILING SINCE', 'DELIVERED AT', 'DELIVERED'],
    ['Acme', 'hooks.example.com', 'active', since, 'cursor-2'],
    ['Best Staffing', '10.1.2.3:8443', 'failing', since, 'cursor-1'],
    ['Care\\u001b[2J Home', 'hooks.example.com', 'gone', since, 'cursor-1'],
    [accountId('Lost').slice(0, 24), 'hooks.example.com', 'paused', since, 'cursor-1'],
  ])
    expect(stdout.split('\n').map((each) => each.split(/ {2,}/))).toContainEqual(line);
  const inJson = await run('webhooks', 'list', '--json');
  expect(JSON.parse(inJson.stdout)).toContainEqual({
    ...{ account: 'Best Staffing', host: '10.1.2.3:8443', state: 'failing', failing_since: SINCE },
    ...{ delivered_at: null, delivered_cursor: 'cursor-1' },
  });
  expect(stdout + inJson.stdout).not.toMatch(/secret-path|token|whsec/);
});
