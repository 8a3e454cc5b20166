import { Readable } from 'node:stream';
import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { writeSpreadsheet } from '../csv.ts';
import { currentBoardName } from '../licenses/boards.ts';
import { valueAt } from '../licenses/counts.ts';
import { fold, memoize } from '../licenses/fold.ts';
import { type LicenseRecord, licenseRecord, storedLicense } from '../licenses/license.ts';
import { nameParts } from '../licenses/names.ts';
import { documentsById } from '../storage/checked-search.ts';
import type { Store } from '../storage/store.ts';
import { changedFields, extraField, isPlaceField } from './change.ts';
import { type Difference, differences, readDigest } from './digest.ts';

/** A license as it is stored in a licenses index. */
export const comparedLicense = licenseRecord.extend({
  extra_data: storedLicense.shape.extra_data,
  /** The file, the line, and the number of the endorsement. */
  source_row: z.string(),
});

export type ComparedLicense = z.output<typeof comparedLicense>;

/** A license that differs between two publications. */
export interface DifferingLicense extends Difference {
  /** `undefined` if the license was added. */
  readonly before: ComparedLicense | undefined;
  /** `undefined` if the license was removed. */
  readonly after: ComparedLicense | undefined;
  /**
   * The counterpart's license number, if both have the same surname: the State then writes the number in another way.
   */
  readonly renumbered?: string | undefined;
  /** The fields in which the two records differ. */
  readonly fields: ReturnType<typeof changedFields>;
}

/** The input of a comparison of two publications. */
export interface Comparison {
  /** The names of the two licenses indices. */
  readonly before: string;
  readonly after: string;
  /** The parts of the later publication's digest, in order. */
  readonly parts: AsyncIterable<Buffer> | Iterable<Buffer>;
  /** Called with the number of digest parts compared so far. */
  readonly onPart?: (parts: number) => void;
  readonly signal?: AbortSignal;
}

/**
 * With larger requests, more objects would live at once and reach the old generation of the worker's small heap. That
 * cost a fifth more CPU time (measured).
 */
const LICENSES_A_REQUEST = 200;
const REQUESTS_IN_FLIGHT = 3;

/**
 * Yields groups of licenses that differ between two publications, with both records of each. Some groups are read
 * ahead.
 *
 * @throws {BadDocumentError} when the digest of the earlier publication is not valid
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
    const renumbered = isOfOneHolder ? other?.license_number : undefined;
    return { ...each, before, after, renumbered, fields: changedFields(before, after) };
  });
}

function surnameOf(license: ComparedLicense | undefined): string | undefined {
  return license && fold(nameParts(license.full_name).last);
}

/**
 * Reads some licenses of a physical index, by document id.
 *
 * @throws {SearchUnavailableError} when a license could not be read
 */
export async function storedRecords(client: Client, index: string, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, ComparedLicense>();
  const found = await documentsById(client, { index, realtime: false, body: { ids: [...ids] } });
  return new Map(
    found.flatMap((doc) => (doc ? [[doc._id, comparedLicense.parse(doc._source)] as const] : [])),
  );
}

/** The State's columns for the fields whose names do not match the column. `raw_status` also contains SUB_STATUS. */
const COLUMNS: ReadonlyMap<string, string> = new Map([
  ['license_type', 'TYPE'],
  ['raw_status', 'SUB_STATUS'],
  ['expiry_date', 'EXPIRATION_DATE'],
  [extraField('ZIP'), 'PARCEL_ZIP_CODE'],
]);

/** Returns the State's column of a field. For `full_name`, it is the name column of the file that the row is in. */
export function columnOfField(field: string, sourceRow: string): string {
  if (field === 'full_name') return sourceRow.startsWith('business') ? 'BUSINESS_NAME' : 'LICENSEE_NAME';
  return columnOf(field);
}

const columnOf = memoize((field) => {
  const label = field.slice(field.indexOf('.') + 1).toUpperCase();
  const name = label.replaceAll(' ', '_').replace(/^MEDICAL_/, 'MED_');
  const isPlace = isPlaceField(field) && !isPlaceColumn(name);
  return COLUMNS.get(field) ?? (isPlace ? `PARCEL_${name}` : name);
});

/** Whether a column is part of the holder's address, which the State may withhold. */
export function isPlaceColumn(column: string): boolean {
  return column.startsWith('PARCEL_');
}

/** The fields in which an endorsement repeats its endorsed license. They have no column of their own. */
const ENDORSED_LICENSE = extraField('Endorsed License');

/** Returns the sub-status as the State writes it; null if it is blank. */
export function subStatusOf({ status, raw_status: raw }: Pick<LicenseRecord, 'status' | 'raw_status'>) {
  if (raw === null || status === null) return raw;
  return raw.length > status.length ? raw.slice(status.length + ' - '.length) : null;
}

