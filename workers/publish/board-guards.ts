import type { ChangeCause } from '../../src/changes/change.ts';
import {
  BoardDifferences,
  type ColumnChange,
  type ComparedLicense,
  CountedLicenses,
  type DifferingLicense,
  differenceCounter,
  isPlaceColumn,
} from '../../src/changes/compare.ts';
import type { Config } from '../../src/config.ts';
import { currentBoardName } from '../../src/licenses/boards.ts';
import { addTo, valueAt } from '../../src/licenses/counts.ts';
import { byCurrentName } from '../../src/publications/license-types.ts';
import { namesOf } from './guards.ts';
import { type Judgement, judge, judgeShare, percent, sum } from './judgement.ts';
import type { Prepared } from './prepare.ts';
import {
  type BoardLicenses,
  BoardProfile,
  isInRenewal,
  LEAST,
  PARTS,
  type Part,
  partOf,
  WORSE,
} from './profile.ts';
import type { PublishRun } from './run.ts';

/** A group of licenses that are judged together: a board, all small boards, or a part of a board. */
type Population = ReturnType<typeof newPopulation>;

/** @param whole for a part of a board: the name of the population that contains the part */
function newPopulation(name: string, whole?: string) {
  return {
    ...{ name, whole, now: new BoardProfile() },
    /** The profile of the same licenses in the live publication. Licenses that do not differ are counted as loaded. */
    before: new BoardProfile(),
    differences: new BoardDifferences(),
    /** Licenses that look better than in the live publication, by column. */
    improved: new Map<string, CountedLicenses>(),
  };
}

const NO_LICENSES = new CountedLicenses();

/** If a part has a larger share of its board than this, a problem in the part shows in the whole board as well. */
const MOST_OF_BOARD = 0.9;

/**
 * Counts the changes of a publication for the guards. Boards with few licenses are counted together. The persons,
 * businesses and endorsements of a board are also counted separately, because a few changes in one of these would not
 * be noticed in the whole board.
 *
 * @param loaded the loaded licenses, by board
 * @param boards the number of licenses in the live publication, by the board's label at that time
 */
export function guardedComparison(
  loaded: ReadonlyMap<string, BoardLicenses>,
  boards: Readonly<Record<string, number>>,
  { newColumns, goneColumns }: Pick<Prepared, 'newColumns' | 'goneColumns'>,
  { accepted, config }: Pick<PublishRun, 'accepted' | 'config'>,
) {
  const small = config.GUARD_SMALL_BOARD;
  const licensesBefore = byCurrentName(boards);
  const populations = new Map<string, Population>();
  const populationsOfParts = new Map<string, readonly Population[]>();

  const population = (name: string, whole?: string): Population =>
    valueAt(populations, name, () => newPopulation(name, whole));

  function populationsOf(board: string, part: Part): readonly Population[] {
    const name = `${board} (${part})`;
    return valueAt(populationsOfParts, name, () => {
      const isSmall = (licensesBefore.get(board) ?? small) < small;
      const whole = population(isSmall ? `Boards under ${small} licenses` : board);
      const licenses = loaded.get(board);
      const isMost = licenses !== undefined && licenses[part].licenses >= MOST_OF_BOARD * licenses.licenses;
      return isMost ? [whole] : [whole, population(name, whole.name)];
    });
  }

  const populationsWith = (license: ComparedLicense) =>
    populationsOf(currentBoardName(license.board), partOf(license));

  for (const [board, licenses] of loaded)
    for (const part of PARTS)
      for (const { now, before } of populationsOf(board, part)) {
        now.addAll(licenses[part]);
        before.addAll(licenses[part]);
      }

  const gone = namesOf(goneColumns);
  const counter = differenceCounter({
    groupsOf: (license) => populationsWith(license).map(({ differences }) => differences),
    isCounted: (change) => !newColumns.has(change.column) && !gone.has(change.column) && !isOrdinary(change),
  });
  const acceptsAll = (...checks: readonly string[]) =>
    accepted.some(({ check, column }) => column === undefined && checks.includes(check));
  const acceptsRemoved = acceptsAll('board_changed');
  const acceptsChanged = acceptsAll('column_changed', 'column_blank');
  const acceptedColumns = new Set(accepted.map(({ column }) => column));

  /** Licenses that this version of the service reads differently. */
  const release = new CountedLicenses();
  /** The number of licenses with the same row in both publications. */
  let sameRows = sum([...loaded.values()].map(({ licenses }) => licenses));
  /** The number of licenses that were removed, or changed in a column that counts and is not accepted. */
  let changed = 0;

  function add(license: DifferingLicense, cause: ChangeCause): void {
    const { before: old, after } = license;
    if (cause === 'release') {
      // Another version's hashes may differ although the records are the same.
      if (after !== undefined && Object.keys(license.fields).length > 0) release.add(after.license_number);
      return;
    }
    if (old !== undefined) for (const { before } of populationsWith(old)) before.add(old, 1);
    if (after !== undefined) {
      for (const { before } of populationsWith(after)) before.add(after, -1);
      sameRows -= 1;
    }
    if (cause !== 'data') return;
    const columns = counter.add(license);
    if (old === undefined) return;
    if (after !== undefined) noteImproved(old, after);
    const isCounted =
      after === undefined
        ? !acceptsRemoved
        : !acceptsChanged && columns.some(({ column }) => !acceptedColumns.has(column));
    if (isCounted) changed += 1;
  }

  function noteImproved(old: ComparedLicense, now: ComparedLicense): void {
    for (const { column, isWorse, value } of WORSE) {
      if (!isWorse(old) || isWorse(now)) continue;
      for (const { improved } of populationsWith(now)) {
        const counted = valueAt(improved, column, () => new CountedLicenses());
        counted.add(now.license_number, { column, before: value(old), after: value(now) });
      }
    }
  }

  /** Returns the guards' judgements of the changes, and a note for each new board and each withheld place. */
  function judged() {
    const all = [...populations.values()];
    const wholes = all.filter(({ whole }) => whole === undefined);
    const isNew = ({ before }: Population) => before.licenses === 0;
    const judgedAt = (each: Population) => BOARD_GUARDS.flatMap((guard) => guard(each, config, gone));
    const ofWholes = wholes.filter((each) => !isNew(each)).flatMap(judgedAt);
    // A problem reported for the whole board is not repeated for its parts.
    const said = new Set(
      ofWholes.filter(isOver).map(({ check, board, column }) => `${check} ${board} ${column}`),
    );
    const ofParts = all.flatMap((part) => {
      if (part.whole === undefined || part.before.licenses < Math.max(1, small)) return [];
      return judgedAt(part).filter(
        (each) => isOver(each) && !said.has(`${each.check} ${part.whole} ${each.column}`),
      );
    });
    const ofBoards = [...ofWholes, ...ofParts];
    const judgements = [
      manyChanges(wholes, changed, config),
      judgeShare('release_changes', release, sameRows, config.GUARD_MAX_RELEASE_CHANGES_PERCENT),
      ...ofBoards,
    ];
    const notes = [
      ...wholes.filter(isNew).map(({ name, now }) => `${name} is new, with ${now.licenses} licenses.`),
      ...ofBoards
        .filter((each) => each.check === 'column_blank' && each.passed && isOver(each))
        .map(withheld),
    ];
    return { judgements: worthKeeping(judgements), notes };
  }

  return { add, judged };
}

