import { stat } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { secretSettings } from '../../scripts/secret-settings.ts';
import { readConfig } from '../../src/config.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const KEY = expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/);

test('npm start makes secret keys once, which only its user can read, and allows receivers on this machine', async () => {
  const config = readConfig({ STATE_DIR: folder.path('state') });
  const settings = await secretSettings(config, {});
  expect(readConfig({ ...settings })).toMatchObject({
    WEBHOOK_SECRET_KEY: KEY,
    SIGNING_SECRET_KEY: KEY,
    WEBHOOK_ALLOWED_RANGES: ['127.0.0.0/8'],
  });
  expect(settings.SIGNING_SECRET_KEY).not.toBe(settings.WEBHOOK_SECRET_KEY);
  for (const name of ['webhook-secret-key', 'signing-secret-key'])
    expect((await stat(folder.path('state', name))).mode & 0o777).toBe(0o600);
  expect(await secretSettings(config, {})).toEqual(settings);
  const other = await secretSettings(readConfig({ STATE_DIR: folder.path('other') }), {});
  expect(other.SIGNING_SECRET_KEY).not.toBe(settings.SIGNING_SECRET_KEY);
});

test('npm start leaves what the environment sets', async () => {
  const set = {
    WEBHOOK_SECRET_KEY: 'a secret key of the tests, of 32 characters',
    SIGNING_SECRET_KEY: 'another secret key of the tests, of 32 characters',
    WEBHOOK_ALLOWED_RANGES: '',
  };
  expect(await secretSettings(readConfig({ STATE_DIR: folder.path('unused'), ...set }), set)).toEqual(set);
  await expect(stat(folder.path('unused'))).rejects.toThrow('ENOENT');
});
