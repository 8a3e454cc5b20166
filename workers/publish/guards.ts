import type { Config } from '../../src/config.ts';
import type { DatasetFile } from '../../src/dataset/columns.ts';
import { BOARDS } from '../../src/licenses/boards.ts';
import { daysBetween } from '../../src/licenses/dates.ts';
import type { PublicationSummary } from '../../src/publications/history.ts';
import type { PublicationCounts, PublicationMetadata } from '../../src/publications/metadata.ts';
import { refusal } from './refusal.ts';

/** The two files before anything of them is loaded. */
export interface CandidateFiles {
  /** The files' run dates, `YYYY-MM-DD`, where they have one. */
  readonly runDates: Readonly<Record<DatasetFile, string | undefined>>;
  /** The publication's date. */
  readonly date: string;
  readonly sha256: Readonly<Record<DatasetFile, string>>;
}

/** What loading the two files gave. */
export interface CandidateLicenses {
  readonly counts: PublicationCounts;
  readonly boards: ReadonlyMap<string, number>;
  readonly duplicates: number;
  readonly unknownRows: number;
  readonly cutOff: ReadonlySet<DatasetFile>;
}

/** The publication that the guards compare with: the live one, unless it was generated. */
export type Baseline = Pick<PublicationMetadata, 'publication' | 'date' | 'counts' | 'boards'> | undefined;

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
  const { individual, business } = files.runDates;
  if (individual !== undefined && business !== undefined && individual !== business) {
    reasons.push(
      refusal('dates_differ', `The individual file is of ${individual}, the business file of ${business}.`),
    );
  }
  const daysOlder = baseline === undefined ? 0 : daysBetween(files.date, baseline.date);
  if (baseline !== undefined && daysOlder > config.GUARD_MAX_DAYS_OLDER) {
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
  return reasons;
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
  const before = Object.values(baseline?.boards ?? {}).reduce((sum, count) => sum + count, 0);
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
