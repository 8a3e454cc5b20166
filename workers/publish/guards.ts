import { isPlaceColumn } from '../../src/changes/compare.ts';
import type { Config } from '../../src/config.ts';
import type { DatasetFile } from '../../src/dataset/columns.ts';
import { BOARDS } from '../../src/licenses/boards.ts';
import { daysBetween } from '../../src/licenses/dates.ts';
import type { PublicationSummary } from '../../src/publications/history.ts';
import type { DisciplineCounts, PublicationCounts } from '../../src/publications/metadata.ts';
import { type Judgement, judge, judgeShare, percent, sum } from './judgement.ts';
import { byCurrentName } from './profile.ts';
import type { Baseline } from './run.ts';
import type { SourceFile } from './sources.ts';
import type { Tally, tallySummary } from './tally.ts';

/** The two files before anything of them is loaded. */
export interface CandidateFiles {
  readonly sources: Readonly<Record<DatasetFile, Pick<SourceFile, 'runDate' | 'sha256'>>>;
  /** The publication's date. */
  readonly date: string;
  /** The date in Ohio. */
  readonly today: string;
}

/** What loading the two files gave. */
export type CandidateLicenses = Pick<Tally, 'duplicates' | 'unknownRows' | 'unknownBoardActions' | 'cutOff'> &
  Pick<ReturnType<typeof tallySummary>, 'counts' | 'boards' | 'discipline'>;

/** The State's files may be of the next day already, as where their clock is not Ohio's. */
const MAX_DAYS_AHEAD = 1;

function isAhead(date: string, today: string): boolean {
  return daysBetween(today, date) > MAX_DAYS_AHEAD;
}

/**
 * Whether the files should be loaded. Where there is a threshold, the sentence of a guard names the setting.
 *
 * @param rolledBack the publications that were rolled back
 */
export function guardFiles(
  { date, today, sources: { individual, business } }: CandidateFiles,
  baseline: Baseline,
  rolledBack: readonly PublicationSummary[],
  { GUARD_MAX_DAYS_OLDER: most }: Config,
): Judgement[] {
  // A date that was forced although it had not come yet must not keep the next files out.
  const before = baseline !== undefined && !isAhead(baseline.date, today) ? baseline.date : date;
  const daysOlder = daysBetween(date, before);
  const same = rolledBack.find(
    (each) => each.sha256?.individual === individual.sha256 && each.sha256.business === business.sha256,
  );
  const daysApart = daysBetween(individual.runDate ?? date, business.runDate ?? individual.runDate ?? date);
  const older = `${daysOlder} ${daysOlder === 1 ? 'day' : 'days'}`;
  return [
    judge('dates_differ', individual.runDate === undefined ? 0 : Math.abs(daysApart), 0, {
      says: { individual: individual.runDate, business: business.runDate },
    }),
    judge('future', daysBetween(today, date), MAX_DAYS_AHEAD, { says: { date, today } }),
    judge('older', daysOlder, most, { says: { date, older, than: before } }),
    judge('rolled_back', same === undefined ? 0 : 1, 0, { says: { publication: same?.publication } }),
  ];
}

/**
 * Whether what was loaded should go live, as `guardFiles`.
 *
 * @param goneColumns what these said is not compared
 */
export function guardLicenses(
  loaded: CandidateLicenses,
  baseline: Baseline,
  config: Config,
  goneColumns: readonly FileColumn[] = [],
): Judgement[] {
  const { counts, unknownRows, cutOff } = loaded;
  const { GUARD_MAX_REJECTED_PERCENT, GUARD_MAX_UNKNOWN_PERCENT } = config;
  const { rows } = counts;
  return [
    ...[...cutOff].map((file) => judge('truncated', 1, 0, { says: { file } })),
    ...(baseline?.counts === undefined ? [] : fewerRows(loaded, baseline.counts, baseline.boards, config)),
    judge('rejected', percent(counts.rejected, rows), GUARD_MAX_REJECTED_PERCENT, {
      says: { count: counts.rejected, rows },
    }),
    tooManyDuplicates(loaded, config),
    judge('unknown_labels', percent(unknownRows, rows), GUARD_MAX_UNKNOWN_PERCENT, {
      says: { count: unknownRows, rows },
    }),
    unknownBoardActions(loaded, config),
    ...(baseline?.discipline === undefined
      ? []
      : lessDiscipline(loaded.discipline, baseline.discipline, namesOf(goneColumns), config)),
    ...goneColumns.map(({ file, column }) =>
      judge('column_gone', 1, 0, { column, isTooFew: isPlaceColumn(column), says: { file } }),
    ),
  ];
}

