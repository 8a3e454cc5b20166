import { Command } from 'commander';
import { rotateSigningKey } from '../signing/keys.ts';
import { recordAudit } from '../storage/audit-log.ts';
import { type JsonOption, jsonCommand, report } from './store-command.ts';

/** `licenses signing-keys rotate`: another key signs records from now on. */
export function signingKeysCommand(): Command {
  const signingKeys = new Command('signing-keys').description('the keys that sign saved records and proofs');
  jsonCommand(signingKeys, 'rotate', 'sign with a new key from now on').action((options: JsonOption) =>
    report(
      options,
      async (store, { SIGNING_SECRET_KEY: secret }) => {
        const rotated = await rotateSigningKey(store, secret);
        await recordAudit(store, 'signing-keys rotate', rotated);
        return rotated;
      },
      ({ before, now }) => `The key ${now} signs now. ${before} stays among the public keys.`,
    ),
  );
  return signingKeys;
}
