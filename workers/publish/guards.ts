import { isDeepStrictEqual } from 'node:util';
import { isPlaceColumn } from '../../src/changes/compare.ts';
import type { Config } from '../../src/config.ts';
import type { DatasetFile } from '../../src/dataset/columns.ts';
import { BOARDS } from '../../src/licenses/boards.ts';
import { daysBetween } from '../../src/licenses/dates.ts';
import type { PublicationSummary } from '../../src/publications/history.ts';
import { byCurrentName } from '../../src/publications/license-types.ts';
import { type DisciplineCounts, hashesOf, type PublicationCounts } from '../../src/publications/metadata.ts';
import { type Judgement, judge, judgeShare, percent, sum } from './judgement.ts';
import type { Baseline } from './run.ts';
import type { SourceFile } from './sources.ts';
import type { Tally } from './tally.ts';

/** The two files before they are loaded. */
export type CandidateFiles = Readonly<Record<DatasetFile, Pick<SourceFile, 'runDate' | 'sha256'>>>;

/** The result of loading the two files. */
export type CandidateLicenses = Pick<Tally, 'duplicates' | 'unknownRows' | 'unknownBoardActions' | 'cutOff'> &
  Pick<ReturnType<Tally['summary']>, 'counts' | 'boards' | 'discipline'>;

/** The State's files may already have the next day's date, if its clock is not on Ohio time. */
const MAX_DAYS_AHEAD = 1;

/**
 * Judges whether the files should be loaded. If a guard has a threshold, its sentence names the setting.
 *
 * @param dates the publication's date, and today's date in Ohio
 * @param rolledBack the publications that were rolled back
 */
