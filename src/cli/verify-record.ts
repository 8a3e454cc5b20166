import { readFile } from 'node:fs/promises';
import { base64url, type CompactVerifyGetKey, compactVerify, createLocalJWKSet, errors } from 'jose';
import { z } from 'zod';
import { localServiceUrl } from '../config.ts';
import { isLocalHttp } from '../dataset/source-url.ts';
import { parsedAs } from '../storage/parsed-as.ts';
import type { Actions } from './options.ts';
import { openService } from './service.ts';

/** Verifies signed records. Needs only the file and the keys. */
export const ACTIONS: Actions = {
  'verify-record': async ([path = ''], { keys: from = localServiceUrl() }) => {
    const keys = createLocalJWKSet(await keySetOf(from));
    const lines = (await readFile(path, 'utf8')).split(/\r?\n/).filter(Boolean);
    if (lines.length === 0) throw new Error(`${path} is empty.`);
    const results = await Promise.all(lines.map((line) => result(line, keys)));
    return { words: results, code: results.every((each) => each.startsWith(VALID)) ? 0 : 2 };
  },
};

const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

/** @throws {Error} for a file without keys, and for an address that is neither https nor on this machine */
async function keySetOf(from: string): Promise<z.output<typeof keySet>> {
  if (!/^https?:/.test(from)) {
    const keys = parsedAs(keySet, await readFile(from, 'utf8'));
    if (keys === undefined)
      throw new Error(`${JSON.stringify(from)} has no public keys, as a jwks.json has.`);
    return keys;
  }
  const url = URL.parse(from);
  if (url?.protocol === 'http:' && !isLocalHttp(url))
    throw new Error('--keys must be an https address: by http, anybody on the way can send other keys.');
  return openService({ url: from }).json(keySet, url?.pathname === '/' ? '/.well-known/jwks.json' : '');
}

const VALID = 'VALID';
const CHANGED = 'CHANGED: the signature is not of this content. Do not rely on it.';
const UNKNOWN = 'UNKNOWN KEY: none of these keys signed it, or it was changed. Do not rely on it.';

async function result(line: string, keys: CompactVerifyGetKey): Promise<string> {
  try {
    const { payload, protectedHeader } = await compactVerify(line, keys, { algorithms: ['EdDSA'] });
    // Decoders ignore the last bits of a signature, so it is compared with its only correct form.
    const signature = line.slice(line.lastIndexOf('.') + 1);
    if (base64url.encode(base64url.decode(signature)) !== signature) return CHANGED;
    const facts = statement.parse(JSON.parse(Buffer.from(payload).toString()));
    return `${VALID}: signed with the key ${protectedHeader.kid}. ${inWords(facts)}`;
  } catch (error) {
    return error instanceof errors.JWKSNoMatchingKey ? UNKNOWN : CHANGED;
  }
}

const statement = z.object({
  ...{ type: z.string(), by: z.string(), date: z.string(), sample: z.boolean(), at: z.iso.datetime() },
  ...{ answer: z.object({ license_number: z.string() }).optional(), license_number: z.string().optional() },
});

const MAX_CLOCK_ERROR_MS = 5 * 60_000;
const WRONG_CLOCK = ' WRONG CLOCK: this time has not come yet, or is before the data.';

function inWords({ type, by, date, sample, at, answer, ...of }: z.output<typeof statement>): string {
  const number = answer?.license_number ?? of.license_number ?? 'many';
  const facts = `${type} of ${number} at ${at} by ${by}, from the State's data of ${date}.`;
  const isWrong = Date.parse(at) > Date.now() + MAX_CLOCK_ERROR_MS || at.slice(0, 10) < date;
  return facts + (sample ? ' SAMPLE DATA: of no real license.' : '') + (isWrong ? WRONG_CLOCK : '');
}