/** The columns of the license itself and of each of its endorsements and certifications. */
const SUB_STATUS = /(^|_)SUB_STATUS(_\d+)?$/;
const EXPIRATION_DATE = /(^|_)EXPIRATION_DATE(_\d+)?$/;

/** A renewal moves the expiry date by at most this many years. */
const RENEWAL_YEARS = 3;

/** Whether a change is ordinary: a renewal, or a place that the State withholds. */
function isOrdinary({ column, before, after }: ColumnChange): boolean {
  if (isPlaceColumn(column)) return after === null;
  if (SUB_STATUS.test(column)) return [before, after].some((each) => each !== null && isInRenewal(each));
  if (!EXPIRATION_DATE.test(column) || before === null || after === null || after < before) return false;
  const latest = `${Number(before.slice(0, 4)) + RENEWAL_YEARS}${before.slice(4)}`;
  return after <= latest;
}

const BOARD_GUARDS = [boardChanged, columnsChanged, columnsBlank, statusImproved];

/**
 * Whether a judgement is over its limit. A place column passes even if it is over the limit. The measured value is
 * rounded, so `passed` is checked as well.
 */
function isOver({ passed, measured, limit }: Judgement): boolean {
  return !passed || measured > limit;
}

function withheld({ board, column, before = 0, now = 0 }: Judgement): string {
  return `${board} has ${column} blank in ${now} licenses, before in ${before}: the State may withhold it.`;
}

function manyChanges(all: readonly Population[], count: number, config: Config): Judgement {
  const boards = new Map<string, number>();
  const columns = new Map<string, number>();
  for (const { name, differences } of all) {
    addTo(boards, name, differences.changed.count + differences.removed.count);
    for (const [column, each] of differences.columns)
      addTo(columns, column, each.changed.count + each.blank.count);
  }
  const before = sum(all.map((each) => each.before.licenses));
  return judgeShare('many_changes', { count }, before, config.GUARD_MAX_CHANGED_PERCENT, {
    says: { boards: largest(boards), columns: largest(columns) },
  });
}

