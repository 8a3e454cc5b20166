import { posix } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Context } from './context.ts';
import type { Route } from './route.ts';

const MEDIA_TYPES: ReadonlyMap<string, string> = new Map([
  ['.css', 'text/css; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.json', 'application/json; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
  ['.woff2', 'font/woff2'],
]);

/** The highest level makes a style sheet a tenth smaller, but takes most of a second whenever the process starts. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

/** Smaller files fit into one packet, compressed or not. */
const COMPRESSED_FROM_BYTES = 1024;

/**
 * The route of a file that never changes while the process runs, compressed once and sent in the encoding that the
 * client takes. Fonts are compressed already.
 */
export async function staticFile(
  path: string,
  content: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<Route> {
  const plain = Buffer.from(content);
  const extension = posix.extname(path);
  const isCompressed = extension === '.woff2' || plain.length < COMPRESSED_FROM_BYTES;
  const encoded = isCompressed ? undefined : await compressions(plain);
  const type = MEDIA_TYPES.get(extension) ?? 'text/html; charset=utf-8';
  return {
    method: 'GET',
    path,
    handle: (ctx) => {
      ctx.state.isFile = true;
      ctx.set(headers);
      ctx.type = type;
      ctx.body = plain;
      if (encoded === undefined) return;
      ctx.vary('Accept-Encoding');
      const encoding = acceptedEncoding(ctx);
      if (encoding === undefined) return;
      ctx.set('content-encoding', encoding);
      ctx.body = encoded[encoding];
    },
  };
}

async function compressions(plain: Buffer): Promise<Readonly<Record<'br' | 'gzip', Buffer>>> {
  const [br, gz] = await Promise.all([promisify(brotliCompress)(plain, BROTLI), promisify(gzip)(plain)]);
  return { br, gzip: gz };
}

function acceptedEncoding(ctx: Context): 'br' | 'gzip' | undefined {
  const accepted = ctx.acceptsEncodings('br', 'gzip', 'identity');
  return accepted === 'br' || accepted === 'gzip' ? accepted : undefined;
}
