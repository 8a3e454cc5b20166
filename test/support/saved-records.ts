import { type NewRecord, newRecordCode, SAVED_RECORDS } from '../../src/records/saved-records.ts';
import type { Store } from '../../src/storage/store.ts';
import { nurseRecord } from './records.ts';

/** Limits that are high enough for tests, without signing. */
export const RECORD_LIMITS = { perDay: 1000, bytes: 1_000_000_000, sign: async () => undefined };

/** A shown result for an invented nurse, with these fields replaced. */
export const shownNurse = (fields: Partial<NewRecord<'license'>> = {}): NewRecord<'license'> => ({
  kind: 'license',
  ...{ publication: 'p-1', date: '2026-11-20', sample: false, today: '2026-11-21', record: nurseRecord() },
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
});

/** A shown list with this many rows. Each row matches three licenses. */
export function shownList(rows: number): NewRecord<'list'> {
  const { board, license_number, full_name, license_type, status, raw_status, expiry_date } = nurseRecord();
  const license = { board, license_number, full_name, license_type, status, raw_status, expiry_date };
  const extra_data = { 'Board Action': 'Yes' };
  return {
    ...{ kind: 'list', publication: 'p-1', date: '2026-11-20', sample: false, today: '2026-11-21' },
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

/** Stores this many records that were saved at this time. */
export async function addRecords(store: Store, count: number, saved_at: string): Promise<void> {
  const records = Array.from({ length: count }, () => ({ ...shownNurse(), saved_at }));
  await SAVED_RECORDS.putAll(
    store,
    records.map((record) => [newRecordCode(), record] as const),
  );
  await store.client.indices.refresh({ index: store.names.savedRecords });
}

/** Deletes all saved records. */
export function deleteRecords({ client, names }: Store) {
  const everything = { query: { match_all: {} } };
  return client.deleteByQuery({ index: names.savedRecords, refresh: true, body: everything });
}

/** The fields of the form with which a page saves what it shows. */
export function recordForm(page: string): URLSearchParams {
  const form = /<form[^>]* action="\/records".*?<\/form>/s.exec(page)?.[0] ?? '';
  const fields = form.matchAll(/name="(\w+)" value="([^"]*)"/g);
  return new URLSearchParams([...fields].map(([, name = '', value = '']): [string, string] => [name, value]));
}