export function guardFiles(
  { individual, business }: CandidateFiles,
  { date, today }: Readonly<Record<'date' | 'today', string>>,
  baseline: Baseline,
  rolledBack: readonly PublicationSummary[],
  { GUARD_MAX_DAYS_OLDER: most }: Config,
): Judgement[] {
  // A future date that was forced must not keep the next files out.
  const isPast = baseline !== undefined && daysBetween(today, baseline.date) <= MAX_DAYS_AHEAD;
  const before = isPast ? baseline.date : date;
  const daysOlder = daysBetween(date, before);
  const hashes = hashesOf({ individual, business });
  const same = rolledBack.find(({ sha256 }) => isDeepStrictEqual(sha256, hashes));
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
 * Judges whether the loaded licenses should go live, like `guardFiles`.
 *
 * @param goneColumns columns that the new files no longer have; their content is not compared
 */
export function guardLicenses(
  loaded: CandidateLicenses,
  baseline: Baseline,
  config: Config,
  goneColumns: readonly FileColumn[] = [],
): Judgement[] {
  const { counts, unknownRows, cutOff, duplicates, discipline, unknownBoardActions: unknown } = loaded;
  const { GUARD_MAX_REJECTED_PERCENT, GUARD_MAX_UNKNOWN_PERCENT: mostUnknown } = config;
  const { rows, rejected } = counts;
  const { board_actions: known } = discipline;
  return [
    ...[...cutOff].map((file) => judge('truncated', 1, 0, { says: { file } })),
    ...(baseline?.counts === undefined ? [] : fewerRows(loaded, baseline.counts, baseline.boards, config)),
    judge('rejected', percent(rejected, rows), GUARD_MAX_REJECTED_PERCENT, {
      says: { count: rejected, rows },
    }),
    tooManyDuplicates(duplicates, config),
    judge('unknown_labels', percent(unknownRows, rows), mostUnknown, { says: { count: unknownRows, rows } }),
    judge('unknown_board_actions', percent(unknown, unknown + known), mostUnknown, {
      ...{ column: 'BOARD_ACTION', isTooFew: unknown < LEAST_FEWER, says: { count: unknown, known } },
    }),
    ...(baseline?.discipline === undefined
      ? []
      : lessDiscipline(discipline, baseline.discipline, namesOf(goneColumns), config)),
    ...goneColumns.map(({ file, column }) =>
      judge('column_gone', 1, 0, { column, isTooFew: isPlaceColumn(column), says: { file } }),
    ),
  ];
}

/** A column that the live publication's files have and the new files lack. */
export interface FileColumn {
  readonly file: DatasetFile;
  readonly column: string;
}

export function namesOf(columns: readonly FileColumn[]): ReadonlySet<string> {
  return new Set(columns.map(({ column }) => column));
}

/**
 * Judges the number of duplicates. This also runs while the files are loaded: a file that contains everything twice
 * must not be read to its end.
 */
export function tooManyDuplicates(count: number, { GUARD_MAX_DUPLICATES: most }: Config): Judgement {
  return judge('duplicates', count, most, { says: { count } });
}

/** Judges whether there are fewer licenses than in the live publication, in total and by board. */
function fewerRows(
  { counts: { licenses }, boards }: CandidateLicenses,
  before: PublicationCounts,
  boardsBefore: Readonly<Record<string, number>> = {},
  { GUARD_MIN_ROWS_PERCENT: least, GUARD_BOARD_ROWS_FEWER: fewer }: Config,
): Judgement[] {
  const order = BOARDS.map(({ name }) => name);
  const [limit, says] = [100 - least, { least, fewer }];
  const now = byCurrentName(boards);
  const ofBoards = [...byCurrentName(boardsBefore)]
    .toSorted(([one], [other]) => order.indexOf(one) - order.indexOf(other))
    .map(([board, of]) => {
      const details = { board, least: fewer + 1, says };
      return judgeShare('fewer_rows_at_board', { count: of - (now.get(board) ?? 0) }, of, limit, details);
    });
  const count = before.licenses - licenses;
  return [judgeShare('fewer_rows', { count }, before.licenses, limit, { says }), ...ofBoards];
}

/** A drop of fewer licenses is an everyday change. */
const LEAST_FEWER = 3;
/** The same for a single sub-status or board, where the counts are small. */
const LEAST_FEWER_OF_PART = 10;

/**
 * Judges whether fewer licenses show discipline than before. Licenses that lost their mark of discipline would look
 * clean.
 */
function lessDiscipline(
  now: DisciplineCounts,
  before: DisciplineCounts,
  gone: ReadonlySet<string>,
  { GUARD_MAX_DISCIPLINE_DROP_PERCENT: limit }: Config,
): Judgement[] {
  const fewer = (what: string, left: number, of: number, least: number, board: string | null = null) => {
    const check = what === ACTIONS ? 'fewer_board_actions' : 'fewer_disciplined';
    return judgeShare(check, { count: of - left }, of, limit, { board, least, says: { what } });
  };
  const [subStatuses, boards] = [new Map(Object.entries(now.sub_statuses)), byCurrentName(now.boards)];
  const allBefore = sum(Object.values(before.sub_statuses));
  const ofSubStatuses = [
    fewer('have a disciplinary sub-status', sum(subStatuses.values()), allBefore, LEAST_FEWER),
    ...Object.entries(before.sub_statuses).map(([name, of]) =>
      fewer(`have the sub-status ${name}`, subStatuses.get(name) ?? 0, of, LEAST_FEWER_OF_PART),
    ),
  ];
  const ofBoards = [...byCurrentName(before.boards)].map(([board, of]) => {
    const what = `of the board "${board}" tell of discipline`;
    return fewer(what, boards.get(board) ?? 0, of, LEAST_FEWER_OF_PART, board);
  });
  const [hasActions, hasSubStatuses] = [!gone.has('BOARD_ACTION'), !gone.has('SUB_STATUS')];
  return [
    ...(hasActions ? [fewer(ACTIONS, now.board_actions, before.board_actions, LEAST_FEWER)] : []),
    ...(hasSubStatuses ? ofSubStatuses : []),
    ...(hasActions && hasSubStatuses ? ofBoards : []),
  ];
}

const ACTIONS = 'have Board Action Yes';
