import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Config } from '../src/config.ts';

type Given = Pick<Config, 'STATE_DIR' | 'WEBHOOK_SECRET_KEY' | 'SIGNING_SECRET_KEY'>;

/**
 * The settings with which webhooks and signed records can be tried at once: secret keys, which are made once and kept
 * under STATE_DIR, and receivers on this machine. What the environment sets stays so.
 */
export async function secretSettings(
  { STATE_DIR, WEBHOOK_SECRET_KEY, SIGNING_SECRET_KEY }: Given,
  { WEBHOOK_ALLOWED_RANGES = '127.0.0.0/8' }: NodeJS.ProcessEnv,
) {
  const folder = resolve(STATE_DIR);
  return {
    WEBHOOK_SECRET_KEY: WEBHOOK_SECRET_KEY ?? (await keptKey(folder, 'webhook-secret-key')),
    SIGNING_SECRET_KEY: SIGNING_SECRET_KEY ?? (await keptKey(folder, 'signing-secret-key')),
    WEBHOOK_ALLOWED_RANGES,
  };
}

async function keptKey(folder: string, name: string): Promise<string> {
  const file = join(folder, name);
  await mkdir(folder, { recursive: true });
  const made = randomBytes(32).toString('base64');
  // One that is there already stays.
  await writeFile(file, made, { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  return readFile(file, 'utf8');
}
