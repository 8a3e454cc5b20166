import { stat } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { webhookSettings } from '../../scripts/webhook-settings.ts';
import { readConfig } from '../../src/config.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();

test('npm start makes a secret key once, which only its user can read, and allows receivers on this machine', async () => {
  const config = readConfig({ STATE_DIR: folder.path('state') });
  const settings = await webhookSettings(config, {});
  expect(readConfig({ ...settings })).toMatchObject({
    WEBHOOK_SECRET_KEY: expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/),
    WEBHOOK_ALLOWED_RANGES: ['127.0.0.0/8'],
  });
  expect((await stat(folder.path('state', 'webhook-secret-key'))).mode & 0o777).toBe(0o600);
  expect(await webhookSettings(config, {})).toEqual(settings);
  const other = readConfig({ STATE_DIR: folder.path('other') });
  expect((await webhookSettings(other, {})).WEBHOOK_SECRET_KEY).not.toBe(settings.WEBHOOK_SECRET_KEY);
});

test('npm start leaves what the environment sets', async () => {
  const set = {
    WEBHOOK_SECRET_KEY: 'a secret key of the tests, of 32 characters',
    WEBHOOK_ALLOWED_RANGES: '',
  };
  const config = readConfig({ STATE_DIR: folder.path('unused'), ...set });
  expect(await webhookSettings(config, set)).toEqual(set);
  await expect(stat(folder.path('unused'))).rejects.toThrow('ENOENT');
});
