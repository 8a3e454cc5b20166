import { isPlaceColumn } from '../../src/changes/compare.ts';
import type { Config } from '../../src/config.ts';
import type { DatasetFile } from '../../src/dataset/columns.ts';
import { BOARDS } from '../../src/licenses/boards.ts';
import { daysBetween } from '../../src/licenses/dates.ts';
import type { PublicationSummary } from '../../src/publications/history.ts';
import type { DisciplineCounts, PublicationCounts } from '../../src/publications/metadata.ts';
import { type Judgement, judge } from './judgement.ts';
import type { Baseline } from './run.ts';
import type { SourceFile } from './sources.ts';
import type { Tally } from './tally.ts';

/** The two files before anything of them is loaded. */
export interface CandidateFiles {
  readonly sources: Readonly<Record<DatasetFile, Pick<SourceFile, 'runDate' | 'sha256'>>>;
  /** The publication's date. */
  readonly date: string;
  /** The date in Ohio. */
  readonly today: string;
}

/** What loading the two files gave. */
export type CandidateLicenses = Pick<
  Tally,
  'counts' | 'boards' | 'duplicates' | 'unknownRows' | 'unknownBoardActions' | 'discipline' | 'cutOff'
>;

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
  return [
    judge('dates_differ', individual.runDate === undefined ? 0 : Math.abs(daysApart), 0, {
      sentence: `The individual file is of ${individual.runDate}, the business file of ${business.runDate}.`,
    }),
    judge('future', Math.max(0, daysBetween(today, date)), MAX_DAYS_AHEAD, {
      sentence: `The files are of ${date}, but today is ${today} in Ohio.`,
    }),
    judge('older', Math.max(0, daysOlder), most, {
      sentence:
        `The files are of ${date}, ${daysOlder} ${daysOlder === 1 ? 'day' : 'days'} older than the live publication of ` +
        `${before} (GUARD_MAX_DAYS_OLDER=${most}).`,
    }),
    judge('rolled_back', same === undefined ? 0 : 1, 0, {
      sentence: `Publication ${same?.publication} had the same files and was rolled back.`,
    }),
  ];
}

/**
 * Whether what was loaded should go live, as `guardFiles`.
 *
 * @param goneColumns the columns that the live publication's files have and these do not, such as
 * `business.SUB_CATEGORY`: what they said is not compared
 */
export function guardLicenses(
  loaded: CandidateLicenses,
  baseline: Baseline,
  config: Config,
  goneColumns: readonly string[] = [],
): Judgement[] {
  const { counts, unknownRows, cutOff } = loaded;
  const { GUARD_MAX_REJECTED_PERCENT, GUARD_MAX_UNKNOWN_PERCENT } = config;
  return [
    ...[...cutOff].map((file) =>
      judge('truncated', 1, 0, {
        sentence: `The ${file} file ends inside a row; it was cut off on its way.`,
      }),
    ),
    ...(baseline?.counts === undefined ? [] : fewerRows(loaded, baseline.counts, baseline.boards, config)),
    judge('rejected', percent(counts.rejected, counts.rows), GUARD_MAX_REJECTED_PERCENT, {
      sentence:
        `${counts.rejected} of ${counts.rows} rows were rejected, more than ` +
        `${GUARD_MAX_REJECTED_PERCENT} % (GUARD_MAX_REJECTED_PERCENT).`,
    }),
    tooManyDuplicates(loaded, config),
    judge('unknown_labels', percent(unknownRows, counts.rows), GUARD_MAX_UNKNOWN_PERCENT, {
      sentence:
        `${unknownRows} of ${counts.rows} rows have a board or status that is not in the ` +
        `catalog, more than ${GUARD_MAX_UNKNOWN_PERCENT} % (GUARD_MAX_UNKNOWN_PERCENT).`,
    }),
    unknownBoardActions(loaded, config),
    ...(baseline?.discipline === undefined
      ? []
      : lessDiscipline(loaded.discipline, baseline.discipline, new Set(goneColumns.map(nameOf)), config)),
    ...goneColumns.map((each) => {
      const column = nameOf(each);
      return judge('column_gone', 1, 0, {
        column,
        isTooFew: isPlaceColumn(column),
        sentence: `The ${each.slice(0, each.indexOf('.'))} file has no column ${column} any more.`,
      });
    }),
  ];
}

/** The name of a column of one of the files. */
export function nameOf(column: string): string {
  return column.slice(column.indexOf('.') + 1);
}

