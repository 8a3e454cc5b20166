import type { SavedRecord } from '../../src/records/saved-records.ts';
import { nurseRecord } from './records.ts';

/** What was shown of an invented nurse, with the fields given in place of hers. */
export function shownNurse(fields: Partial<SavedRecord> = {}): Omit<SavedRecord, 'saved_at'> {
  return {
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
