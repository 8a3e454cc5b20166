import { boardByLabel } from '../licenses/boards.ts';
import { licensePath } from '../licenses/license.ts';
import { type Html, html } from './page.ts';

/**
 * A license's number as a link; as text alone for a board that the catalog does not have, which has no address.
 *
 * @param attributes of the link, such as where it opens
 */
export function licenseLink(
  license: { readonly board: string; readonly license_number: string },
  words: string = license.license_number,
  attributes: Html | string = '',
): Html {
  return boardByLabel(license.board) === undefined
    ? html`${words}`
    : html`<a href="${licensePath(license)}"${attributes}>${words}</a>`;
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
