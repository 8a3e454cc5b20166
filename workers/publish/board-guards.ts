import { type ChangeCause, changedFields } from '../../src/changes/change.ts';
import {
  BoardDifferences,
  type ColumnChange,
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
  const release = new CountedLicenses();
  const changed = { licenses: 0, boards: new Map<string, number>(), columns: new Map<string, number>() };
  let otherRows = 0;

  function noteImproved(old: Compared, now: Compared): void {
    for (const column of WORSE_COLUMNS) {
      if (!WORSE[column](old) || WORSE[column](now)) continue;
      const key = `${nameOf(boardOf(now))} ${column}`;
      const known = improved.get(key) ?? new CountedLicenses();
      improved.set(key, known);
      known.add(now.license_number, { column, before: VALUE_OF[column](old), after: VALUE_OF[column](now) });
    }
  }

  return {
    ...{ now, before, improved, release, changed, goneColumns },
    differences: counter.boards,
    /** How many licenses have the same row in both. */
    sameRows: (): number => {
      const all = sum([...before.values()].map(({ licenses }) => licenses));
      return all - otherRows - sum([...counter.boards.values()].map(({ removed }) => removed.count));
    },
    add(license: DifferingLicense, cause: ChangeCause): void {
      const { before: old, after } = license;
      if (cause === 'release') {
        noteRelease(release, license);
        return;
      }
      if (old !== undefined) addLicense(profileOf(before, nameOf(boardOf(old))), old, 1);
      if (after !== undefined) addLicense(profileOf(before, nameOf(boardOf(after))), after, -1);
      if (cause !== 'data') return;
      const columns = counter.add(license).filter(({ column }) => !acceptedColumns.has(column));
      if (old !== undefined && after !== undefined) {
        otherRows += 1;
        noteImproved(old, after);
      }
      if (old === undefined || (after !== undefined && columns.length === 0)) return;
      changed.licenses += 1;
      addTo(changed.boards, boardOf(old));
      for (const { column } of columns) addTo(changed.columns, column);
    },
  };
}

/** The hashes of another version may differ where the records are the same. */
function noteRelease(release: CountedLicenses, { before, after }: DifferingLicense): void {
  if (after !== undefined && Object.keys(changedFields(before, after)).length > 0)
    release.add(after.license_number);
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

type Compared = NonNullable<DifferingLicense['before']>;

const VALUE_OF = {
  STATUS: ({ status }: Compared) => status,
  SUB_STATUS: subStatusOf,
  BOARD_ACTION: (license: Compared) => boardAction(license) || null,
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
  const judgements = [manyChanges(compared, config), releaseChanges(compared, config)];
  const notes: string[] = [];
  for (const board of new Set([...compared.before.keys(), ...compared.now.keys()])) {
    const count = compared.before.get(board)?.licenses ?? 0;
    if (count === 0) {
      notes.push(`${board} is new, with ${compared.now.get(board)?.licenses ?? 0} licenses.`);
      continue;
    }
    judgements.push(
      ...boardChanged(compared, board, config),
      ...columnsChanged(compared, board, config),
      ...statusImproved(compared, board, config),
    );
    const blank = columnsBlank(compared, board, config);
    judgements.push(...blank);
    notes.push(...blank.filter(({ passed, measured, limit }) => passed && measured > limit).map(withheld));
  }
  return { judgements: worthKeeping(judgements), notes };
}

function withheld({ board, column, before = 0, now = 0 }: Judgement): string {
  return `${board} has ${column} blank in ${now} licenses, before in ${before}: the State may withhold it.`;
}

function manyChanges({ changed, before }: GuardedComparison, config: Config): Judgement {
  const all = sum([...before.values()].map(({ licenses }) => licenses));
  const { licenses: count, boards, columns } = changed;
  return judgeShare('many_changes', { count }, all, config.GUARD_MAX_CHANGED_PERCENT, {
    says: { boards: largest(boards), columns: largest(columns) },
  });
}

function releaseChanges({ release, sameRows }: GuardedComparison, config: Config): Judgement {
  return judgeShare('release_changes', release, sameRows(), config.GUARD_MAX_RELEASE_CHANGES_PERCENT);
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
