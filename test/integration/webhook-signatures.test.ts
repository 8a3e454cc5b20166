import { resolve } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { messageId, signedHeaders, testMessage, webhookSecret } from '../../src/subscriptions/message.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { installedRequirements, pythonIsMissing, runPythonFile } from '../support/python.ts';

const FOLDER = resolve(import.meta.dirname, '../python');
const KEY = 'a secret key of the tests, of 32 characters and more';

describeUnless(pythonIsMissing(), 'the package standardwebhooks of PyPI', () => {
  let installed: string;
  beforeAll(async () => {
    installed = await installedRequirements(resolve(FOLDER, 'requirements.txt'));
  }, 300_000);

  test('verifies a message with the secret and, for a day, the one before; no other message or secret', async () => {
    const now = new Date();
    const webhook = {
      id: 'wh_1',
      generation: 2,
      rotated_at: new Date(now.getTime() - 3_600_000).toISOString(),
    };
    const body = testMessage(now);
    const headers = signedHeaders(KEY, webhook, messageId(webhook, 'a-place'), body, now);
    const verified = async (generation: number, given = body): Promise<unknown> => {
      const secret = webhookSecret(KEY, { id: 'wh_1', generation });
      const asked = JSON.stringify({ secret, body: given, headers });
      const { stdout } = await runPythonFile(installed, [resolve(FOLDER, 'verify_webhook.py')], asked);
      return JSON.parse(stdout);
    };
    const message = { verified: true, message: JSON.parse(body) };
    const refused = { verified: false, error: 'No matching signature found' };
    expect(await verified(1)).toEqual(message);
    expect(await verified(2)).toEqual(message);
    expect(await verified(3)).toEqual(refused);
    expect(await verified(2, body.replace('webhook.test', 'webhook.best'))).toEqual(refused);
  });
});
