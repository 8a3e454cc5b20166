import { Readable } from 'node:stream';
import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { currentBoardName } from '../licenses/boards.ts';
import { valueAt } from '../licenses/counts.ts';
import { fold } from '../licenses/fold.ts';
import { type LicenseRecord, licenseRecord, storedLicense } from '../licenses/license.ts';
import { nameParts } from '../licenses/names.ts';
import { documentsById } from '../storage/checked-search.ts';
import type { Store } from '../storage/store.ts';
import { changedFields, extraField, isPlaceField } from './change.ts';
import { type Difference, differences, readDigest } from './digest.ts';

/** A license as an index of licenses has it. */
export const comparedLicense = licenseRecord.extend({
  extra_data: storedLicense.shape.extra_data,
  /** The file, the line and the endorsement. */
  source_row: z.string(),
});

export type ComparedLicense = z.output<typeof comparedLicense>;

/** A license that is not the same in two publications. */
export interface DifferingLicense extends Difference {
  /** `undefined` where the license was added. */
  readonly before: ComparedLicense | undefined;
  /** `undefined` where it was removed. */
  readonly after: ComparedLicense | undefined;
  /** The number of the counterpart, where it has the same holder: the State writes the number in another way. */
  readonly renumbered?: string | undefined;
}

/** Two publications that are compared. */
export interface Comparison {
  /** Their indices of licenses. */
  readonly before: string;
  readonly after: string;
  /** The parts of the later digest, in order. */
  readonly parts: AsyncIterable<Buffer> | Iterable<Buffer>;
  /** Gets how many of the digest's parts are compared. */
  readonly onPart?: (parts: number) => void;
  readonly signal?: AbortSignal;
}

/** More would be alive at once, and become old, in the worker's small heap: a fifth more processor time (measured). */
const LICENSES_A_REQUEST = 200;
const REQUESTS_IN_FLIGHT = 3;

/**
 * Every license that is not the same in two publications, as both have it, in groups. Some groups are read ahead.
 *
 * @throws {BadDocumentError} when the digest of the earlier one is not valid
 */
export function differingLicenses(store: Store, comparison: Comparison): AsyncIterable<DifferingLicense[]> {
  const groups = Readable.from(groupsOfDifferences(store, comparison));
  const records = (group: readonly Difference[]) => recordsOfGroup(store.client, comparison, group);
  return groups.map(records, { concurrency: REQUESTS_IN_FLIGHT });
}

async function* groupsOfDifferences(store: Store, { before, parts, onPart, signal }: Comparison) {
  const earlier = readDigest(store, before);
  let compared = 0;
  let group: Difference[] = [];
  for await (const part of parts) {
    const { value = Buffer.alloc(0) } = await earlier.next();
    for (const difference of differences(value, part)) {
      if (group.push(difference) < LICENSES_A_REQUEST) continue;
      signal?.throwIfAborted();
      yield group;
      group = [];
    }
    compared += 1;
    onPart?.(compared);
  }
  yield group;
}

async function recordsOfGroup(client: Client, { before, after }: Comparison, group: readonly Difference[]) {
  const ids = group.flatMap(({ license, counterpart }) => (counterpart ? [license, counterpart] : [license]));
  const all = [...new Set(ids)];
  const [old, now] = await Promise.all([
    storedRecords(client, before, all),
    storedRecords(client, after, all),
  ]);
  return group.map((each): DifferingLicense => {
    const [before, after] = [old.get(each.license), now.get(each.license)];
    const { counterpart = '' } = each;
    const other = old.get(counterpart) ?? now.get(counterpart);
    const isOfOneHolder = other && surnameOf(other) === surnameOf(before ?? after);
    return { ...each, before, after, renumbered: isOfOneHolder ? other?.license_number : undefined };
  });
}

function surnameOf(license: ComparedLicense | undefined): string | undefined {
  return license && fold(nameParts(license.full_name).last);
}

/** Some licenses of a physical index, by document id. @throws {SearchUnavailableError} when one could not be read */
export async function storedRecords(client: Client, index: string, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, ComparedLicense>();
  const found = await documentsById(client, { index, realtime: false, body: { ids: [...ids] } });
  return new Map(
    found.flatMap((doc) => (doc ? [[doc._id, comparedLicense.parse(doc._source)] as const] : [])),
  );
}

/** The State's columns of the fields whose names do not tell them. `raw_status` has SUB_STATUS, too. */
const COLUMNS: ReadonlyMap<string, string> = new Map([
  ['license_type', 'TYPE'],
  ['raw_status', 'SUB_STATUS'],
  ['expiry_date', 'EXPIRATION_DATE'],
  [extraField('ZIP'), 'PARCEL_ZIP_CODE'],
]);

/** The State's column of a field; of a name, that of the file that has it. */
export function columnOfField(field: string, sourceRow: string): string {
  if (field === 'full_name') return sourceRow.startsWith('business') ? 'BUSINESS_NAME' : 'LICENSEE_NAME';
  const label = field.slice(field.indexOf('.') + 1).toUpperCase();
  const name = label.replaceAll(' ', '_').replace(/^MEDICAL_/, 'MED_');
  const isPlace = isPlaceField(field) && !isPlaceColumn(name);
  return COLUMNS.get(field) ?? (isPlace ? `PARCEL_${name}` : name);
}

