import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Config } from '../src/config.ts';

type Given = Pick<Config, 'STATE_DIR' | 'WEBHOOK_SECRET_KEY' | 'SIGNING_SECRET_KEY'>;

/**
 * Settings for trying webhooks and signed records at once: secret keys, made once and stored under STATE_DIR, and
 * receivers on this machine. Variables that are set in the environment keep their values.
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
  // An existing file is kept.
  await writeFile(file, made, { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  return readFile(file, 'utf8');
}
