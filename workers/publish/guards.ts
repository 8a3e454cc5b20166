import type { Config } from '../../src/config.ts';
import type { DatasetFile } from '../../src/dataset/columns.ts';
import { BOARDS } from '../../src/licenses/boards.ts';
import { daysBetween } from '../../src/licenses/dates.ts';
import type { PublicationSummary } from '../../src/publications/history.ts';
import type { DisciplineCounts, PublicationCounts } from '../../src/publications/metadata.ts';
import { type Baseline, refusal, refusalIf } from './run.ts';
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
 * Why the files should not be loaded. Each reason begins with its guard's name; where there is a threshold,
 * it names the setting.
 *
 * @param rolledBack the publications that were rolled back
 */
export function guardFiles(
  { date, today, sources: { individual, business } }: CandidateFiles,
  baseline: Baseline,
  rolledBack: readonly PublicationSummary[],
  { GUARD_MAX_DAYS_OLDER: most }: Config,
): string[] {
  // A date that was forced although it had not come yet must not keep the next files out.
  const before = baseline !== undefined && !isAhead(baseline.date, today) ? baseline.date : date;
  const daysOlder = daysBetween(date, before);
  const same = rolledBack.find(
    (each) => each.sha256?.individual === individual.sha256 && each.sha256.business === business.sha256,
  );
  return [
    ...refusalIf(
      individual.runDate !== undefined &&
        business.runDate !== undefined &&
        individual.runDate !== business.runDate,
      'dates_differ',
      `The individual file is of ${individual.runDate}, the business file of ${business.runDate}.`,
    ),
    ...refusalIf(isAhead(date, today), 'future', `The files are of ${date}, but today is ${today} in Ohio.`),
    ...refusalIf(
      daysOlder > most,
      'older',
      `The files are of ${date}, ${daysOlder} ${daysOlder === 1 ? 'day' : 'days'} older than the live publication of ` +
        `${before} (GUARD_MAX_DAYS_OLDER=${most}).`,
    ),
    ...refusalIf(
      same !== undefined,
      'rolled_back',
      `Publication ${same?.publication} had the same files and was rolled back.`,
    ),
  ];
}

/** Why what was loaded should not go live, each reason as in `guardFiles`. */
export function guardLicenses(loaded: CandidateLicenses, baseline: Baseline, config: Config): string[] {
  const { counts, unknownRows, cutOff } = loaded;
  const { GUARD_MAX_REJECTED_PERCENT, GUARD_MAX_UNKNOWN_PERCENT } = config;
  return [
    ...[...cutOff].map((file) =>
      refusal('truncated', `The ${file} file ends inside a row; it was cut off on its way.`),
    ),
    ...(baseline?.counts === undefined ? [] : fewerRows(loaded, baseline.counts, baseline.boards, config)),
    ...refusalIf(
      counts.rejected > share(GUARD_MAX_REJECTED_PERCENT, counts.rows),
      'rejected',
      `${counts.rejected} of ${counts.rows} rows were rejected, more than ` +
        `${GUARD_MAX_REJECTED_PERCENT} % (GUARD_MAX_REJECTED_PERCENT).`,
    ),
    ...tooManyDuplicates(loaded, config),
    ...refusalIf(
      unknownRows > share(GUARD_MAX_UNKNOWN_PERCENT, counts.rows),
      'unknown_labels',
      `${unknownRows} of ${counts.rows} rows have a board or status that is not in the ` +
        `catalog, more than ${GUARD_MAX_UNKNOWN_PERCENT} % (GUARD_MAX_UNKNOWN_PERCENT).`,
    ),
    ...unknownBoardActions(loaded, config),
    ...(baseline?.discipline === undefined
      ? []
      : lessDiscipline(loaded.discipline, baseline.discipline, config)),
  ];
}

/** Also asked while the files are loaded: a file that has everything twice must not be read to its end. */
export function tooManyDuplicates(
  { duplicates }: Pick<CandidateLicenses, 'duplicates'>,
  { GUARD_MAX_DUPLICATES: most }: Config,
): string[] {
  return refusalIf(
    duplicates > most,
    'duplicates',
    `${duplicates} numbers are duplicated within a board, more than ${most} (GUARD_MAX_DUPLICATES).`,
  );
}

