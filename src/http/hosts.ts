import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { BadRequestError } from '../licenses/bad-request.ts';
import type { Middleware } from './context.ts';

/**
 * Refuses a request that names no host, several, or another one in its address: a proxy in front might have gone by the
 * other (RFC 9112, 3.2).
 *
 * @throws {BadRequestError}
 */
export function requireOneHost({ rawHeaders, headers, url = '' }: IncomingMessage): void {
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host');
  if (hosts.length !== 1) throw new BadRequestError('A request has exactly one Host header.');
  const [scheme] = /^https?:\/\//i.exec(url) ?? [];
  if (scheme === undefined) return;
  const asked = URL.parse(url)?.host;
  if (asked === undefined || asked !== URL.parse(`${scheme}${headers.host}`)?.host) {
    throw new BadRequestError('The address and the Host header of a request name the same host.');
  }
}

/**
 * Lets only requests pass that name this machine as an operator does: by an IP address, by a name without a dot, or by
 * one of these names. A page that a browser has loaded from elsewhere can make its own name lead here (DNS rebinding);
 * a public name always has a dot.
 */
export function operatorHosts(names: readonly string[]): Middleware {
  const allowed = new Set(names.map((name) => name.toLowerCase()));
  return async (ctx, next) => {
    const { hostname = '' } = URL.parse(`http://${ctx.req.headers.host}`) ?? {};
    const isAddress = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
    if (hostname !== '' && (isAddress || !hostname.includes('.') || allowed.has(hostname))) return next();
    ctx.status = 403;
    ctx.body = { detail: 'This port takes no requests for that host; ADMIN_ALLOWED_HOSTS can name it.' };
  };
}
