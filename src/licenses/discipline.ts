import { EXTRA_DATA_LABELS } from './extra-data-labels.ts';
import type { LicenseRecord } from './license-record.ts';
import { memoize } from './memoize.ts';
import { isDisciplinary } from './status.ts';

/** What a license says of its board's discipline. */
export interface Discipline {
  /** Whether its Board Action is Yes. */
  readonly hasBoardAction: boolean;
  /** Its sub-status in upper case where it is a disciplinary one, otherwise empty. */
  readonly subStatus: string;
}

/** The discipline of a license; `undefined` without any. */
export function disciplineOf(
  record: Pick<LicenseRecord, 'raw_status' | 'extra_data'>,
): Discipline | undefined {
  const hasBoardAction = boardAction(record).toUpperCase() === 'YES';
  const subStatus = disciplinarySubStatus(record.raw_status ?? '');
  return hasBoardAction || subStatus !== '' ? { hasBoardAction, subStatus } : undefined;
}

const disciplinarySubStatus = memoize((raw) => {
  const last = raw.split(' - ').at(-1)?.toUpperCase() ?? '';
  return isDisciplinary(last) ? last : '';
});

/** The Board Action as the State writes it; empty when it is blank. */
export function boardAction({ extra_data: extra }: Pick<LicenseRecord, 'extra_data'>): string {
  return extra[EXTRA_DATA_LABELS.boardAction] ?? '';
}

const KNOWN_BOARD_ACTIONS: ReadonlySet<string> = new Set(['', 'YES', 'NO']);

/** Whether a Board Action is blank, Yes or No, in any case. */
export function isKnownBoardAction(text: string): boolean {
  return KNOWN_BOARD_ACTIONS.has(text.toUpperCase());
}