/** Also asked while the files are loaded: a file that has everything twice must not be read to its end. */
export function tooManyDuplicates(
  { duplicates }: Pick<CandidateLicenses, 'duplicates'>,
  { GUARD_MAX_DUPLICATES: most }: Config,
): Judgement {
  return judge('duplicates', duplicates, most, {
    sentence: `${duplicates} numbers are duplicated within a board, more than ${most} (GUARD_MAX_DUPLICATES).`,
  });
}

/** Fewer licenses than the live publication has, in all and at one board. */
function fewerRows(
  { counts: { licenses }, boards: now }: CandidateLicenses,
  before: PublicationCounts,
  boards: Readonly<Record<string, number>> = {},
  { GUARD_MIN_ROWS_PERCENT: least, GUARD_BOARD_ROWS_FEWER: fewer }: Config,
): Judgement[] {
  const order = BOARDS.map(({ name }) => name);
  return [
    judge('fewer_rows', percentFewer(licenses, before.licenses), 100 - least, {
      ...{ before: before.licenses, now: licenses },
      sentence:
        `${licenses} rows give a license, the live publication has ${before.licenses}; fewer than ` +
        `${least} % (GUARD_MIN_ROWS_PERCENT).`,
    }),
    ...Object.entries(boards)
      .toSorted(([one], [other]) => order.indexOf(one) - order.indexOf(other))
      .map(([board, count]) => {
        const left = now.get(board) ?? 0;
        return judge('fewer_rows_at_board', percentFewer(left, count), 100 - least, {
          ...{ board, before: count, now: left },
          isTooFew: count - left <= fewer,
          sentence:
            `${board} has ${left} licenses, in the live publication ${count}; fewer than ` +
            `${least} % (GUARD_MIN_ROWS_PERCENT) and more than ${fewer} fewer (GUARD_BOARD_ROWS_FEWER).`,
        });
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
  return judge('unknown_board_actions', percent(unknown, unknown + discipline.boardActions), limit, {
    column: 'BOARD_ACTION',
    isTooFew: unknown < LEAST_FEWER,
    sentence:
      `${unknown} licenses have a Board Action other than Yes, No and blank, ${discipline.boardActions} have Yes; ` +
      `more than ${limit} % of both (GUARD_MAX_UNKNOWN_PERCENT).`,
  });
}

/** Licenses that lose the mark of discipline would look as if nothing had happened. */
function lessDiscipline(
  now: Tally['discipline'],
  before: DisciplineCounts,
  gone: ReadonlySet<string>,
  { GUARD_MAX_DISCIPLINE_DROP_PERCENT: limit }: Config,
): Judgement[] {
  const fewer = (
    check: 'fewer_board_actions' | 'fewer_disciplined',
    what: string,
    { left, count, least = LEAST_FEWER_OF_PART, board = null }: Fewer,
  ) =>
    judge(check, percentFewer(left, count), limit, {
      ...{ board, before: count, now: left },
      isTooFew: count - left < least,
      sentence:
        `${left} licenses ${what}, in the live publication ${count}; more than ${limit} % fewer ` +
        '(GUARD_MAX_DISCIPLINE_DROP_PERCENT).',
    });
  const acted = { left: now.boardActions, count: before.board_actions, least: LEAST_FEWER };
  const withSubStatus = {
    left: sum(now.subStatuses.values()),
    count: sum(Object.values(before.sub_statuses)),
    least: LEAST_FEWER,
  };
  const hasActions = !gone.has('BOARD_ACTION');
  const hasSubStatuses = !gone.has('SUB_STATUS');
  return [
    ...(hasActions ? [fewer('fewer_board_actions', 'have Board Action Yes', acted)] : []),
    ...(hasSubStatuses
      ? [
          fewer('fewer_disciplined', 'have a disciplinary sub-status', withSubStatus),
          ...Object.entries(before.sub_statuses).map(([name, count]) => {
            const left = now.subStatuses.get(name) ?? 0;
            return fewer('fewer_disciplined', `have the sub-status ${name}`, { left, count });
          }),
        ]
      : []),
    ...(hasActions && hasSubStatuses
      ? Object.entries(before.boards).map(([board, count]) => {
          const left = now.boards.get(board) ?? 0;
          return fewer('fewer_disciplined', `of the board "${board}" tell of discipline`, {
            ...{ left, count, board },
          });
        })
      : []),
  ];
}

interface Fewer {
  readonly left: number;
  readonly count: number;
  readonly least?: number;
  readonly board?: string | null;
}

function sum(counts: Iterable<number>): number {
  return [...counts].reduce((total, count) => total + count, 0);
}

function percent(part: number, of: number): number {
  return of === 0 ? 0 : (100 * part) / of;
}

function percentFewer(left: number, before: number): number {
  return Math.max(0, percent(before - left, before));
}