function boardChanged({ name: board, before, differences }: Population, config: Config): Judgement[] {
  const moved = (counted: CountedLicenses, what: string) =>
    judgeShare('board_changed', counted, before.licenses, config.GUARD_MAX_BOARD_CHANGED_PERCENT, {
      ...{ board, least: LEAST, says: { what } },
    });
  return [
    moved(differences.removed, 'were removed or have another number'),
    moved(differences.added, 'are new or have another number'),
  ];
}

function columnsChanged(population: Population, config: Config, gone: ReadonlySet<string>): Judgement[] {
  const { name: board, now, before } = population;
  const { columns, removed } = population.differences;
  const stayed = before.licenses - removed.count;
  const limit = config.GUARD_MAX_COLUMN_CHANGED_PERCENT;
  if (columns.size === 0)
    return [judgeShare('column_changed', NO_LICENSES, stayed, limit, { board, least: LEAST })];
  const improved = statusImproved(population, config, gone).filter(({ passed }) => !passed);
  return [...columns].map(([column, differences]) => {
    const { changed } = differences;
    const common = judgeShare('column_changed', changed, stayed, limit, { board, column, least: LEAST });
    const isSaid = !common.passed || improved.some((each) => each.column === column);
    const isOne = now.isConstant(column);
    if (isSaid || limit === 100 || !(isOne || differences.areMoved())) return common;
    const of = isOne ? stayed : (before.filled.get(column)?.count ?? 0);
    const how = isOne ? 'all have the same value now' : 'the values are those of other licenses';
    const sentence = `${changed.count} of ${of} licenses of ${board} have another ${column}, and ${how}.`;
    const details = { board, column, least: isOne ? LEAST_ALIKE : LEAST, sentence };
    const misplaced = judgeShare('column_changed', changed, of, limit * MISPLACED_LIMIT, details);
    return misplaced.passed ? common : misplaced;
  });
}

/**
 * The share of the normal limit for misplaced values. If most licenses have the same value, only few differ when all
 * get that value or the column is shifted.
 */
const MISPLACED_LIMIT = 0.1;
/** If fewer licenses now have the value of all others, they may have been corrected. */
const LEAST_ALIKE = 10;

/** Judges columns that became blank. Blank places are no reason to refuse. */
function columnsBlank(population: Population, config: Config, gone: ReadonlySet<string>): Judgement[] {
  const { name: board, now, before, differences } = population;
  if (now.licenses === 0) return [];
  const limit = config.GUARD_MAX_COLUMN_BLANK_POINTS;
  const columns = [...before.filled.keys()].filter((column) => !gone.has(column));
  return columns.map((column) => {
    const [was, is] = [before.blankOrInRenewal(column), now.blankOrInRenewal(column)];
    const points = percent(is, now.licenses) - percent(was, before.licenses);
    const { count, examples } = differences.columns.get(column)?.blank ?? NO_LICENSES;
    const isPlace = isPlaceColumn(column);
    const had = before.licenses - was;
    // If few licenses had a value, the percentage hardly changes even when none has it any more.
    const isFew = limit < 100 && points <= limit && had >= LEAST && (isPlace || count >= LEAST);
    const isGone = isFew && is === now.licenses;
    return judge('column_blank', points, isGone ? 0 : limit, {
      ...{ board, column, before: was, now: is, examples },
      isTooFew: isPlace || (!isGone && is - was < LEAST),
      says: { licenses: now.licenses, earlier: before.licenses },
      ...(isGone && { sentence: `No license of ${board} has ${column} any more; ${had} had it.` }),
    });
  });
}

function statusImproved(population: Population, config: Config, gone: ReadonlySet<string>): Judgement[] {
  const { name: board, whole, before, improved } = population;
  return WORSE.filter(({ column }) => !gone.has(column)).map(({ column, what, setting, ...of }) => {
    const least = whole === undefined ? of.least : Math.max(LEAST, of.least);
    const counted = improved.get(column) ?? NO_LICENSES;
    return judgeShare('status_improved', counted, before.worse.get(column) ?? 0, config[setting], {
      ...{ board, column, least, says: { what, setting } },
    });
  });
}

/** Keeps, for each guard and board, every judgement over the limit and the one that came closest to it. */
function worthKeeping(judgements: readonly Judgement[]): Judgement[] {
  const groups = Map.groupBy(judgements, ({ check, board }) => `${check} ${board}`);
  return [...groups.values()].flatMap((group) => {
    const under = group.filter((each) => !isOver(each));
    const closest = under.toSorted((one, other) => other.measured - one.measured).slice(0, 1);
    return [...group.filter(isOver), ...closest];
  });
}

const LISTED = 5;

function largest(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].filter(([, count]) => count > 0).toSorted(([, one], [, other]) => other - one);
  const listed = sorted.slice(0, LISTED).map(([name, count]) => `${name} ${count}`);
  const more = sorted.length - listed.length;
  return listed.join(', ') + (more > 0 ? ` and ${more} more` : '');
}
