import type { Config } from '../../src/config.ts';
import type { DatasetFile } from '../../src/dataset/columns.ts';
import { BOARDS } from '../../src/licenses/boards.ts';
import { daysBetween } from '../../src/licenses/dates.ts';
import type { PublicationSummary } from '../../src/publications/history.ts';
import type {
  DisciplineCounts,
  PublicationCounts,
  PublicationMetadata,
} from '../../src/publications/metadata.ts';
import { refusal } from './refusal.ts';
import type { DisciplineTally } from './tally.ts';

/** The two files before anything of them is loaded. */
export interface CandidateFiles {
  /** The files' run dates, `YYYY-MM-DD`, where they have one. */
  readonly runDates: Readonly<Record<DatasetFile, string | undefined>>;
  /** The publication's date. */
  readonly date: string;
  /** The date in Ohio. */
  readonly today: string;
  readonly sha256: Readonly<Record<DatasetFile, string>>;
}

/** What loading the two files gave. */
export interface CandidateLicenses {
  readonly counts: PublicationCounts;
  readonly boards: ReadonlyMap<string, number>;
  readonly duplicates: number;
  readonly unknownRows: number;
  /** Licenses with a Board Action other than Yes, No and blank. */
  readonly unknownBoardActions: number;
  readonly discipline: DisciplineTally;
  readonly cutOff: ReadonlySet<DatasetFile>;
}

/** The publication that the guards compare with: the live one, unless it was generated. */
export type Baseline =
  | Pick<PublicationMetadata, 'publication' | 'date' | 'counts' | 'boards' | 'discipline'>
  | undefined;

/** The State's files may be of the next day already, as where their clock is not Ohio's. */
const MAX_DAYS_AHEAD = 1;

/**
 * Why the files should not be loaded. Each reason begins with its guard's name; where there is a threshold,
 * it names the setting.
 *
 * @param rolledBack the publications that were rolled back
 */
export function guardFiles(
  files: CandidateFiles,
  baseline: Baseline,
  rolledBack: readonly PublicationSummary[],
  config: Config,
): string[] {
  const reasons: string[] = [];
  const { today } = files;
  const { individual, business } = files.runDates;
  if (individual !== undefined && business !== undefined && individual !== business) {
    reasons.push(
      refusal('dates_differ', `The individual file is of ${individual}, the business file of ${business}.`),
    );
  }
  if (isAhead(files.date, today)) {
    reasons.push(refusal('future', `The files are of ${files.date}, but today is ${today} in Ohio.`));
  }
  // A date that was forced although it had not come yet must not keep the next files out.
  const isComparable = baseline !== undefined && !isAhead(baseline.date, today);
  const daysOlder = isComparable ? daysBetween(files.date, baseline.date) : 0;
  if (isComparable && daysOlder > config.GUARD_MAX_DAYS_OLDER) {
    reasons.push(
      refusal(
        'older',
        `The files are of ${files.date}, ${daysOlder} ${daysOlder === 1 ? 'day' : 'days'} older than the live publication of ` +
          `${baseline.date} (GUARD_MAX_DAYS_OLDER=${config.GUARD_MAX_DAYS_OLDER}).`,
      ),
    );
  }
  const same = rolledBack.find(
    ({ sha256 }) =>
      sha256?.individual === files.sha256.individual && sha256.business === files.sha256.business,
  );
  if (same !== undefined) {
    reasons.push(
      refusal('rolled_back', `Publication ${same.publication} had the same files and was rolled back.`),
    );
  }
  return reasons;
}

function isAhead(date: string, today: string): boolean {
  return daysBetween(today, date) > MAX_DAYS_AHEAD;
}

/** Why what was loaded should not go live, each reason as in `guardFiles`. */
export function guardLicenses(loaded: CandidateLicenses, baseline: Baseline, config: Config): string[] {
  const { counts, duplicates, unknownRows, cutOff } = loaded;
  const reasons = [...cutOff].map((file) =>
    refusal('truncated', `The ${file} file ends inside a row; it was cut off on its way.`),
  );
  if (baseline?.counts !== undefined) {
    reasons.push(...fewerRows(counts, baseline.counts, config));
    reasons.push(...fewerAtBoards(loaded.boards, baseline.boards ?? {}, config));
  }
  if (counts.rejected > share(config.GUARD_MAX_REJECTED_PERCENT, counts.rows)) {
    reasons.push(
      refusal(
        'rejected',
        `${counts.rejected} of ${counts.rows} rows were rejected, more than ` +
          `${config.GUARD_MAX_REJECTED_PERCENT} % (GUARD_MAX_REJECTED_PERCENT).`,
      ),
    );
  }
  if (duplicates > config.GUARD_MAX_DUPLICATES) {
    reasons.push(
      refusal(
        'duplicates',
        `${duplicates} numbers stand in an earlier row of their board too, more than ` +
          `${config.GUARD_MAX_DUPLICATES} (GUARD_MAX_DUPLICATES).`,
      ),
    );
  }
  if (unknownRows > share(config.GUARD_MAX_UNKNOWN_PERCENT, counts.rows)) {
    reasons.push(
      refusal(
        'unknown_labels',
        `${unknownRows} of ${counts.rows} rows have a board or status that is not in the ` +
          `catalog, more than ${config.GUARD_MAX_UNKNOWN_PERCENT} % (GUARD_MAX_UNKNOWN_PERCENT).`,
      ),
    );
  }
  reasons.push(...unknownBoardActions(loaded, config));
  if (baseline?.discipline !== undefined)
    reasons.push(...lessDiscipline(loaded.discipline, baseline.discipline, config));
  return reasons;
}