/** A column that the live publication's files have and these do not. */
export interface FileColumn {
  readonly file: DatasetFile;
  readonly column: string;
}

export function namesOf(columns: readonly FileColumn[]): ReadonlySet<string> {
  return new Set(columns.map(({ column }) => column));
}

/** Also asked while the files are loaded: a file that has everything twice must not be read to its end. */
export function tooManyDuplicates(
  { duplicates }: Pick<CandidateLicenses, 'duplicates'>,
  { GUARD_MAX_DUPLICATES: most }: Config,
): Judgement {
  return judge('duplicates', duplicates, most, { says: { count: duplicates } });
}

/** Fewer licenses than the live publication has, in all and at one board. */
function fewerRows(
  { counts: { licenses }, boards }: CandidateLicenses,
  before: PublicationCounts,
  boardsBefore: Readonly<Record<string, number>> = {},
  { GUARD_MIN_ROWS_PERCENT: least, GUARD_BOARD_ROWS_FEWER: fewer }: Config,
): Judgement[] {
  const order = BOARDS.map(({ name }) => name);
  const [limit, says] = [100 - least, { least, fewer }];
  const now = byCurrentName(boards);
  return [
    judgeShare('fewer_rows', { count: before.licenses - licenses }, before.licenses, limit, { says }),
    ...[...byCurrentName(boardsBefore)]
      .toSorted(([one], [other]) => order.indexOf(one) - order.indexOf(other))
      .map(([board, of]) => {
        const details = { board, least: fewer + 1, says };
        return judgeShare('fewer_rows_at_board', { count: of - (now.get(board) ?? 0) }, of, limit, details);
      }),
  ];
}

/** Fewer are the everyday changes of a few licenses. */
const LEAST_FEWER = 3;
/** The same for one sub-status or board, where the numbers are small. */
const LEAST_FEWER_OF_PART = 10;

function unknownBoardActions(
  { unknownBoardActions: unknown, discipline }: CandidateLicenses,
  { GUARD_MAX_UNKNOWN_PERCENT: limit }: Config,
): Judgement {
  return judge('unknown_board_actions', percent(unknown, unknown + discipline.board_actions), limit, {
    column: 'BOARD_ACTION',
    isTooFew: unknown < LEAST_FEWER,
    says: { count: unknown, known: discipline.board_actions },
  });
}

/** Licenses that lose the mark of discipline would look as if nothing had happened. */
function lessDiscipline(
  now: DisciplineCounts,
  before: DisciplineCounts,
  gone: ReadonlySet<string>,
  { GUARD_MAX_DISCIPLINE_DROP_PERCENT: limit }: Config,
): Judgement[] {
  const fewer = (
    what: string,
    [left = 0, of]: readonly [left: number | undefined, of: number],
    least = LEAST_FEWER_OF_PART,
    board: string | null = null,
  ) => {
    const check = what === ACTIONS ? 'fewer_board_actions' : 'fewer_disciplined';
    return judgeShare(check, { count: of - left }, of, limit, { board, least, says: { what } });
  };
  const subStatuses = new Map(Object.entries(now.sub_statuses));
  const [boards, boardsBefore] = [byCurrentName(now.boards), byCurrentName(before.boards)];
  const [all, allBefore] = [sum(subStatuses.values()), sum(Object.values(before.sub_statuses))];
  const [hasActions, hasSubStatuses] = [!gone.has('BOARD_ACTION'), !gone.has('SUB_STATUS')];
  return [
    ...(hasActions ? [fewer(ACTIONS, [now.board_actions, before.board_actions], LEAST_FEWER)] : []),
    ...(hasSubStatuses ? [fewer('have a disciplinary sub-status', [all, allBefore], LEAST_FEWER)] : []),
    ...Object.entries(hasSubStatuses ? before.sub_statuses : {}).map(([name, count]) =>
      fewer(`have the sub-status ${name}`, [subStatuses.get(name), count]),
    ),
    ...[...(hasActions && hasSubStatuses ? boardsBefore : [])].map(([board, count]) => {
      const what = `of the board "${board}" tell of discipline`;
      return fewer(what, [boards.get(board), count], LEAST_FEWER_OF_PART, board);
    }),
  ];
}

const ACTIONS = 'have Board Action Yes';
