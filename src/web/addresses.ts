import { boardByLabel } from '../licenses/boards.ts';
import { licensePath } from '../licenses/license.ts';
import { type Html, html } from './page.ts';

/**
 * A link to the page of a license. A board that is not in the catalog has no pages: then the result is plain text.
 *
 * @param attributes further attributes of the link, such as `target`
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

/** The address of a search. Its fields become query parameters; fields without a value are left out. */
export function searchAddress(fields: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) query.set(name, value);
  return `/?${query}`;
}

export function recordAddress(code: string): string {
  return `/records/${code}`;
}