/** Fewer are the everyday changes of a few licenses. */
const LEAST_FEWER = 3;
/** The same for one sub-status or board, where the numbers are small. */
const LEAST_FEWER_OF_PART = 10;

function unknownBoardActions(
  { unknownBoardActions: unknown, discipline }: CandidateLicenses,
  config: Config,
): string[] {
  const stated = unknown + discipline.boardActions;
  if (unknown < LEAST_FEWER || unknown <= share(config.GUARD_MAX_UNKNOWN_PERCENT, stated)) return [];
  return [
    refusal(
      'unknown_board_actions',
      `${unknown} licenses have a Board Action other than Yes, No and blank, ${discipline.boardActions} have Yes; ` +
        `more than ${config.GUARD_MAX_UNKNOWN_PERCENT} % of both (GUARD_MAX_UNKNOWN_PERCENT).`,
    ),
  ];
}

/** Licenses that lose the mark of discipline would look as if nothing had happened. */
function lessDiscipline(now: DisciplineTally, before: DisciplineCounts, config: Config): string[] {
  const percent = config.GUARD_MAX_DISCIPLINE_DROP_PERCENT;
  const than = `more than ${percent} % fewer (GUARD_MAX_DISCIPLINE_DROP_PERCENT)`;
  const isLess = (left: number, count: number, least: number) =>
    count - left >= least && left < share(100 - percent, count);
  const fewer = (what: string, left: number, count: number, least = LEAST_FEWER_OF_PART) =>
    isLess(left, count, least)
      ? [refusal('fewer_disciplined', `${left} licenses ${what}, in the live publication ${count}; ${than}.`)]
      : [];
  const missing = now.missingColumns.filter((column) => !before.missing_columns.includes(column));
  return [
    ...missing.map((column) =>
      refusal('discipline_columns', `The column ${column} is missing; the live publication's file had it.`),
    ),
    ...(isLess(now.boardActions, before.board_actions, LEAST_FEWER)
      ? [
          refusal(
            'fewer_board_actions',
            `${now.boardActions} licenses have Board Action Yes, in the live publication ${before.board_actions}; ${than}.`,
          ),
        ]
      : []),
    ...fewer(
      'have a disciplinary sub-status',
      sum(now.subStatuses.values()),
      sum(Object.values(before.sub_statuses)),
      LEAST_FEWER,
    ),
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

function fewerRows(now: PublicationCounts, before: PublicationCounts, config: Config): string[] {
  const least = share(config.GUARD_MIN_ROWS_PERCENT, before.licenses);
  if (now.licenses >= least) return [];
  return [
    refusal(
      'fewer_rows',
      `${now.licenses} rows give a license, the live publication has ${before.licenses}; fewer than ` +
        `${config.GUARD_MIN_ROWS_PERCENT} % (GUARD_MIN_ROWS_PERCENT).`,
    ),
  ];
}

function fewerAtBoards(
  now: ReadonlyMap<string, number>,
  before: Readonly<Record<string, number>>,
  config: Config,
): string[] {
  const order = BOARDS.map(({ name }) => name);
  return Object.entries(before)
    .toSorted(([one], [other]) => order.indexOf(one) - order.indexOf(other))
    .flatMap(([board, count]) => {
      const left = now.get(board) ?? 0;
      const isFewer =
        left < share(config.GUARD_MIN_ROWS_PERCENT, count) && count - left > config.GUARD_BOARD_ROWS_FEWER;
      if (!isFewer) return [];
      return [
        refusal(
          'fewer_rows_at_board',
          `${board} has ${left} licenses, in the live publication ${count}; fewer than ` +
            `${config.GUARD_MIN_ROWS_PERCENT} % (GUARD_MIN_ROWS_PERCENT) and more than ` +
            `${config.GUARD_BOARD_ROWS_FEWER} fewer (GUARD_BOARD_ROWS_FEWER).`,
        ),
      ];
    });
}

/** The licenses that changed or were removed because the State's data says so. */
export interface ManyChanges {
  licenses: number;
  /** By the board's code. */
  readonly boards: Map<string, number>;
  /** By the field's name; of those compared before there were too many. */
  readonly fields: Map<string, number>;
}

const LISTED = 5;

/** Why a publication should not go live that changes so many licenses. */
export function changedTooMany(
  { licenses, boards, fields }: ManyChanges,
  baseline: Baseline,
  config: Config,
): string[] {
  const before = sum(Object.values(baseline?.boards ?? {}));
  if (baseline === undefined || licenses <= share(config.GUARD_MAX_CHANGED_PERCENT, before)) return [];
  return [
    refusal(
      'many_changes',
      `${licenses} of ${before} licenses changed or were removed, more than ${config.GUARD_MAX_CHANGED_PERCENT} % ` +
        `(GUARD_MAX_CHANGED_PERCENT). Boards: ${largest(boards)}. Fields of those compared: ${largest(fields)}.`,
    ),
  ];
}

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
