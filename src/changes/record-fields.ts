import { type LicenseRecord, licenseRecord } from '../licenses/license-record.ts';

/** The fields of a record by name; an attribute of its extra data is named `extra_data.ZIP`. */
export type RecordFields = Readonly<Record<string, string | null>>;

const EXTRA_DATA = 'extra_data.';

/** The fields of a record, but its extra data. */
const RECORD_FIELDS = licenseRecord.omit({ extra_data: true }).keyof().options;

const PLACE_FIELDS: ReadonlySet<string> = new Set([
  'city',
  'state',
  'county',
  ...['ZIP', 'County', 'Country', 'Street Address'].map((name) => EXTRA_DATA + name),
]);

/** Whether a field says where the holder is, as the dataset's `PARCEL_` columns do. */
export function isPlaceField(name: string): boolean {
  return PLACE_FIELDS.has(name) || name.startsWith(`${EXTRA_DATA}Parcel `);
}

/** Every field of a record, attributes of the extra data in the order of their names. */
export function fieldsOf(record: LicenseRecord): RecordFields {
  const { extra_data: extra } = record;
  return Object.fromEntries([
    ...RECORD_FIELDS.map((name) => [name, record[name]] as const),
    ...Object.keys(extra)
      .toSorted()
      .map((name) => [EXTRA_DATA + name, extra[name] ?? null] as const),
  ]);
}

/** A field that differs between two records; null where a record does not have it. */
export interface FieldChange {
  readonly before: string | null;
  readonly after: string | null;
}

/**
 * The fields that differ, by name.
 *
 * @param before `undefined` for a license that was added
 * @param after `undefined` for a license that was removed
 */
export function changedFields(
  before: LicenseRecord | undefined,
  after: LicenseRecord | undefined,
): Record<string, FieldChange> {
  const [old, now] = [before, after].map((record) => (record === undefined ? {} : fieldsOf(record)));
  const changed: Record<string, FieldChange> = {};
  for (const name of new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})])) {
    const change = { before: old?.[name] ?? null, after: now?.[name] ?? null };
    if (change.before !== change.after) changed[name] = change;
  }
  return changed;
}
