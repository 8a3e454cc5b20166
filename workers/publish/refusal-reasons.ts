interface Refusal {
  readonly meaning: string;
  /** What the operator does about it. */
  readonly remedy: string;
  /** Not even `--force` publishes the files. */
  readonly isFinal?: true;
}

const COUNTED = 'Ask the board. Force it if the State confirms the number.';

/** Why a publication is refused. docs/generated/refusals.md shows them to the operator. */
export const REFUSALS = {
  columns: {
    meaning:
      "A required column is missing, the header can't be read or has more than 1,000 columns, no row has as many cells as the header, or the two files are swapped or the same",
    remedy: 'Ask the State for a correct file.',
    isFinal: true,
  },
  no_rows: { meaning: 'A file is empty', remedy: 'Ask the State for a correct file.', isFinal: true },
  no_date: {
    meaning: 'The files have no run date, or another than `--date`',
    remedy: 'Give `--date` where they have none; otherwise correct it or leave it out.',
    isFinal: true,
  },
  boards: {
    meaning: 'The BOARD column has far more different values than there are boards',
    remedy: 'The columns are probably shifted. Ask the State for a correct file.',
    isFinal: true,
  },
  memory: {
    meaning: "The comparison takes half of the worker's memory limit",
    remedy: 'Raise the limit; deployment.md has the sizes.',
    isFinal: true,
  },
  changed: {
    meaning: 'A file changed after the publication was queued',
    remedy: 'Publish again.',
    isFinal: true,
  },
  fenced: {
    meaning: 'A later publication or rollback began in the meantime',
    remedy: 'Publish again if the files are newer than what is live.',
    isFinal: true,
  },
  truncated: {
    meaning: 'A file ends inside a row, or its compressed data is incomplete',
    remedy: 'Get the file again. Incomplete compressed data can not be forced.',
  },
  dates_differ: {
    meaning: 'The two files have different dates',
    remedy: 'Get both files of one day. If forced, the earlier date counts.',
  },
  older: {
    meaning: 'The files are older than the live publication (GUARD_MAX_DAYS_OLDER)',
    remedy: 'Get newer files. To go back, roll back.',
  },
  future: {
    meaning: 'The files are of a day more than one ahead of today in Ohio',
    remedy: "Check the worker's clock. If forced, answers are called stale until the next files are live.",
  },
  rolled_back: {
    meaning: 'A publication of the same two files was rolled back',
    remedy: 'Wait for other files.',
  },
  fewer_rows: {
    meaning: 'The files have too few licenses (GUARD_MIN_ROWS_PERCENT of the live publication)',
    remedy: COUNTED,
  },
  fewer_rows_at_board: {
    meaning: 'The same at one board, which also lost more than GUARD_BOARD_ROWS_FEWER',
    remedy: COUNTED,
  },
  rejected: {
    meaning: "Too many rows can't be read (GUARD_MAX_REJECTED_PERCENT)",
    remedy: 'Look at the rejected rows. Ask the State for a correct file.',
  },
  duplicates: {
    meaning: 'Numbers are duplicated within a board (GUARD_MAX_DUPLICATES)',
    remedy: 'Look at the rejected rows. Force it if they do no harm.',
  },
  unknown_labels: {
    meaning: 'Too many rows have a board or status that is not in `data/` (GUARD_MAX_UNKNOWN_PERCENT)',
    remedy: 'Look at the file. A new label belongs in `data/`.',
  },
  unknown_board_actions: {
    meaning:
      'Board Action has too often another value than Yes, No and blank (GUARD_MAX_UNKNOWN_PERCENT of those with Yes or such a value)',
    remedy: 'Ask the State what the values mean.',
  },
  fewer_board_actions: {
    meaning: 'Far fewer licenses have Board Action Yes (GUARD_MAX_DISCIPLINE_DROP_PERCENT)',
    remedy: COUNTED,
  },
  fewer_disciplined: {
    meaning:
      'The same for disciplinary sub-statuses (`data/statuses.json`): all, one of them, or those and Board Action Yes at one board',
    remedy: COUNTED,
  },
  discipline_columns: {
    meaning: 'SUB_STATUS or BOARD_ACTION is missing in a file, and was there in the live publication',
    remedy: 'Ask the State for a correct file.',
  },
  many_changes: {
    meaning:
      'Too many licenses changed or were removed (GUARD_MAX_CHANGED_PERCENT), or more than 16.7 million. The reason counts them by board and field',
    remedy:
      'A shifted column changes nearly all. Force it if the changes are right. Beyond 16.7 million, a new feed starts then.',
  },
} as const satisfies Readonly<Record<string, Refusal>>;

export type RefusalReason = keyof typeof REFUSALS;
