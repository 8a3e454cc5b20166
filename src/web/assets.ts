import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Context } from '../http/context.ts';
import type { Route } from '../http/route.ts';

/** The design system's style sheet; ours comes after it. */
const DESIGN_SYSTEM = 'css/uswds.min.css';
const OWN_STYLES = new URL('./styles.css', import.meta.url);

/** What the style sheet refers to and we serve: fonts in their smallest form, and icons. */
const REFERENCE = /url\(\.\.\/((?:fonts|img)\/[\w./-]+\.(?:woff2|svg))\)/g;

const MEDIA_TYPES: ReadonlyMap<string, string> = new Map([
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
  ['.woff2', 'font/woff2'],
]);

/** The address has the hash of the content, so a year is not too long. */
const CACHED = 'public, max-age=31536000, immutable';

/** The highest level makes the style sheet a tenth smaller, but takes most of a second whenever the process starts. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

/** A file in each of its encodings. */
interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  /** Absent for fonts, which are compressed already. */
  readonly encoded?: Readonly<Record<'br' | 'gzip', Buffer>>;
}

/** The style sheet with its fonts and icons. */
export interface Assets {
  readonly styleSheet: string;
  readonly routes: readonly Route[];
}

/** Reads and compresses the files that pages refer to. Their address changes with their content. */
export async function webAssets(): Promise<Assets> {
  const designSystem = await readDesignSystem(DESIGN_SYSTEM);
  const styles = Buffer.concat([designSystem, await readFile(OWN_STYLES)]);
  const names = new Set([...styles.toString().matchAll(REFERENCE)].flatMap(([, name]) => name ?? []));
  const files = new Map<string, Buffer>([[DESIGN_SYSTEM, styles]]);
  for (const name of names) files.set(name, await readDesignSystem(name));

  const base = `/assets/${contentHash(files)}`;
  const routes = [...files].map(async ([name, content]) =>
    assetRoute(`${base}/${name}`, await asset(name, content)),
  );
  return { styleSheet: `${base}/${DESIGN_SYSTEM}`, routes: await Promise.all(routes) };
}

function readDesignSystem(name: string): Promise<Buffer> {
  return readFile(new URL(import.meta.resolve(`@uswds/uswds/${name}`)));
}

function contentHash(files: ReadonlyMap<string, Buffer>): string {
  const hash = createHash('sha256');
  for (const [name, content] of files) hash.update(name).update(content);
  return hash.digest('hex').slice(0, 16);
}

async function asset(name: string, plain: Buffer): Promise<Asset> {
  const extension = posix.extname(name);
  const type = MEDIA_TYPES.get(extension) ?? 'application/octet-stream';
  if (extension === '.woff2') return { type, plain };
  const [br, gz] = await Promise.all([promisify(brotliCompress)(plain, BROTLI), promisify(gzip)(plain)]);
  return { type, plain, encoded: { br, gzip: gz } };
}

function assetRoute(path: string, { type, plain, encoded }: Asset): Route {
  return {
    method: 'GET',
    path,
    handle: (ctx) => {
      ctx.set('cache-control', CACHED);
      ctx.type = type;
      if (encoded === undefined) {
        ctx.body = plain;
        return;
      }
      ctx.vary('Accept-Encoding');
      const encoding = acceptedEncoding(ctx);
      if (encoding !== undefined) ctx.set('content-encoding', encoding);
      ctx.body = encoding === undefined ? plain : encoded[encoding];
    },
  };
}

function acceptedEncoding(ctx: Context): 'br' | 'gzip' | undefined {
  const accepted = ctx.acceptsEncodings('br', 'gzip', 'identity');
  return accepted === 'br' || accepted === 'gzip' ? accepted : undefined;
}
