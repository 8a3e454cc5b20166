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
import { addTo } from '../../src/licenses/counts.ts';
import { boardAction } from '../../src/licenses/standing.ts';
import { type Judgement, judge, judgeShare, percent, sum } from './judgement.ts';
import {
  addLicense,
  type BoardProfile,
  blankIn,
  boardOf,
  byCurrentName,
  filledIn,
  isInRenewal,
  type LoadedProfiles,
  PARTS,
  partName,
  partOf,
  profileOf,
  regrouped,
  WORSE,
  WORSE_COLUMNS,
  withParts,
} from './profile.ts';

/** What the guards by board and column must know before they compare. */
export interface CompareOptions {
  /** How many licenses the live publication has, by the label that the board had then. */
  readonly boards: Readonly<Record<string, number>>;
  /** The columns that the live publication's files did not have, and those that these files do not have. */
  readonly newColumns: ReadonlySet<string>;
  readonly goneColumns: ReadonlySet<string>;
  /** The columns in which the operator accepts changes, and the guards that may fail: these count in no other guard. */
  readonly acceptedColumns: ReadonlySet<string>;
  readonly acceptedChecks: ReadonlySet<string>;
}

const NONE = new BoardDifferences();
const NO_LICENSES = new CountedLicenses();

/** What goes wrong in a part of a board that is larger is noticed in the whole board. */
const MOST_OF_BOARD = 0.9;

export type GuardedComparison = ReturnType<typeof guardedComparison>;

/**
 * Counts what a publication changes, for the guards. Boards with few licenses are counted together. The persons,
 * businesses and endorsements of a board are counted once more, each alone: few among many others would not be noticed.
 *
 * @param loaded the licenses of the files
 */
export function guardedComparison(loaded: LoadedProfiles, options: CompareOptions, config: Config) {
  const { boards, newColumns, goneColumns, acceptedColumns, acceptedChecks } = options;
  const acceptsColumns = ['column_changed', 'column_blank'].some((each) => acceptedChecks.has(each));
  const small = config.GUARD_SMALL_BOARD;
  const isSmall = new Set(
    [...byCurrentName(boards)].flatMap(([board, count]) => (count < small ? [board] : [])),
  );
  const nameOf = (board: string) => (isSmall.has(board) ? `Boards under ${small} licenses` : board);
  const now = withParts(loaded, nameOf);
  /** The board of each part that is counted alone. */
  const parts = new Map<string, string>();
  const mostOfBoards = new Set<string>();
  for (const [board, { licenses }] of loaded.boards)
    for (const part of PARTS.map((each) => partName(board, each))) {
      if (profileOf(now, part).licenses < MOST_OF_BOARD * licenses) parts.set(part, nameOf(board));
      else if (now.delete(part)) mostOfBoards.add(part);
    }
  function groupsOf(license: ComparedLicense): string[] {
    const board = boardOf(license);
    const part = partName(board, partOf(license));
    if (mostOfBoards.has(part)) return [nameOf(board)];
    parts.set(part, nameOf(board));
    return [nameOf(board), part];
  }
  const counter = differenceCounter({
    groupsOf,
    isCounted: (change) =>
      !newColumns.has(change.column) && !goneColumns.has(change.column) && !isOrdinary(change),
  });
  /** The live publication's: what the differing licenses were, and the others as they are. */
  const before = regrouped(now, (group) => group);
  /** Licenses that look better than in the live publication, by board and column. */
  const improved = new Map<string, CountedLicenses>();
  const compared = {
    ...{ now, before, improved, parts, goneColumns, differences: counter.boards },
    /** Those that this version reads otherwise. */
    release: new CountedLicenses(),
    /** How many licenses have the same row in both. */
    sameRows: sum([...loaded.boards.values()].map(({ licenses }) => licenses)),
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
      if (old !== undefined) for (const group of groupsOf(old)) addLicense(profileOf(before, group), old, 1);
      if (after !== undefined)
        for (const group of groupsOf(after)) addLicense(profileOf(before, group), after, -1);
      if (after !== undefined) compared.sameRows -= 1;
      if (cause !== 'data') return;
      const columns = counter.add(license);
      if (old === undefined) return;
      if (after !== undefined) noteImproved(old, after);
      const isCounted =
        after === undefined
          ? !acceptedChecks.has('board_changed')
          : !acceptsColumns && columns.some(({ column }) => !acceptedColumns.has(column));
      if (isCounted) compared.changed += 1;
    },
  };

  function noteImproved(old: ComparedLicense, now: ComparedLicense): void {
    for (const column of WORSE_COLUMNS) {
      if (!WORSE[column](old) || WORSE[column](now)) continue;
      const change = { column, before: VALUE_OF[column](old), after: VALUE_OF[column](now) };
      for (const group of groupsOf(now)) {
        const key = `${group} ${column}`;
        const known = improved.get(key) ?? new CountedLicenses();
        improved.set(key, known);
        known.add(now.license_number, change);
      }
    }
  }

  return compared;
}

