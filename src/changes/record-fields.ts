import { type LicenseRecord, licenseRecord } from '../licenses/license-record.ts';

/** The fields of a record by name; an attribute of its extra data is named `extra_data.ZIP`. */
type RecordFields = ReadonlyMap<string, string | null>;

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

/** The places that a record does not have. The dataset may have others, too, in further `PARCEL_` columns. */
export function blankPlaces(record: LicenseRecord | undefined): string[] {
  const fields = record === undefined ? undefined : fieldsOf(record);
  return [...PLACE_FIELDS].filter((name) => (fields?.get(name) ?? null) === null);
}

/** Every field of a record, attributes of the extra data in the order of their names. */
export function fieldsOf(record: LicenseRecord): RecordFields {
  const extra = Object.entries(record.extra_data).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return new Map([
    ...RECORD_FIELDS.map((name) => [name, record[name]] as const),
    ...extra.map(([name, value]) => [EXTRA_DATA + name, value] as const),
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
  const old: RecordFields = before === undefined ? new Map() : fieldsOf(before);
  const now: RecordFields = after === undefined ? new Map() : fieldsOf(after);
  const changed = [...new Set([...old.keys(), ...now.keys()])].flatMap((name) => {
    const change = { before: old.get(name) ?? null, after: now.get(name) ?? null };
    return change.before === change.after ? [] : [[name, change] as const];
  });
  return Object.fromEntries(changed);
}
