import { type ChangeCause, changedFields } from '../../src/changes/change.ts';
import {
  BoardDifferences,
  type ColumnChange,
  type ComparedLicense,
  CountedLicenses,
  type DifferingLicense,
  differenceCounter,
  isPlaceColumn,
  subStatusOf,
} from '../../src/changes/compare.ts';
import type { Config } from '../../src/config.ts';
import { currentBoardName } from '../../src/licenses/boards.ts';
import { addTo } from '../../src/licenses/counts.ts';
import { boardAction } from '../../src/licenses/standing.ts';
import { type Judgement, judge, judgeShare, percent, sum } from './judgement.ts';
import {
  addLicense,
  blankIn,
  boardOf,
  type Profiles,
  profileOf,
  regrouped,
  WORSE,
  WORSE_COLUMNS,
} from './profile.ts';

/** What the guards by board and column must know before they compare. */
export interface CompareOptions {
  /** How many licenses the live publication has, by board. */
  readonly boards: Readonly<Record<string, number>>;
  /** The columns that the live publication's files did not have, and those that these files do not have. */
  readonly newColumns: ReadonlySet<string>;
  readonly goneColumns: ReadonlySet<string>;
  /** The columns in which the operator accepts changes: these count in no other guard. */
  readonly acceptedColumns: ReadonlySet<string>;
}

const NONE = new BoardDifferences();
const NO_LICENSES = new CountedLicenses();

export type GuardedComparison = ReturnType<typeof guardedComparison>;

/**
 * Counts what a publication changes, for the guards. Boards with few licenses are counted together.
 *
 * @param loaded the licenses of the files
 */
export function guardedComparison(loaded: Profiles, options: CompareOptions, config: Config) {
  const { boards, newColumns, goneColumns, acceptedColumns } = options;
  const small = config.GUARD_SMALL_BOARD;
  const isSmall = new Set(
    Object.entries(boards).flatMap(([board, count]) => (count < small ? [currentBoardName(board)] : [])),
  );
  const nameOf = (board: string) => (isSmall.has(board) ? `Boards under ${small} licenses` : board);
  const counter = differenceCounter({
    nameOf,
    isCounted: (change) =>
      !newColumns.has(change.column) && !goneColumns.has(change.column) && !isOrdinary(change),
  });
  const now = regrouped(loaded, nameOf);
  /** The live publication's: what the differing licenses were, and the others as they are. */
  const before = regrouped(loaded, nameOf);
  /** Licenses that look better than in the live publication, by board and column. */
  const improved = new Map<string, CountedLicenses>();
  const compared = {
    ...{ now, before, improved, goneColumns, differences: counter.boards },
    /** Those that this version reads otherwise. */
    release: new CountedLicenses(),
    /** How many licenses have the same row in both. */
    sameRows: sum([...now.values()].map(({ licenses }) => licenses)),
    /** How many were removed, or changed in a column that counts and is not accepted. */
    changed: 0,
    add(license: DifferingLicense, cause: ChangeCause): void {
      const { before: old, after } = license;
      if (cause === 'release') {
        // The hashes of another version may differ where the records are the same.
        if (after !== undefined && Object.keys(changedFields(old, after)).length > 0)
          compared.release.add(after.license_number);
        return;
      }
      if (old !== undefined) addLicense(profileOf(before, nameOf(boardOf(old))), old, 1);
      if (after !== undefined) addLicense(profileOf(before, nameOf(boardOf(after))), after, -1);
      if (after !== undefined) compared.sameRows -= 1;
      if (cause !== 'data') return;
      const columns = counter.add(license);
      if (old === undefined) return;
      if (after !== undefined) noteImproved(old, after);
      if (after === undefined || columns.some(({ column }) => !acceptedColumns.has(column)))
        compared.changed += 1;
    },
  };

  function noteImproved(old: ComparedLicense, now: ComparedLicense): void {
    for (const column of WORSE_COLUMNS) {
      if (!WORSE[column](old) || WORSE[column](now)) continue;
      const key = `${nameOf(boardOf(now))} ${column}`;
      const known = improved.get(key) ?? new CountedLicenses();
      improved.set(key, known);
      known.add(now.license_number, { column, before: VALUE_OF[column](old), after: VALUE_OF[column](now) });
    }
  }

  return compared;
}

const RENEWAL = 'ACTIVE IN RENEWAL';
/** A renewal moves the expiry date by at most this many years. */
const RENEWAL_YEARS = 3;

/** A renewal, or a place that the State withholds. */
function isOrdinary({ column, before, after }: ColumnChange): boolean {
  if (isPlaceColumn(column)) return after === null;
  if (column === 'SUB_STATUS') return [before, after].some((each) => each?.toUpperCase() === RENEWAL);
  if (column !== 'EXPIRATION_DATE' || before === null || after === null || after < before) return false;
  const latest = `${Number(before.slice(0, 4)) + RENEWAL_YEARS}${before.slice(4)}`;
  return after <= latest;
}

const VALUE_OF = {
  STATUS: ({ status }: ComparedLicense) => status,
  SUB_STATUS: subStatusOf,
  BOARD_ACTION: (license: ComparedLicense) => boardAction(license) || null,
};

/** Fewer licenses are the everyday changes of a small board. */
const LEAST = 3;

const DROP = 'GUARD_MAX_DISCIPLINE_DROP_PERCENT';
const IMPROVEMENTS = {
  STATUS: { least: 10, setting: 'GUARD_MAX_NOW_ACTIVE_PERCENT', what: 'that were not Active are now' },
  SUB_STATUS: { least: LEAST, setting: DROP, what: 'with a disciplinary sub-status have none any more' },
  BOARD_ACTION: { least: 1, setting: DROP, what: 'with a Board Action of Yes have it no more' },
} as const;

