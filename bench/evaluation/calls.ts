import type { Call } from './replay.ts';

export const NURSING = 'Nursing Board';
export const MEDICAL = 'Medical Board';
export const PHARMACY = 'Board of Pharmacy';

type CallArguments = Call['arguments'];
type More = Partial<Call>;

export function call(tool: string, parameters: CallArguments, facts: object, more: More = {}): Call {
  return { tool, arguments: parameters, facts, ...more };
}

export function byNumber(
  license_number: string,
  facts: object,
  more: More & { with?: CallArguments } = {},
): Call {
  const { with: others, ...rest } = more;
  return call('verify_license', { license_number, ...others }, facts, rest);
}

export function byName(
  board: string,
  last_name: string,
  facts: object,
  more: More & { with?: CallArguments } = {},
) {
  const { with: others, ...rest } = more;
  return call('search_licenses_by_name', { board, last_name, ...others }, facts, rest);
}

export function ofBusiness(
  business_name: string,
  facts: object,
  more: More & { with?: CallArguments } = {},
): Call {
  const { with: others, ...rest } = more;
  return call('verify_business_license', { business_name, ...others }, facts, rest);
}

export function ofRoster(
  items: readonly object[],
  summary: object,
  results: readonly object[],
  more: More,
): Call {
  return call('verify_roster', { items }, { count: items.length, summary, results }, more);
}

export function historyOf(
  license_number: string,
  facts: object,
  more: More & { with?: CallArguments } = {},
): Call {
  const { with: others, ...rest } = more;
  return call('license_history', { license_number, ...others }, facts, rest);
}

/** What the dataset of November 20 says differently of a license. */
export function changedTo(fields: object): object {
  return { changes: [{ date: '2026-11-20', kind: 'changed', cause: 'data', fields }] };
}

export function boards(more: More): Call {
  return call('list_ohio_boards', {}, {}, more);
}

/** A result with one license that has these fields. */
export function one(license: object): object {
  return { outcome: 'found', count: 1, truncated: false, licenses: [license] };
}

/** A result with exactly these licenses. */
export function several(...licenses: object[]): object {
  return { outcome: 'found', count: licenses.length, truncated: false, licenses };
}

export const NOBODY = { outcome: 'not_found', count: 0, licenses: [] };
export const UNCLEAR = { outcome: 'ambiguous', count: 0, licenses: [] };
export const NOT_UNLICENSED = /does not mean that nobody is licensed/;
export const ASK_THE_BOARD = /the issuing board is the authority/;
