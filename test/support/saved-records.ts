import type { NewRecord } from '../../src/records/saved-records.ts';
import { nurseRecord } from './records.ts';

/** Limits that are high enough for tests, without signing. */
export const RECORD_LIMITS = { perDay: 1000, bytes: 1_000_000_000, sign: async () => undefined };

/** A shown result for an invented nurse, with these fields replaced. */
export function shownNurse(fields: Partial<NewRecord<'license'>> = {}): NewRecord<'license'> {
  return {
    kind: 'license',
    publication: 'p-1',
    date: '2026-11-20',
    sample: false,
    today: '2026-11-21',
    record: nurseRecord(),
    since: '2026-11-01',
    changes: [
      {
        date: '2026-11-12',
        kind: 'changed',
        cause: 'data',
        fields: {
          status: { before: 'INACTIVE', after: 'ACTIVE' },
          county: { before: null, after: 'FRANKLIN' },
          city: { before: null, after: null, erased: true },
        },
      },
      {
        date: '2026-11-11',
        kind: 'changed',
        cause: 'data',
        withdrawn: true,
        fields: { raw_status: { before: 'Inactive', after: 'Inactive - Suspended' } },
      },
    ],
    ...fields,
  };
}

/** A shown list with this many rows. Each row matches three licenses. */
export function shownList(rows: number): NewRecord<'list'> {
  const { board, license_number, full_name, license_type, status, raw_status, expiry_date } = nurseRecord();
  const license = { board, license_number, full_name, license_type, status, raw_status, expiry_date };
  const extra_data = { 'Board Action': 'Yes' };
  return {
    kind: 'list',
    publication: 'p-1',
    date: '2026-11-20',
    sample: false,
    today: '2026-11-21',
    board: 'NUR',
    rows: Array.from({ length: rows }, (_, at) => ({
      row: at + 1,
      fields: { reference: `E-${at}`, name: 'Muñoz, José', license_number: license_number },
      need: 'attention',
      licenses: Array.from({ length: 3 }, () => ({ ...license, extra_data })),
      note: '3 licenses fit. Add the number, or more of the name.',
      near: [],
    })),
  };
}
