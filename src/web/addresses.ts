import { generate } from 'lean-qr';
import { toSvgPath } from 'lean-qr/extras/svg';
import type { Config } from '../config.ts';
import { type Context, clientProtocol } from '../http/app.ts';
import { BOARDS, type Board, boardByLabel } from '../licenses/boards.ts';
import { licensePath } from '../licenses/license.ts';
import { type Html, html, NOTHING } from './page.ts';

/**
 * A license's number as a link; as text alone for a board that the catalog does not have, which has no address.
 *
 * @param attributes of the link, such as where it opens
 */
export function licenseLink(
  license: { readonly board: string; readonly license_number: string },
  attributes: Html | string = '',
): Html {
  return boardByLabel(license.board) === undefined
    ? html`${license.license_number}`
    : html`<a href="${licensePath(license)}"${attributes}>${license.license_number}</a>`;
}

/** The address of a search: its fields as query parameters; those without a value are left out. */
export function searchAddress(fields: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) query.set(name, value);
  return `/?${query}`;
}

/** The address of a saved record. */
export function recordAddress(code: string): string {
  return `/records/${code}`;
}

const byCode = new Map(BOARDS.map((board) => [board.code, board]));

/** The board of a code, in whatever case. */
export function boardByCode(code: string): Board | undefined {
  return byCode.get(code.toUpperCase());
}

/** Where visitors find this website, as it is set or as this one has found it. */
export function publicOrigin(ctx: Context, { PUBLIC_URL: url }: Pick<Config, 'PUBLIC_URL'>): string {
  return url ?? `${clientProtocol(ctx) ?? ctx.protocol}://${ctx.host}`;
}

/** Longer than any address of a page on a host with a name. */
const MAX_QR_CHARACTERS = 700;

/** So many blank modules around the code let a phone find it (ISO/IEC 18004). */
const QUIET_ZONE = 4;

/** An address to be read by a phone, from paper too: black on white whatever the colors of the page. */
export function qrCode(address: string): Html {
  if (address.length > MAX_QR_CHARACTERS) return NOTHING;
  const code = generate(address);
  const [edge, width] = [-QUIET_ZONE, code.size + 2 * QUIET_ZONE];
  return html`<svg xmlns="http://www.w3.org/2000/svg" class="qr-code" viewBox="${edge} ${edge} ${width} ${width}" role="img" aria-label="QR code of this page’s address"><path fill="#fff" d="M${edge} ${edge}h${width}v${width}h-${width}z"/><path d="${toSvgPath(code)}"/></svg>`;
}
