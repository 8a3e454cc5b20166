import refusals from '../../data/refusals.json' with { type: 'json' };
import { isPlaceColumn } from '../../src/changes/compare.ts';
import type { Check } from '../../src/publications/ledger.ts';

/** The reasons for a refusal. docs/generated/refusals.md lists them for operators. */
export type RefusalReason = keyof typeof refusals;

/** A guard's judgement: what it measured, and why it refuses. */
export interface Judgement extends Check {
  readonly check: RefusalReason;
  /** The reason for the refusal, if the guard refuses. */
  readonly sentence: string;
}

interface Details extends Partial<Omit<Check, 'check' | 'measured' | 'limit' | 'passed'>> {
  /** Whether the check passes regardless of the measured value. */
  readonly isTooFew?: boolean;
  /** Further values for the guard's sentence in `data/refusals.json`. */
  readonly says?: Readonly<Record<string, string | number | undefined>>;
  /** A sentence that replaces the one in `data/refusals.json`. */
  readonly sentence?: string;
}

/** A check passes if the measured value is not above the limit. */
export function judge(
  check: RefusalReason,
  measured: number,
  limit: number,
  { isTooFew = false, board = null, column = null, examples, says, sentence, ...counts }: Details = {},
): Judgement {
  const reason = refusals[check];
  const template = 'sentence' in reason ? reason.sentence : '';
  const known = new Map<string, unknown>(Object.entries({ board, column, limit, ...counts, ...says }));
  return {
    ...{ check, board, column, measured: Math.max(0, Math.round(100 * measured) / 100), limit },
    passed: isTooFew || measured <= limit,
    ...counts,
    ...(examples !== undefined && examples.length > 0 && { examples: examples.map(keptExample(column)) }),
    sentence: sentence ?? template.replace(/\{(\w+)\}/g, (_, name: string) => `${known.get(name)}`),
  };
}

/** Judges the share of counted licenses. @param least a smaller count passes regardless of the limit */
export function judgeShare(
  check: RefusalReason,
  { count, examples = [] }: { readonly count: number; readonly examples?: Check['examples'] },
  of: number,
  limit: number,
  { least = 0, says, ...details }: Details & { readonly least?: number } = {},
): Judgement {
  const counts = { before: of, now: of - count, examples, isTooFew: count < least };
  return judge(check, percent(count, of), limit, { ...counts, says: { count, ...says }, ...details });
}

export function percent(part: number, of: number): number {
  return of === 0 ? 0 : (100 * part) / of;
}

export function sum(counts: Iterable<number>): number {
  return [...counts].reduce((total, count) => total + count, 0);
}

export const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;

/** Removes names and places from an example, because the ledger is kept forever. */
function keptExample(column: string | null) {
  const isPrivate = column === null || column.endsWith('_NAME') || isPlaceColumn(column);
  return ({ license_number, ...values }: NonNullable<Check['examples']>[number]) =>
    isPrivate ? { license_number } : { license_number, ...values };
}
