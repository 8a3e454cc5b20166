import { extraField } from '../../src/changes/change.ts';
import { type ComparedLicense, columnOfField, subStatusOf } from '../../src/changes/compare.ts';
import { addTo } from '../../src/licenses/counts.ts';
import { memoize } from '../../src/licenses/fold.ts';
import {
  boardAction,
  disciplineOf,
  ENDORSED_LICENSE_LABELS,
  EXTRA_DATA_LABELS,
} from '../../src/licenses/standing.ts';

/** The parts of a board's licenses: persons, businesses, and endorsements of either. */
export const PARTS = ['persons', 'businesses', 'endorsements'] as const;

export type Part = (typeof PARTS)[number];

export function partOf({ source_row: row }: Pick<ComparedLicense, 'source_row'>): Part {
  if (!row.endsWith(':0')) return 'endorsements';
  return row.startsWith('business') ? 'businesses' : 'persons';
}

type Profiled = Omit<ComparedLicense, 'license_number' | 'full_name'>;

/** Changes in fewer licenses than this are everyday changes of a small board. */
export const LEAST = 3;

const DROP = 'GUARD_MAX_DISCIPLINE_DROP_PERCENT';

/** The facts that make a license look worse, by column, and the guard's words when many licenses look better. */
export const WORSE = [
  {
    column: 'STATUS',
    isWorse: ({ status }: Profiled) => status !== 'ACTIVE',
    value: ({ status }: Profiled) => status,
    ...({
      least: 10,
      setting: 'GUARD_MAX_NOW_ACTIVE_PERCENT',
      what: 'that were not Active are now',
    } as const),
  },
  {
    column: 'SUB_STATUS',
    isWorse: (license: Profiled) => (disciplineOf(license)?.subStatus ?? '') !== '',
    value: subStatusOf,
    ...({ least: LEAST, setting: DROP, what: 'with a disciplinary sub-status have none any more' } as const),
  },
  {
    column: 'BOARD_ACTION',
    isWorse: (license: Profiled) => disciplineOf(license)?.hasBoardAction === true,
    value: (license: Profiled) => boardAction(license) || null,
    ...({ least: 1, setting: DROP, what: 'with a Board Action of Yes no longer have it' } as const),
  },
] as const;

const FIELDS = ['license_type', 'status', 'expiry_date', 'issue_date', 'city', 'state', 'county'] as const;

/** The maximum number of counted columns. The State's files have 154 and 18. */
const MAX_COLUMNS = 1000;

/** The guards' counts for a group of licenses. */
export class BoardProfile {
  licenses = 0;
  /** The number of licenses that show discipline. */
  disciplined = 0;
  /** The number of licenses that look worse, by column. */
  readonly worse = new Map<string, number>();
  /**
   * By column: the number of licenses where it is not blank, the number among these with `Active In Renewal`, and the
   * value they all share; null if the values differ.
   */
  readonly filled = new Map<string, { count: number; inRenewal: number; only: string | null }>();

  /** Adds or removes a license. */
  add(license: Profiled, by: 1 | -1): void {
    this.licenses += by;
    if (disciplineOf(license) !== undefined) this.disciplined += by;
    for (const { column, isWorse } of WORSE) if (isWorse(license)) addTo(this.worse, column, by);
    for (const field of FIELDS) this.#addValue(columnOfField(field, ''), license[field], by);
    this.#addValue('SUB_STATUS', subStatusOf(license), by);
    for (const [label, value] of Object.entries(license.extra_data))
      if (!NOT_COUNTED.has(label)) this.#addValue(columnOfLabel(label), value, by);
  }

  #addValue(column: string, value: string | null, by: number): void {
    if (value !== null) this.#addFilled(column, value, by, isInRenewal(value) ? by : 0);
  }

  #addFilled(column: string, value: string | null, count: number, inRenewal: number): void {
    const known = this.filled.get(column);
    if (known !== undefined) {
      known.count += count;
      known.inRenewal += inRenewal;
      if (known.only !== value) known.only = null;
      // The value is copied, because a slice would keep the whole text of the file in memory.
    } else if (this.filled.size < MAX_COLUMNS)
      this.filled.set(column, { count, inRenewal, only: value && Buffer.from(value).toString() });
  }

  /** Adds all licenses of another profile. */
  addAll(other: BoardProfile): void {
    this.licenses += other.licenses;
    this.disciplined += other.disciplined;
    for (const [column, count] of other.worse) addTo(this.worse, column, count);
    for (const [column, { count, inRenewal, only }] of other.filled)
      this.#addFilled(column, only, count, inRenewal);
  }

  /**
   * Returns in how many licenses a column counts as blank. `Active In Renewal` counts as blank, because it becomes
   * blank when the renewal period ends.
   */
  blankOrInRenewal(column: string): number {
    const { count = 0, inRenewal = 0 } = this.filled.get(column) ?? {};
    return this.licenses - count + inRenewal;
  }

  /** Whether all licenses have the same value in a column. */
  isConstant(column: string): boolean {
    const { count = 0, only = null } = this.filled.get(column) ?? {};
    return only !== null && count === this.licenses;
  }
}

/** The counts of a board's licenses. */
export class BoardLicenses {
  readonly persons = new BoardProfile();
  readonly businesses = new BoardProfile();
  readonly endorsements = new BoardProfile();
  /** A uniform sample of its documents. */
  sample: SampledDocument[] = [];
  /** By column: the number of rows with a value that is not in the catalogs. */
  readonly unknown = new Map<string, number>();

  get licenses(): number {
    return this.persons.licenses + this.businesses.licenses + this.endorsements.licenses;
  }

  /** Returns the profile of the whole board. */
  whole(): BoardProfile {
    const whole = new BoardProfile();
    for (const part of PARTS) whole.addAll(this[part]);
    return whole;
  }
}

/**
 * A document that will be read back. Its strings are copies, because a slice of the file's text would keep a megabyte
 * in memory.
 */
export interface SampledDocument {
  readonly id: string;
  readonly sourceRow: string;
  /** The two lines of the bulk request. */
  readonly body: string;
}

const RENEWAL = 'ACTIVE IN RENEWAL';

export function isInRenewal(subStatus: string): boolean {
  return subStatus.length === RENEWAL.length && subStatus.toUpperCase() === RENEWAL;
}

/**
 * Labels that are not counted: those of record fields, and the data that an endorsement repeats of its endorsed
 * license.
 */
const NOT_COUNTED: ReadonlySet<string> = new Set([
  ...['County', 'Issue Date', EXTRA_DATA_LABELS.endorsedLicense],
  ...Object.values(ENDORSED_LICENSE_LABELS),
]);

const columnOfLabel = memoize((label) => columnOfField(extraField(label), ''));
