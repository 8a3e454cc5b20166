import { z } from 'zod';
import { type LicenseRecord, licenseRecord } from '../licenses/license.ts';

export const CHANGE_KINDS = ['added', 'changed', 'removed'] as const;

/** Why a license differs between two publications. Reading a new column for the first time also counts as `release`. */
export const CHANGE_CAUSES = ['data', 'rollback', 'rejected_row', 'release'] as const;

export type ChangeKind = (typeof CHANGE_KINDS)[number];
export type ChangeCause = (typeof CHANGE_CAUSES)[number];

/** The values of a field before and after the change; null if the record has no value. */
export const fieldChange = z.object({
  before: z.string().nullable(),
  after: z.string().nullable(),
  /** True if the values were erased because the State no longer publishes the holder's address. */
  erased: z.literal(true).optional(),
});

export type FieldChange = Readonly<z.output<typeof fieldChange>>;

/** A stored change of one license. */
export const storedChange = z.object({
  /** The id of the feed that has this change. */
  feed: z.string(),
  /** The epoch of the publication or rollback that made this change. */
  epoch: z.int(),
  /** The position of this change in the feed. */
  position: z.int(),
  at: z.string().describe('When it was found, ISO 8601'),
  publication: z.string().describe('The publication that went live with it'),
  date: z.string().describe('The run date of that publication, YYYY-MM-DD'),
  kind: z.enum(CHANGE_KINDS),
  cause: z
    .enum(CHANGE_CAUSES)
    .describe(
      'data: the dataset says something else. rollback: an operator made another publication live. rejected_row: ' +
        'the row could not be read, or can be read again. release: the row is the same, and this version of the ' +
        'service reads it differently.',
    ),
  /** The license's document id. */
  license: z.string(),
  board: z.string(),
  license_number: z.string(),
  /** The folded license number, which searches compare. */
  number: z.string(),
  full_name: z.string(),
  last_in_dataset: z
    .string()
    .optional()
    .describe('Of a removed license: the run date of the publication that it was compared with'),
  fields: z
    .record(z.string(), fieldChange)
    .describe(
      'The fields that differ, before and after; attributes of extra_data as extra_data.NAME. erased: the values of ' +
        'a place that the State no longer publishes are not kept.',
    ),
  renumbered_to: z
    .string()
    .optional()
    .describe(
      'Of a removed license: the State writes its number in another way now, and it was added as this one',
    ),
  renumbered_from: z.string().optional().describe('Of an added license: the number that it was removed as'),
  /**
   * The fields whose earlier values must be erased. For an added license, every place field that the license lacks must
   * be erased as well.
   */
  erases: z.array(z.string()).optional(),
});

export type StoredChange = Readonly<z.output<typeof storedChange>>;

/** The fields that are set when the State writes a license's number in another way. */
export const RENUMBERED = { renumbered_to: true, renumbered_from: true } as const;

/** A change in the history of a license. */
export const historyChange = storedChange.extend({
  withdrawn: z
    .literal(true)
    .optional()
    .describe(
      'A rollback by this service undid the change. Ignore it. If the same change happens again later, it appears ' +
        'without the mark',
    ),
});

export type HistoryChange = Readonly<z.output<typeof historyChange>>;

/** The field name that a change uses for an attribute of the extra data. */
export function extraField(label: string): string {
  return `extra_data.${label}`;
}

const PLACE_FIELDS: ReadonlySet<string> = new Set([
  'city',
  'state',
  'county',
  ...['ZIP', 'County', 'Country', 'Street Address'].map(extraField),
]);

/** Whether a field is part of the holder's address, like the dataset's `PARCEL_` columns. */
export function isPlaceField(name: string): boolean {
  return PLACE_FIELDS.has(name) || name.startsWith(extraField('Parcel '));
}

/** All fields of a record except its extra data. */
const RECORD_FIELDS = licenseRecord.omit({ extra_data: true }).keyof().options;

/**
 * Returns the fields that differ, by name.
 *
 * @param before `undefined` for an added license; `after` is `undefined` for a removed one
 */
export function changedFields(before: LicenseRecord | undefined, after: LicenseRecord | undefined) {
  const fields = new Map<string, { readonly before: string | null; readonly after: string | null }>();
  const compare = (name: string, before: string | null = null, after: string | null = null) => {
    if (before !== after) fields.set(name, { before, after });
  };
  for (const name of RECORD_FIELDS) compare(name, before?.[name], after?.[name]);
  const old = new Map(Object.entries(before?.extra_data ?? {}));
  const now = new Map(Object.entries(after?.extra_data ?? {}));
  const labels = [...now.keys(), ...[...old.keys()].filter((label) => !now.has(label))];
  for (const label of labels.filter((label) => old.get(label) !== now.get(label)).sort())
    compare(extraField(label), old.get(label), now.get(label));
  return Object.fromEntries(fields);
}

/** Returns the current number of a license. @param number the license's current number or an earlier one */
function latestNumber(changes: readonly HistoryChange[], number: string): string {
  const last = changes.find(({ license_number: each }) => each === number);
  const isLater = ({ license_number: each, epoch }: StoredChange) =>
    last !== undefined && each === last.renumbered_to && epoch >= last.epoch;
  const later = changes.find(isLater);
  return later === undefined ? number : latestNumber(changes, later.license_number);
}

/**
 * Returns the changes of one license, including those under its earlier numbers. Another license may have taken over
 * one of these numbers, or may have had this license's number before.
 *
 * @param changes the changes of all licenses of one board that have the same number key, newest first
 */
export function changesOfLicense(changes: readonly HistoryChange[], number: string): HistoryChange[] {
  let its = latestNumber(changes, number);
  const found: HistoryChange[] = [];
  for (const change of changes) {
    const { license_number: each, renumbered_to: to, renumbered_from: before = its, withdrawn } = change;
    if (each !== its && to !== its) continue;
    // Before this change, the number belonged to another license.
    if (each === its && to !== undefined && withdrawn === undefined) break;
    found.push(change);
    its = before;
  }
  return found;
}

/**
 * Returns the changes of one license by its exact number or by the number as typed. Returns none if it is not certain
 * which license is meant.
 */
export function changesOfOne(changes: readonly HistoryChange[], number: string): HistoryChange[] {
  const isExact = changes.some(({ license_number: each }) => each === number);
  const ofOne = changesOfLicense(changes, isExact ? number : (changes[0]?.license_number ?? ''));
  return isExact || ofOne.length === changes.length ? ofOne : [];
}