/** Whether a column says where the holder is: the State may withhold it. */
export function isPlaceColumn(column: string): boolean {
  return column.startsWith('PARCEL_');
}

/** What an endorsement says of the license that it endorses: no column of its own. */
const ENDORSED_LICENSE = extraField('Endorsed License');

/** The sub-status of a license as the State writes it; null where it is blank. */
export function subStatusOf({ status, raw_status: raw }: Pick<LicenseRecord, 'status' | 'raw_status'>) {
  if (raw === null || status === null) return raw;
  return raw.length > status.length ? raw.slice(status.length + ' - '.length) : null;
}

/** A value before and after; null where it is blank. */
export interface ColumnChange {
  readonly column: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** The columns in which the two records of a license differ, each once. */
function changedColumns(before: ComparedLicense, after: ComparedLicense): ColumnChange[] {
  const columns = new Map<string, ColumnChange>();
  for (const [field, change] of Object.entries(changedFields(before, after))) {
    if (field.startsWith(ENDORSED_LICENSE)) continue;
    const column = columnOfField(field, after.source_row);
    const values =
      field === 'raw_status' ? { before: subStatusOf(before), after: subStatusOf(after) } : change;
    if (values.before !== values.after) columns.set(column, { column, ...values });
  }
  return [...columns.values()];
}

/** A license in which something was counted. Names and places are not kept. */
export const example = z.object({
  license_number: z.string(),
  before: z.string().nullish(),
  now: z.string().nullish(),
});

const EXAMPLES = 3;

/** How many licenses there are, and the first three. */
export class CountedLicenses {
  count = 0;
  readonly examples: z.output<typeof example>[] = [];

  add(license_number: string, change?: ColumnChange): void {
    this.count += 1;
    if (this.examples.length >= EXAMPLES) return;
    this.examples.push({ license_number, ...(change && { before: change.before, now: change.after }) });
  }
}

/** A column of more values differs in nearly all licenses when it is shifted. */
const MAX_VALUES = 100;
/** Fewer licenses may have each other's values by chance. */
const LEAST_MOVED = 5;
/** At the ends of a board that is shifted, some values come and go. */
const MAX_DIFFERENCE = 0.25;

/** How two publications differ in one column of a board. */
class ColumnDifferences {
  readonly changed = new CountedLicenses();
  /** Licenses that have no value any more. */
  readonly blank = new CountedLicenses();
  /** How many more licenses have a value than before; of one value more than may be. */
  readonly #more = new Map<string | null, number>();

  add(license_number: string, change: ColumnChange, isCounted: boolean): void {
    if (isCounted) (change.after === null ? this.blank : this.changed).add(license_number, change);
    for (const [value, by] of [[change.before, -1] as const, [change.after, 1] as const]) {
      const known = this.#more.get(value);
      if (known !== undefined || this.#more.size <= MAX_VALUES) this.#more.set(value, (known ?? 0) + by);
    }
  }

  /** Whether the values are nearly the same as before, at other licenses, as where the column is shifted by a row. */
  areMoved(): boolean {
    const { count } = this.changed;
    if (count < LEAST_MOVED || this.#more.size > MAX_VALUES) return false;
    return [...this.#more.values()].reduce((sum, each) => sum + Math.abs(each), 0) <= MAX_DIFFERENCE * count;
  }
}

/** How two publications differ at one board. */
export class BoardDifferences {
  readonly added = new CountedLicenses();
  readonly removed = new CountedLicenses();
  readonly changed = new CountedLicenses();
  /** Of those added: the State writes their numbers in another way. */
  readonly renumbered = new CountedLicenses();
  readonly columns = new Map<string, ColumnDifferences>();
}

type Records = Pick<DifferingLicense, 'before' | 'after' | 'renumbered'>;

interface CounterOptions {
  /** Which changes of a column count; all unless given. */
  readonly isCounted?: (change: ColumnChange) => boolean;
  /** Where a license is counted; at its board unless given. */
  readonly groupsOf?: (license: ComparedLicense) => readonly BoardDifferences[];
}

/** Counts by board. */
export function differenceCounter({ isCounted = () => true, groupsOf }: CounterOptions = {}) {
  const boards = new Map<string, BoardDifferences>();
  const atBoard = ({ board }: ComparedLicense) => [
    valueAt(boards, currentBoardName(board), () => new BoardDifferences()),
  ];
  return {
    boards,
    /** @returns the columns of a changed license that count */
    add({ before, after, renumbered }: Records): readonly ColumnChange[] {
      const license = after ?? before;
      const columns = before && after ? changedColumns(before, after) : [];
      const counted = columns.filter(isCounted);
      if (license === undefined || (before && after && columns.length === 0)) return [];
      const { license_number: number } = license;
      for (const differences of groupsOf?.(license) ?? atBoard(license)) {
        if (after === undefined) differences.removed.add(number);
        if (before === undefined) differences.added.add(number);
        if (before === undefined && renumbered !== undefined)
          differences.renumbered.add(number, { column: 'LICENSE_NUMBER', before: renumbered, after: number });
        if (counted.length > 0) differences.changed.add(number);
        for (const change of columns) {
          const column = valueAt(differences.columns, change.column, () => new ColumnDifferences());
          column.add(number, change, counted.includes(change));
        }
      }
      return counted;
    },
  };
}
