import { z } from 'zod';
import type { Context } from '../http/app.ts';
import { ClientError } from '../http/errors.ts';
import { get, type Route } from '../http/guard.ts';
import { JOSE, type Signing } from '../signing/keys.ts';

/** The signed form of a JSON answer, for the OpenAPI document. */
const jws = z.string().describe('The same, signed: a compact JWS (Ed25519)');
export const signedForm = { [JOSE]: { schema: jws } };

/** Whether the client asks for a signed response. @throws {ClientError} 501 if the service has no signing key */
export function wantsSigned(ctx: Context, { isOn }: Signing): boolean {
  if (ctx.accepts(['application/json', JOSE]) !== JOSE) return false;
  if (isOn) return true;
  throw new ClientError(501, 'This service signs nothing: its operator must set SIGNING_SECRET_KEY.');
}

export const NOTHING_SIGNED = { 501: { when: `Accept is ${JOSE}, and the operator has set no key to sign` } };

/** GET /.well-known/jwks.json: the public keys for verifying signatures. This route needs no API key. */
export function signingKeysRoute(signing: Signing): Route {
  return get('/.well-known/jwks.json', async (ctx) => {
    ctx.body = await signing.keySet();
  });
}