/** Of the license, and of each of its endorsements and certifications. */
const SUB_STATUS = /(^|_)SUB_STATUS(_\d+)?$/;
const EXPIRATION_DATE = /(^|_)EXPIRATION_DATE(_\d+)?$/;

/** A renewal moves the expiry date by at most this many years. */
const RENEWAL_YEARS = 3;

/** A renewal, or a place that the State withholds. */
function isOrdinary({ column, before, after }: ColumnChange): boolean {
  if (isPlaceColumn(column)) return after === null;
  if (SUB_STATUS.test(column)) return [before, after].some((each) => each !== null && isInRenewal(each));
  if (!EXPIRATION_DATE.test(column) || before === null || after === null || after < before) return false;
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
  const { now, release, sameRows } = compared;
  const countOf = (group: string) => compared.before.get(group)?.licenses ?? 0;
  const isNew = (board: string) => countOf(board) === 0;
  const judgedAt = (group: string) => BOARD_GUARDS.flatMap((guard) => guard(compared, group, config));
  const boards = boardsOf(compared);
  const ofWhole = boards.filter((board) => !isNew(board)).flatMap(judgedAt);
  // What is said of the whole board is not said of a part of it again.
  const said = new Set(
    ofWhole.filter(isOver).map(({ check, board, column }) => `${check} ${board} ${column}`),
  );
  const ofParts = [...compared.parts].flatMap(([part, board]) => {
    if (countOf(part) < Math.max(1, config.GUARD_SMALL_BOARD)) return [];
    return judgedAt(part).filter(
      (each) => isOver(each) && !said.has(`${each.check} ${board} ${each.column}`),
    );
  });
  const ofBoards = [...ofWhole, ...ofParts];
  const judgements = [
    manyChanges(compared, config),
    judgeShare('release_changes', release, sameRows, config.GUARD_MAX_RELEASE_CHANGES_PERCENT),
    ...ofBoards,
  ];
  const notes = [
    ...boards
      .filter(isNew)
      .map((board) => `${board} is new, with ${now.get(board)?.licenses ?? 0} licenses.`),
    ...ofBoards.filter((each) => each.check === 'column_blank' && each.passed && isOver(each)).map(withheld),
  ];
  return { judgements: worthKeeping(judgements), notes };
}

const BOARD_GUARDS = [boardChanged, columnsChanged, columnsBlank, statusImproved];

function boardsOf({ before, now, parts }: GuardedComparison): string[] {
  const all = [...new Set([...before.keys(), ...now.keys()])];
  return all.filter((group) => !parts.has(group));
}

/** A place is over the limit and passes nevertheless. What is measured is rounded. */
function isOver({ passed, measured, limit }: Judgement): boolean {
  return !passed || measured > limit;
}

function withheld({ board, column, before = 0, now = 0 }: Judgement): string {
  return `${board} has ${column} blank in ${now} licenses, before in ${before}: the State may withhold it.`;
}

