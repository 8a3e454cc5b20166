import { z } from 'zod';
import statusesJson from '../../data/statuses.json' with { type: 'json' };
import { memoize } from './fold.ts';

/** The standing of a license: what its cautions depend on. */
export interface StandingFields {
  /** The primary status in upper case. */
  readonly status: string | null;
  readonly raw_status: string | null;
  /** `YYYY-MM-DD` */
  readonly expiry_date: string | null;
  /** `YYYY-MM-DD`; what is known of an endorsed license has none. */
  readonly issue_date?: string | null | undefined;
  readonly extra_data: Readonly<Record<string, string>>;
}

/** Keys of `extra_data` that the service itself reads or writes. */
export const EXTRA_DATA_LABELS = {
  boardAction: 'Board Action',
  street: 'Street Address',
  /** Of an endorsement: the number of the license that it endorses. */
  endorsedLicense: 'Endorsed License',
} as const;

/** Keys of an endorsement's `extra_data` that have the standing of the license that it endorses. */
export const ENDORSED_LICENSE_LABELS = {
  status: 'Endorsed License Status',
  subStatus: 'Endorsed License Sub Status',
  expirationDate: 'Endorsed License Expiration Date',
  boardAction: 'Endorsed License Board Action',
} as const;

const labels = z.array(z.string().min(1)).min(1);
const STATUSES = z.strictObject({ primary: labels, sub: labels, disciplinary: labels }).parse(statusesJson);

/** The primary statuses that licenses have, as the State writes them. */
export const PRIMARY_STATUSES: readonly string[] = STATUSES.primary;

const labelKeys = (names: readonly string[]) => new Set(['', ...names.map((name) => name.toUpperCase())]);
const PRIMARY = labelKeys(STATUSES.primary);
const SUB = labelKeys(STATUSES.sub);
const DISCIPLINARY = new Set(STATUSES.disciplinary.map((name) => name.toUpperCase()));

/** Whether a STATUS is blank or one of the primary statuses in `data/statuses.json`, in any case. */
export function isKnownStatus(primary: string): boolean {
  return PRIMARY.has(primary.toUpperCase());
}

/** Whether a SUB_STATUS is blank or one of those in `data/statuses.json`, in any case. */
export function isKnownSubStatus(sub: string): boolean {
  return SUB.has(sub.toUpperCase());
}

/** The two status fields of a record (STATUS-04). */
export interface RecordStatus {
  /** The primary status in upper case. */
  readonly status: string | null;
  /** `<Primary>` or `<Primary> - <Sub-status>`, as the board wrote them. */
  readonly raw_status: string | null;
}

/** Maps the STATUS and SUB_STATUS columns, either of which may be blank, to the record's fields. */
export function recordStatus(primary: string, sub: string): RecordStatus {
  return {
    status: primary === '' ? null : primary.toUpperCase(),
    raw_status: primary !== '' && sub !== '' ? `${primary} - ${sub}` : primary || sub || null,
  };
}

/** What a license says of its board's discipline. */
export interface Discipline {
  /** Whether its Board Action is Yes. */
  readonly hasBoardAction: boolean;
  /** In upper case where it is a disciplinary one, otherwise empty. */
  readonly subStatus: string;
}

/** The discipline of a license; `undefined` without any. */
export function disciplineOf(
  record: Pick<StandingFields, 'raw_status' | 'extra_data'>,
): Discipline | undefined {
  const acted = boardAction(record).toUpperCase() === 'YES';
  const subStatus = disciplinarySubStatus(record.raw_status ?? '');
  return acted || subStatus !== '' ? { hasBoardAction: acted, subStatus } : undefined;
}

/** A sub-status by which the board has disciplined the holder, as the specification groups them (2.5); else empty. */
const disciplinarySubStatus = memoize((raw) => {
  const last = raw.split(' - ').at(-1)?.toUpperCase() ?? '';
  return DISCIPLINARY.has(last) ? last : '';
});

/** The Board Action as the State writes it; empty when it is blank. */
export function boardAction({ extra_data: extra }: Pick<StandingFields, 'extra_data'>): string {
  return extra[EXTRA_DATA_LABELS.boardAction] ?? '';
}

const NO_ACTION: ReadonlySet<string> = new Set(['', 'NO']);

/** Whether the Board Action names an action: anything but blank and No. */
export function isBoardActionGiven(license: Pick<StandingFields, 'extra_data'>): boolean {
  const action = boardAction(license);
  // Nearly all are written so.
  return action !== 'No' && !NO_ACTION.has(action.trim().toUpperCase());
}

/** Whether the board has acted on the license, by its Board Action or by a disciplinary sub-status. */
export function hasBoardAction(license: Pick<StandingFields, 'raw_status' | 'extra_data'>): boolean {
  return isBoardActionGiven(license) || disciplinarySubStatus(license.raw_status ?? '') !== '';
}

const KNOWN_BOARD_ACTIONS: ReadonlySet<string> = new Set(['', 'YES', 'NO']);

/** Whether a Board Action is blank, Yes or No, in any case. */
export function isKnownBoardAction(text: string): boolean {
  return KNOWN_BOARD_ACTIONS.has(text.toUpperCase());
}
