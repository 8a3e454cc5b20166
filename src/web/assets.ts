import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Route } from '../http/route.ts';
import { staticFile } from '../http/static-file.ts';

/** The design system's style sheet; ours comes after it. */
const DESIGN_SYSTEM = 'css/uswds.min.css';
const OWN_STYLES = new URL('./styles.css', import.meta.url);

/** What the style sheet refers to and we serve: fonts in their smallest form, and icons. */
const REFERENCE = /url\(\.\.\/((?:fonts|img)\/[\w./-]+\.(?:woff2|svg))\)/g;

/** The address has the hash of the content, so a year is not too long. */
const CACHED = 'public, max-age=31536000, immutable';

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
  const routes = [...files].map(([name, content]) =>
    staticFile(`${base}/${name}`, content, { 'cache-control': CACHED }),
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