function manyChanges(compared: GuardedComparison, config: Config): Judgement {
  const { changed, differences } = compared;
  const names = boardsOf(compared);
  const all = sum(names.map((board) => profileOf(compared.before, board).licenses));
  const boards = new Map<string, number>();
  const columns = new Map<string, number>();
  for (const board of names) {
    const { changed, removed, columns: ofBoard } = differences.get(board) ?? NONE;
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
  const limit = config.GUARD_MAX_COLUMN_CHANGED_PERCENT;
  const improved = statusImproved(compared, board, config).filter(({ passed }) => !passed);
  return counted.map(({ column, changed }) => {
    const judged = judgeShare('column_changed', changed, before, limit, { board, column, least: LEAST });
    const isSaid = !judged.passed || improved.some((each) => each.column === column);
    if (isSaid || column === null || limit === 100) return judged;
    const { licenses, filled } = profileOf(compared.now, board);
    const { count = 0, only = null } = filled.get(column) ?? {};
    const isOne = only !== null && count === licenses;
    if (!isOne && columns.get(column)?.areMoved() !== true) return judged;
    const of = isOne ? before : filledIn(profileOf(compared.before, board), column);
    const how = isOne ? 'all have the same value now' : 'the values are those of other licenses';
    const sentence = `${changed.count} of ${of} licenses of ${board} have another ${column}, and ${how}.`;
    const details = { board, column, least: isOne ? LEAST_ALIKE : LEAST, sentence };
    const misplaced = judgeShare('column_changed', changed, of, limit * MISPLACED_LIMIT, details);
    return misplaced.passed ? judged : misplaced;
  });
}

/** Where most licenses have the same value, few differ when all get it or when the column is shifted. */
const MISPLACED_LIMIT = 0.1;
/** Fewer that are now as all others may have been corrected. */
const LEAST_ALIKE = 10;

/** A renewal that closes makes `Active In Renewal` blank. */
function blankForGuard(profile: BoardProfile, column: string): number {
  return blankIn(profile, column) + (profile.inRenewal.get(column) ?? 0);
}

/** Places that become blank are no reason to refuse. */
function columnsBlank(compared: GuardedComparison, board: string, config: Config): Judgement[] {
  const before = profileOf(compared.before, board);
  const now = profileOf(compared.now, board);
  if (now.licenses === 0) return [];
  const limit = config.GUARD_MAX_COLUMN_BLANK_POINTS;
  const columns = [...before.filled.keys()].filter((column) => !compared.goneColumns.has(column));
  return columns.map((column) => {
    const [was, is] = [blankForGuard(before, column), blankForGuard(now, column)];
    const points = percent(is, now.licenses) - percent(was, before.licenses);
    const blank = compared.differences.get(board)?.columns.get(column)?.blank ?? NO_LICENSES;
    const isPlace = isPlaceColumn(column);
    const had = before.licenses - was;
    // Where few had a column, it is few points that none has it any more.
    const isGone =
      limit < 100 &&
      points <= limit &&
      is === now.licenses &&
      had >= LEAST &&
      (isPlace || blank.count >= LEAST);
    return judge('column_blank', Math.max(0, points), isGone ? 0 : limit, {
      ...{ board, column, before: was, now: is },
      isTooFew: isPlace || (!isGone && is - was < LEAST),
      examples: blank.examples,
      says: { licenses: now.licenses, earlier: before.licenses },
      ...(isGone && { sentence: `No license of ${board} has ${column} any more; ${had} had it.` }),
    });
  });
}

function statusImproved(compared: GuardedComparison, board: string, config: Config): Judgement[] {
  const { worse } = profileOf(compared.before, board);
  return WORSE_COLUMNS.filter((column) => !compared.goneColumns.has(column)).map((column) => {
    const { least: ofBoard, setting, what } = IMPROVEMENTS[column];
    const least = compared.parts.has(board) ? Math.max(LEAST, ofBoard) : ofBoard;
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
    const over = group.filter(isOver);
    const under = group.filter((each) => !isOver(each));
    const [closest] = under.toSorted((one, other) => other.measured - one.measured);
    return closest === undefined ? over : [...over, closest];
  });
}

const LISTED = 5;

function largest(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].filter(([, count]) => count > 0).toSorted(([, one], [, other]) => other - one);
  const listed = sorted.slice(0, LISTED).map(([name, count]) => `${name} ${count}`);
  return sorted.length > LISTED
    ? `${listed.join(', ')} and ${sorted.length - LISTED} more`
    : listed.join(', ');
}
