import { z } from 'zod';
import statusesJson from '../../data/statuses.json' with { type: 'json' };

const labels = z.array(z.string().min(1)).min(1);
const STATUSES = z.strictObject({ primary: labels, sub: labels, disciplinary: labels }).parse(statusesJson);

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

/** Whether a sub-status says that the board has disciplined the holder, as the specification groups them (2.5). */
export function isDisciplinary(sub: string): boolean {
  return DISCIPLINARY.has(sub.toUpperCase());
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
