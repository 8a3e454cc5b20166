import { isPlaceColumn } from '../../src/changes/compare.ts';
import type { Check } from '../../src/publications/ledger.ts';

/** docs/generated/refusals.md shows them to the operator. */
export type RefusalReason = keyof typeof import('../../data/refusals.json');

/** What a guard says: what it measured, and why that refuses. */
export interface Judgement extends Check {
  readonly check: RefusalReason;
  /** The reason where it refuses. */
  readonly sentence: string;
}

interface Details extends Partial<Omit<Check, 'check' | 'measured' | 'limit' | 'passed'>> {
  readonly sentence: string;
  /** Whether it passes whatever was measured. */
  readonly isTooFew?: boolean;
}

/** It passes unless more was measured than the limit. */
export function judge(
  check: RefusalReason,
  measured: number,
  limit: number,
  { isTooFew = false, board = null, column = null, examples, ...others }: Details,
): Judgement {
  return {
    ...{ check, board, column, measured: Math.round(100 * measured) / 100, limit },
    passed: isTooFew || measured <= limit,
    ...others,
    ...(examples !== undefined && examples.length > 0 && { examples: examples.map(keptExample(column)) }),
  };
}

/** The ledger is kept for ever, so names and places are left out. */
function keptExample(column: string | null) {
  const isPrivate = column === null || column.endsWith('_NAME') || isPlaceColumn(column);
  return ({ license_number, ...values }: NonNullable<Check['examples']>[number]) =>
    isPrivate ? { license_number } : { license_number, ...values };
}
