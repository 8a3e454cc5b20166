import { extraField } from '../../src/changes/change.ts';
import { type ComparedLicense, columnOfField, subStatusOf } from '../../src/changes/compare.ts';
import { currentBoardName } from '../../src/licenses/boards.ts';
import { addTo } from '../../src/licenses/counts.ts';
import { disciplineOf, ENDORSED_LICENSE_LABELS, EXTRA_DATA_LABELS } from '../../src/licenses/standing.ts';

/** What makes a license look worse, by the column that says it. */
export const WORSE = {
  STATUS: ({ status }: Profiled) => status !== 'ACTIVE',
  SUB_STATUS: (license: Profiled) => (disciplineOf(license)?.subStatus ?? '') !== '',
  BOARD_ACTION: (license: Profiled) => disciplineOf(license)?.hasBoardAction === true,
};

export const WORSE_COLUMNS = [
  'STATUS',
  'SUB_STATUS',
  'BOARD_ACTION',
] as const satisfies (keyof typeof WORSE)[];

/** The licenses in which a column is not blank. */
interface FilledColumn {
  count: number;
  /** The value that all of them have; null where they differ. */
  only: string | null;
}

/** What guards count of some licenses of one board. */
export interface BoardProfile {
  licenses: number;
  /** How many tell of discipline. */
  disciplined: number;
  /** How many look worse by a column. */
  readonly worse: Map<string, number>;
  readonly filled: Map<string, FilledColumn>;
  /** How many have `Active In Renewal` in a column. */
  readonly inRenewal: Map<string, number>;
}

/** By the board's name. */
type Profiles = Map<string, BoardProfile>;

/** A board's licenses by what they are of: persons, businesses, and endorsements of either. */
export const PARTS = ['persons', 'businesses', 'endorsements'] as const;

type Part = (typeof PARTS)[number];

export function partOf({ source_row: row }: Pick<ComparedLicense, 'source_row'>): Part {
  if (!row.endsWith(':0')) return 'endorsements';
  return row.startsWith('business') ? 'businesses' : 'persons';
}

/** All licenses of each board, and its businesses and endorsements once more; the rest are persons. */
export interface LoadedProfiles {
  readonly boards: Profiles;
  readonly parts: Readonly<Record<Exclude<Part, 'persons'>, Profiles>>;
}

type Profiled = Omit<ComparedLicense, 'license_number' | 'full_name'>;

const FIELDS = ['license_type', 'status', 'expiry_date', 'issue_date', 'city', 'state', 'county'] as const;

/** More columns than this are not counted. The State has 154 and 18. */
const MAX_COLUMNS = 1000;

export function profileOf(profiles: Profiles, board: string): BoardProfile {
  const known = profiles.get(board) ?? {
    licenses: 0,
    disciplined: 0,
    worse: new Map(),
    filled: new Map(),
    inRenewal: new Map(),
  };
  profiles.set(board, known);
  return known;
}

/** Adds a license to a board's profile, or takes it out. */
export function addLicense(profile: BoardProfile, license: Profiled, by: 1 | -1): void {
  profile.licenses += by;
  if (disciplineOf(license) !== undefined) profile.disciplined += by;
  for (const column of WORSE_COLUMNS) if (WORSE[column](license)) addTo(profile.worse, column, by);
  const add = (column: string, value: string | null) => {
    if (value === null) return;
    addFilled(profile, column, value, by);
    if (value.length === RENEWAL.length && isInRenewal(value)) addTo(profile.inRenewal, column, by);
  };
  for (const field of FIELDS) add(columnOfField(field, ''), license[field]);
  add('SUB_STATUS', subStatusOf(license));
  for (const [label, value] of Object.entries(license.extra_data))
    if (!NOT_COUNTED.has(label)) add(columnOfLabel(label), value);
}

function addFilled({ filled }: BoardProfile, column: string, value: string | null, by: number): void {
  const known = filled.get(column);
  if (known !== undefined) {
    known.count += by;
    if (known.only !== null && known.only !== value) known.only = null;
    // A copy: a slice of the file's text would keep all of it in memory.
  } else if (filled.size < MAX_COLUMNS)
    filled.set(column, { count: by, only: value && Buffer.from(value).toString() });
}

const RENEWAL = 'ACTIVE IN RENEWAL';

export function isInRenewal(subStatus: string): boolean {
  return subStatus.toUpperCase() === RENEWAL;
}

/** Fields of the record, and what an endorsement says of the license that it endorses. */
const NOT_COUNTED: ReadonlySet<string> = new Set([
  ...['County', 'Issue Date', EXTRA_DATA_LABELS.endorsedLicense],
  ...Object.values(ENDORSED_LICENSE_LABELS),
]);
const columns = new Map<string, string>();

function columnOfLabel(label: string): string {
  const known = columns.get(label);
  if (known !== undefined) return known;
  const column = columnOfField(extraField(label), '');
  if (columns.size < MAX_COLUMNS) columns.set(label, column);
  return column;
}

/** The same profiles under other names, those of one name together. */
export function regrouped(profiles: Profiles, nameOf: (board: string) => string): Profiles {
  const groups: Profiles = new Map();
  for (const [board, profile] of profiles) addProfile(profileOf(groups, nameOf(board)), profile, 1);
  return groups;
}

/** Adds all licenses of another profile, or takes them out. */
function addProfile(profile: BoardProfile, other: BoardProfile, by: 1 | -1): void {
  profile.licenses += by * other.licenses;
  profile.disciplined += by * other.disciplined;
  for (const [column, count] of other.worse) addTo(profile.worse, column, by * count);
  for (const [column, count] of other.inRenewal) addTo(profile.inRenewal, column, by * count);
  for (const [column, { count, only }] of other.filled) addFilled(profile, column, only, by * count);
}

/** The name under which a license's board is counted. */
export const boardOf = ({ board }: Pick<ComparedLicense, 'board'>): string => currentBoardName(board);

/** The name under which a part of a board is counted. */
export function partName(board: string, part: Part): string {
  return `${board} (${part})`;
}

/** The boards under other names, and each of their parts. */
export function withParts({ boards, parts }: LoadedProfiles, nameOf: (board: string) => string): Profiles {
  const groups = regrouped(boards, nameOf);
  const of = (board: string, part: Part) => profileOf(groups, partName(board, part));
  for (const [board, profile] of boards) addProfile(of(board, 'persons'), profile, 1);
  for (const part of ['businesses', 'endorsements'] as const) {
    for (const [board, profile] of parts[part]) {
      addProfile(of(board, part), profile, 1);
      addProfile(of(board, 'persons'), profile, -1);
    }
  }
  return groups;
}

/** Counts by the names that the boards have now. */
export function byCurrentName(counts: Readonly<Record<string, number>>): ReadonlyMap<string, number> {
  const boards = new Map<string, number>();
  for (const [label, count] of Object.entries(counts)) addTo(boards, currentBoardName(label), count);
  return boards;
}

/** In how many licenses a column is not blank. */
export function filledIn({ filled }: BoardProfile, column: string): number {
  return filled.get(column)?.count ?? 0;
}

/** In how many licenses a column is blank. */
export function blankIn(profile: BoardProfile, column: string): number {
  return profile.licenses - filledIn(profile, column);
}