/** Fewer licenses than the live publication has, in all and at one board. */
function fewerRows(
  { counts: { licenses }, boards: now }: CandidateLicenses,
  before: PublicationCounts,
  boards: Readonly<Record<string, number>> = {},
  { GUARD_MIN_ROWS_PERCENT: percent, GUARD_BOARD_ROWS_FEWER: fewer }: Config,
): string[] {
  const order = BOARDS.map(({ name }) => name);
  return [
    ...refusalIf(
      licenses < share(percent, before.licenses),
      'fewer_rows',
      `${licenses} rows give a license, the live publication has ${before.licenses}; fewer than ` +
        `${percent} % (GUARD_MIN_ROWS_PERCENT).`,
    ),
    ...Object.entries(boards)
      .toSorted(([one], [other]) => order.indexOf(one) - order.indexOf(other))
      .flatMap(([board, count]) => {
        const left = now.get(board) ?? 0;
        return refusalIf(
          left < share(percent, count) && count - left > fewer,
          'fewer_rows_at_board',
          `${board} has ${left} licenses, in the live publication ${count}; fewer than ` +
            `${percent} % (GUARD_MIN_ROWS_PERCENT) and more than ${fewer} fewer (GUARD_BOARD_ROWS_FEWER).`,
        );
      }),
  ];
}

/** Fewer are the everyday changes of a few licenses. */
const LEAST_FEWER = 3;
/** The same for one sub-status or board, where the numbers are small. */
const LEAST_FEWER_OF_PART = 10;

function unknownBoardActions(
  { unknownBoardActions: unknown, discipline }: CandidateLicenses,
  { GUARD_MAX_UNKNOWN_PERCENT: percent }: Config,
): string[] {
  return refusalIf(
    unknown >= LEAST_FEWER && unknown > share(percent, unknown + discipline.boardActions),
    'unknown_board_actions',
    `${unknown} licenses have a Board Action other than Yes, No and blank, ${discipline.boardActions} have Yes; ` +
      `more than ${percent} % of both (GUARD_MAX_UNKNOWN_PERCENT).`,
  );
}

/** Licenses that lose the mark of discipline would look as if nothing had happened. */
function lessDiscipline(
  now: Tally['discipline'],
  before: DisciplineCounts,
  { GUARD_MAX_DISCIPLINE_DROP_PERCENT: percent }: Config,
): string[] {
  const isLess = (left: number, count: number, least: number) =>
    count - left >= least && left < share(100 - percent, count);
  const said = (what: string, left: number, count: number) =>
    `${left} licenses ${what}, in the live publication ${count}; more than ${percent} % fewer ` +
    '(GUARD_MAX_DISCIPLINE_DROP_PERCENT).';
  const fewer = (what: string, left: number, count: number, least = LEAST_FEWER_OF_PART) =>
    refusalIf(isLess(left, count, least), 'fewer_disciplined', said(what, left, count));
  const withSubStatus = sum(now.subStatuses.values());
  const withSubStatusBefore = sum(Object.values(before.sub_statuses));
  const { boardActions } = now;
  return [
    ...now.missingColumns.flatMap((column) =>
      refusalIf(
        !before.missing_columns.includes(column),
        'discipline_columns',
        `The column ${column} is missing; the live publication's file had it.`,
      ),
    ),
    ...refusalIf(
      isLess(boardActions, before.board_actions, LEAST_FEWER),
      'fewer_board_actions',
      said('have Board Action Yes', boardActions, before.board_actions),
    ),
    ...fewer('have a disciplinary sub-status', withSubStatus, withSubStatusBefore, LEAST_FEWER),
    ...Object.entries(before.sub_statuses).flatMap(([name, count]) =>
      fewer(`have the sub-status ${name}`, now.subStatuses.get(name) ?? 0, count),
    ),
    ...Object.entries(before.boards).flatMap(([board, count]) =>
      fewer(`of the board "${board}" tell of discipline`, now.boards.get(board) ?? 0, count),
    ),
  ];
}

function sum(counts: Iterable<number>): number {
  return [...counts].reduce((total, count) => total + count, 0);
}

/** The licenses that changed or were removed because the State's data says so. */
export interface ChangedLicenses {
  licenses: number;
  /** By the board's code. */
  readonly boards: Map<string, number>;
  /** By the field's name; of those compared before there were too many. */
  readonly fields: Map<string, number>;
}

/** Why a publication should not go live that changes so many licenses. */
export function guardChanges(
  { licenses, boards, fields }: ChangedLicenses,
  baseline: Baseline,
  { GUARD_MAX_CHANGED_PERCENT: percent }: Config,
): string[] {
  const before = sum(Object.values(baseline?.boards ?? {}));
  return refusalIf(
    baseline !== undefined && licenses > share(percent, before),
    'many_changes',
    `${licenses} of ${before} licenses changed or were removed, more than ${percent} % ` +
      `(GUARD_MAX_CHANGED_PERCENT). Boards: ${largest(boards)}. Fields of those compared: ${largest(fields)}.`,
  );
}

const LISTED = 5;

function largest(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].toSorted(([, one], [, other]) => other - one);
  const listed = sorted.slice(0, LISTED).map(([name, count]) => `${name} ${count}`);
  return sorted.length > LISTED
    ? `${listed.join(', ')} and ${sorted.length - LISTED} more`
    : listed.join(', ');
}

function share(percent: number, of: number): number {
  return (percent * of) / 100;
}
