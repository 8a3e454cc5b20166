import { BOARDS, type Board } from '../licenses/boards.ts';
import { boardKey } from '../licenses/license-document.ts';

/** The permanent address of a license. */
export function licenseAddress(license: { readonly board: string; readonly license_number: string }): string {
  return `/licenses/${encodeURIComponent(boardKey(license.board))}/${encodeURIComponent(license.license_number)}`;
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