/** What the guards say of what a publication changes, and a sentence for each new board and withheld place. */
export function guardComparison(compared: GuardedComparison, config: Config) {
  const { before, now, release, sameRows } = compared;
  const isNew = (board: string) => (before.get(board)?.licenses ?? 0) === 0;
  const boards = [...new Set([...before.keys(), ...now.keys()])];
  const ofBoards = boards
    .filter((board) => !isNew(board))
    .flatMap((board) => BOARD_GUARDS.flatMap((guard) => guard(compared, board, config)));
  const judgements = [
    manyChanges(compared, config),
    judgeShare('release_changes', release, sameRows, config.GUARD_MAX_RELEASE_CHANGES_PERCENT),
    ...ofBoards,
  ];
  const notes = [
    ...boards
      .filter(isNew)
      .map((board) => `${board} is new, with ${now.get(board)?.licenses ?? 0} licenses.`),
    ...ofBoards
      .filter(({ check, passed, measured, limit }) => check === 'column_blank' && passed && measured > limit)
      .map(withheld),
  ];
  return { judgements: worthKeeping(judgements), notes };
}

const BOARD_GUARDS = [boardChanged, columnsChanged, columnsBlank, statusImproved];

function withheld({ board, column, before = 0, now = 0 }: Judgement): string {
  return `${board} has ${column} blank in ${now} licenses, before in ${before}: the State may withhold it.`;
}

function manyChanges({ changed, before, differences }: GuardedComparison, config: Config): Judgement {
  const all = sum([...before.values()].map(({ licenses }) => licenses));
  const boards = new Map<string, number>();
  const columns = new Map<string, number>();
  for (const [board, { changed, removed, columns: ofBoard }] of differences) {
    addTo(boards, board, changed.count + removed.count);
    for (const [column, each] of ofBoard) addTo(columns, column, each.changed.count + each.blank.count);
  }
  return judgeShare('many_changes', { count: changed }, all, config.GUARD_MAX_CHANGED_PERCENT, {
    says: { boards: largest(boards), columns: largest(columns) },
  });
}

function boardChanged(compared: GuardedComparison, board: string, config: Config): Judgement[] {
  const before = compared.before.get(board)?.licenses ?? 0;
  const { removed, added } = compared.differences.get(board) ?? NONE;
  const moved = (counted: CountedLicenses, what: string) =>
    judgeShare('board_changed', counted, before, config.GUARD_MAX_BOARD_CHANGED_PERCENT, {
      ...{ board, least: LEAST, says: { what } },
    });
  return [
    moved(removed, 'were removed or have another number'),
    moved(added, 'are new or have another number'),
  ];
}

function columnsChanged(compared: GuardedComparison, board: string, config: Config): Judgement[] {
  const { columns, removed } = compared.differences.get(board) ?? NONE;
  const before = (compared.before.get(board)?.licenses ?? 0) - removed.count;
  const changed = [...columns].map(([column, { changed }]) => ({ column, changed }));
  const counted = changed.length > 0 ? changed : [{ column: null, changed: NO_LICENSES }];
  return counted.map(({ column, changed }) =>
    judgeShare('column_changed', changed, before, config.GUARD_MAX_COLUMN_CHANGED_PERCENT, {
      ...{ board, column, least: LEAST },
    }),
  );
}

/** Places that become blank are no reason to refuse. */
function columnsBlank(compared: GuardedComparison, board: string, config: Config): Judgement[] {
  const before = profileOf(compared.before, board);
  const now = profileOf(compared.now, board);
  if (now.licenses === 0) return [];
  const columns = [...before.filled.keys()].filter((column) => !compared.goneColumns.has(column));
  return columns.map((column) => {
    const [was, is] = [blankIn(before, column), blankIn(now, column)];
    const points = percent(is, now.licenses) - percent(was, before.licenses);
    return judge('column_blank', Math.max(0, points), config.GUARD_MAX_COLUMN_BLANK_POINTS, {
      ...{ board, column, before: was, now: is },
      isTooFew: isPlaceColumn(column) || is - was < LEAST,
      examples: compared.differences.get(board)?.columns.get(column)?.blank.examples ?? [],
      says: { licenses: now.licenses, earlier: before.licenses },
    });
  });
}

function statusImproved(compared: GuardedComparison, board: string, config: Config): Judgement[] {
  const { worse } = profileOf(compared.before, board);
  return WORSE_COLUMNS.filter((column) => !compared.goneColumns.has(column)).map((column) => {
    const { least, setting, what } = IMPROVEMENTS[column];
    const counted = compared.improved.get(`${board} ${column}`) ?? NO_LICENSES;
    return judgeShare('status_improved', counted, worse.get(column) ?? 0, config[setting], {
      ...{ board, column, least, says: { what, setting } },
    });
  });
}

/** Of each guard and board, all that went over the limit and the one that came closest. */
function worthKeeping(judgements: readonly Judgement[]): Judgement[] {
  const groups = Map.groupBy(judgements, ({ check, board }) => `${check} ${board}`);
  return [...groups.values()].flatMap((group) => {
    const over = group.filter(({ measured, limit }) => measured > limit);
    const under = group.filter(({ measured, limit }) => measured <= limit);
    const [closest] = under.toSorted((one, other) => other.measured - one.measured);
    return closest === undefined ? over : [...over, closest];
  });
}

const LISTED = 5;

function largest(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].toSorted(([, one], [, other]) => other - one);
  const listed = sorted.slice(0, LISTED).map(([name, count]) => `${name} ${count}`);
  return sorted.length > LISTED
    ? `${listed.join(', ')} and ${sorted.length - LISTED} more`
    : listed.join(', ');
}
