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

/** What guards count of the licenses of one board. */
export interface BoardProfile {
  licenses: number;
  /** How many tell of discipline. */
  disciplined: number;
  /** How many look worse by a column. */
  readonly worse: Map<string, number>;
  /** In how many licenses each column is not blank. */
  readonly filled: Map<string, number>;
}

/** By the board's name. */
export type Profiles = Map<string, BoardProfile>;

type Profiled = Omit<ComparedLicense, 'license_number' | 'full_name'>;

const FIELDS = ['license_type', 'status', 'expiry_date', 'issue_date', 'city', 'state', 'county'] as const;

/** More columns than this are not counted. The State has 154 and 18. */
const MAX_COLUMNS = 1000;

export function profileOf(profiles: Profiles, board: string): BoardProfile {
  const known = profiles.get(board) ?? { licenses: 0, disciplined: 0, worse: new Map(), filled: new Map() };
  profiles.set(board, known);
  return known;
}

/** Adds a license to a board's profile, or takes it out. */
export function addLicense(profile: BoardProfile, license: Profiled, by: 1 | -1): void {
  const { filled } = profile;
  profile.licenses += by;
  if (disciplineOf(license) !== undefined) profile.disciplined += by;
  for (const column of WORSE_COLUMNS) if (WORSE[column](license)) addTo(profile.worse, column, by);
  const add = (column: string) => {
    const count = filled.get(column);
    if (count !== undefined || filled.size < MAX_COLUMNS) filled.set(column, (count ?? 0) + by);
  };
  for (const field of FIELDS) if (license[field] !== null) add(columnOfField(field, ''));
  if (subStatusOf(license) !== null) add('SUB_STATUS');
  for (const label in license.extra_data) if (!NOT_COUNTED.has(label)) add(columnOfLabel(label));
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
  for (const [board, { licenses, worse, filled }] of profiles) {
    const group = profileOf(groups, nameOf(board));
    group.licenses += licenses;
    for (const [column, count] of worse) addTo(group.worse, column, count);
    for (const [column, count] of filled) addTo(group.filled, column, count);
  }
  return groups;
}

/** The name under which a license's board is counted. */
export const boardOf = ({ board }: Pick<ComparedLicense, 'board'>): string => currentBoardName(board);

/** In how many licenses a column is blank. */
export function blankIn({ licenses, filled }: BoardProfile, column: string): number {
  return licenses - (filled.get(column) ?? 0);
}
