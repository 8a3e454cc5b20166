import type { Context } from './context.ts';

/**
 * Whether the client's request came by https, as the nearest trusted proxy says. A proxy appends to
 * X-Forwarded-Proto or replaces it, so the last entry is its own; a client can write all others.
 *
 * `ctx.ip` follows the same rule through Koa's `maxIpsCount`; `ctx.protocol` does not: it takes the first entry.
 */
export function isHttps({ app, req }: Context): boolean {
  if (!app.proxy) return false;
  const entries = [req.headers['x-forwarded-proto'] ?? ''].flat().join(',');
  return entries.slice(entries.lastIndexOf(',') + 1).trim() === 'https';
}
