import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Config } from '../src/config.ts';

/**
 * The settings with which webhooks can be tried at once: a secret key, which is made once and kept under STATE_DIR, and
 * receivers on this machine. What the environment sets stays so.
 */
export async function webhookSettings(
  { STATE_DIR, WEBHOOK_SECRET_KEY: given }: Pick<Config, 'STATE_DIR' | 'WEBHOOK_SECRET_KEY'>,
  { WEBHOOK_ALLOWED_RANGES = '127.0.0.0/8' }: NodeJS.ProcessEnv,
): Promise<Readonly<Record<'WEBHOOK_SECRET_KEY' | 'WEBHOOK_ALLOWED_RANGES', string>>> {
  return { WEBHOOK_SECRET_KEY: given ?? (await keptKey(resolve(STATE_DIR))), WEBHOOK_ALLOWED_RANGES };
}

async function keptKey(folder: string): Promise<string> {
  const file = join(folder, 'webhook-secret-key');
  await mkdir(folder, { recursive: true });
  const made = randomBytes(32).toString('base64');
  // One that is there already stays.
  await writeFile(file, made, { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  return readFile(file, 'utf8');
}
