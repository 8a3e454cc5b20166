import type { NewLedgerEvent } from '../../src/publications/ledger.ts';

/** Why a publication is refused. `docs/operations.md` says of each what the operator does about it. */
export const REFUSAL_REASONS = [
  'no_date',
  'no_rows',
  'columns',
  'changed',
  'truncated',
  'boards',
  'dates_differ',
  'older',
  'future',
  'rolled_back',
  'fewer_rows',
  'fewer_rows_at_board',
  'rejected',
  'duplicates',
  'unknown_labels',
  'unknown_board_actions',
  'fewer_board_actions',
  'fewer_disciplined',
  'discipline_columns',
  'many_changes',
  'memory',
  'fenced',
] as const;

type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** A reason as the ledger and the operator get it: its name, a colon, and a sentence. */
export function refusal(reason: RefusalReason, sentence: string): string {
  return `${reason}: ${sentence}`;
}

/** The reason where it holds, otherwise none. */
export function refusalIf(holds: boolean, reason: RefusalReason, sentence: string): string[] {
  return holds ? [refusal(reason, sentence)] : [];
}

/** The files must not be published. Another attempt with the same files would end the same way. */
export class RefusedError extends Error {
  readonly reasons: readonly string[];
  /** What the ledger records of the files beside the reasons. */
  readonly details: Partial<NewLedgerEvent>;

  /** @param reasons each made by `refusal` */
  constructor(reasons: readonly string[], details: Partial<NewLedgerEvent> = {}) {
    super(reasons.join(' '));
    this.reasons = reasons;
    this.details = details;
  }
}