/** A column's values before and after the change; null means blank. */
export interface ColumnChange {
  readonly column: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** Returns each column in which the two records of a license differ, once. */
function changedColumns(before: ComparedLicense, after: ComparedLicense, fields: Records['fields']) {
  const columns = new Map<string, ColumnChange>();
  for (const [field, change] of Object.entries(fields)) {
    if (field.startsWith(ENDORSED_LICENSE)) continue;
    const column = columnOfField(field, after.source_row);
    const values =
      field === 'raw_status' ? { before: subStatusOf(before), after: subStatusOf(after) } : change;
    if (values.before !== values.after) columns.set(column, { column, ...values });
  }
  return [...columns.values()];
}

/** An example of a counted license. It has no names or addresses. */
export const example = z.object({
  license_number: z.string(),
  before: z.string().nullish(),
  now: z.string().nullish(),
});

const EXAMPLES = 3;

/** Counts licenses and keeps the first three as examples. */
export class CountedLicenses {
  count = 0;
  readonly examples: z.output<typeof example>[] = [];

  add(license_number: string, change?: ColumnChange): void {
    this.count += 1;
    if (this.examples.length >= EXAMPLES) return;
    this.examples.push({ license_number, ...(change && { before: change.before, now: change.after }) });
  }
}

/**
 * If a column with more distinct values than this is shifted, nearly all licenses differ, so the share of changes shows
 * it.
 */
const MAX_VALUES = 100;
/** If fewer licenses changed, they may have swapped values by chance. */
const LEAST_MOVED = 5;
/** When a column is shifted, a few values appear or disappear at the first and last rows of the board. */
const MAX_DIFFERENCE = 0.25;

/** The differences between two publications in one column of a board. */
class ColumnDifferences {
  readonly changed = new CountedLicenses();
  /** Licenses that had a value before and are blank now. */
  readonly blank = new CountedLicenses();
  /**
   * By value: how many more licenses have it than before. It holds at most one value more than `MAX_VALUES`, which
   * shows that there are too many.
   */
  readonly #more = new Map<string | null, number>();

  add(license_number: string, change: ColumnChange, isCounted: boolean): void {
    if (isCounted) (change.after === null ? this.blank : this.changed).add(license_number, change);
    for (const [value, by] of [[change.before, -1] as const, [change.after, 1] as const]) {
      const known = this.#more.get(value);
      if (known !== undefined || this.#more.size <= MAX_VALUES) this.#more.set(value, (known ?? 0) + by);
    }
  }

  /**
   * Whether the values are nearly the same as before but belong to other licenses, as when the column is shifted by a
   * row.
   */
  areMoved(): boolean {
    const { count } = this.changed;
    if (count < LEAST_MOVED || this.#more.size > MAX_VALUES) return false;
    return [...this.#more.values()].reduce((sum, each) => sum + Math.abs(each), 0) <= MAX_DIFFERENCE * count;
  }
}

/** The differences between two publications at one board. */
export class BoardDifferences {
  readonly added = new CountedLicenses();
  readonly removed = new CountedLicenses();
  readonly changed = new CountedLicenses();
  /** The added licenses whose numbers the State only writes in another way. */
  readonly renumbered = new CountedLicenses();
  readonly columns = new Map<string, ColumnDifferences>();
}

type Records = Pick<DifferingLicense, 'before' | 'after' | 'renumbered' | 'fields'>;

interface CounterOptions {
  /** Decides which column changes are counted; by default all. */
  readonly isCounted?: (change: ColumnChange) => boolean;
  /** Returns the groups in which a license is counted; by default its board. */
  readonly groupsOf?: (license: ComparedLicense) => readonly BoardDifferences[];
}

/** Counts the differences by board. */
export function differenceCounter({ isCounted = () => true, groupsOf }: CounterOptions = {}) {
  const boards = new Map<string, BoardDifferences>();
  const atBoard = ({ board }: ComparedLicense) => [
    valueAt(boards, currentBoardName(board), () => new BoardDifferences()),
  ];
  return {
    boards,
    /** @returns the columns of a changed license that count */
    add({ before, after, renumbered, fields }: Records): readonly ColumnChange[] {
      const license = after ?? before;
      const columns = before && after ? changedColumns(before, after, fields) : [];
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

const CSV_COLUMNS = ['kind', 'board', 'license_number', 'full_name', 'column', 'before', 'after'];

/**
 * Counts how two publications differ, by board and column.
 *
 * @param csv the path of a file that gets every difference, with a row for each column of a changed license
 */
export async function countDifferences(
  store: Store,
  { before, after }: Pick<Comparison, 'before' | 'after'>,
  csv?: string,
) {
  const counter = differenceCounter();
  const groups = differingLicenses(store, { before, after, parts: readDigest(store, after) });
  const countedCells = ({ kind, ...license }: DifferingLicense) => {
    const changed = counter.add(license);
    const { before, after } = license;
    const columns: readonly Partial<ColumnChange>[] = before && after ? changed : [{}];
    const { board = '', license_number = '', full_name = null } = after ?? before ?? {};
    return columns.map(({ column = '', before = null, after = null }) => {
      return [kind, board, license_number, full_name, column, before, after];
    });
  };
  if (csv === undefined) for await (const group of groups) group.forEach(counter.add);
  else await writeSpreadsheet(csv, CSV_COLUMNS, groups, countedCells);
  return [...counter.boards].map(([board, { added, removed, renumbered, changed, columns }]) => ({
    ...{ board, added, removed, renumbered, changed },
    columns: [...columns].map(([column, { changed, blank }]) => ({ column, changed, now_blank: blank })),
  }));
}
