import { posix } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context } from './app.ts';
import { get, type Route } from './guard.ts';

/** Smaller files fit into one packet even uncompressed. */
const COMPRESSED_FROM_BYTES = 1024;

/** The route of a file that does not change while the process runs. Compresses the file at the first request. */
export function staticFile(
  path: string,
  content: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Route {
  const plain = Buffer.from(content);
  let compressed: Promise<Buffer> | undefined;
  return get(path, async (ctx) => {
    ctx.state.isFile = true;
    ctx.set(headers);
    ctx.type = posix.extname(path) || 'html';
    ctx.body = plain;
    if (plain.length >= COMPRESSED_FROM_BYTES) await compressBody(ctx, () => (compressed ??= gzipped(plain)));
  });
}

const gzipped = promisify<Buffer, Buffer>(gzip);

/** Compresses the body if the client accepts gzip. */
export async function compressBody(ctx: Context, compress: () => Promise<Buffer>): Promise<void> {
  ctx.vary('Accept-Encoding');
  if (ctx.acceptsEncodings('gzip', 'identity') !== 'gzip') return;
  ctx.body = await compress();
  ctx.set('content-encoding', 'gzip');
}
