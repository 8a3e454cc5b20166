import { z } from 'zod';
import type { DatasetFile } from '../../src/dataset/columns.ts';
import type { UnknownLabel } from '../../src/dataset/row-to-licenses.ts';
import { addTo } from '../../src/licenses/counts.ts';
import { disciplineOf } from '../../src/licenses/standing.ts';
import type { boardValues } from '../../src/publications/ledger.ts';
import { type LicenseTypes, MAX_TYPES } from '../../src/publications/license-types.ts';
import type { RefusedDocument } from './load.ts';
import type { CountedLicense, ParsedLicense, ParsedRows } from './parse.ts';
import { addLicense, blankIn, boardOf, emptyProfiles, profileOf } from './profile.ts';
import { refused } from './run.ts';

/** How many documents of each board are read back and compared. */
const SAMPLE_PER_BOARD = 20;

/** A longer document is not sampled: a sample must fit in memory, whatever the file has in it. */
const MAX_SAMPLED_LENGTH = 50_000;

/** The State has 24 boards. With more labels than this, the column has something else in it. */
const MAX_BOARDS = 100;

/** The State has six primary statuses. Licenses with further ones are counted together. */
const MAX_STATUSES = 50;
const OTHER_STATUSES = 'further statuses';

/** How many unknown labels are listed; rows with other ones are only counted. */
const MAX_UNKNOWN_LABELS = 200;

/** How many characters of a label are listed. A column that is shifted has free text in it. */
const MAX_LABEL_LENGTH = 100;

/** A document to be read back. Its texts are copies: a slice of the file's text would keep a megabyte in memory. */
export interface SampledDocument {
  readonly id: string;
  readonly sourceRow: string;
  /** The two lines of the bulk request. */
  readonly body: string;
}

/** Counts and samples of what was loaded. Its size does not grow with the files. */
export type Tally = ReturnType<typeof newTally>;

/** @param missingColumns those that tell of discipline and that a file does not have, such as `business.BOARD_ACTION` */
export function newTally(missingColumns: readonly string[] = []) {
  return {
    counts: { rows: 0, licenses: 0, endorsements: 0, rejected: 0 },
    rowsOf: { individual: 0, business: 0 },
    /** Licenses sent and taken, endorsements with them, by the label in the BOARD column. */
    boards: new Map<string, number>(),
    /** The same by board and license type. */
    types: new Map<string, Map<string, number>>(),
    /** The same by primary status. */
    statuses: new Map<string, number>(),
    /** A uniform sample of each board's documents. */
    samples: new Map<string, SampledDocument[]>(),
    /** Licenses rejected because their number is another row's at the same board. */
    duplicates: 0,
    /** Rows with a board or a status that the catalogs do not know. */
    unknownRows: 0,
    /** Licenses with a Board Action other than Yes, No and blank. */
    unknownBoardActions: 0,
    unknownLabels: new Map<string, number>(),
    /** The rows with unknown labels, by board and column. */
    unknownValues: new Map<string, Map<string, number>>(),
    /** What was sent, duplicates too, by board: what the guards by board and column compare. */
    profiles: emptyProfiles(),
    /** Licenses with Board Action Yes, those with a disciplinary sub-status, and those with either by board. */
    discipline: {
      boardActions: 0,
      subStatuses: new Map<string, number>(),
      boards: new Map<string, number>(),
      missingColumns,
    },
    /** Lines of each file that are not UTF-8. */
    windows1252Lines: { individual: 0, business: 0 },
    /** The files that end inside a row. */
    cutOff: new Set<DatasetFile>(),
  };
}

/**
 * Notes what a batch of rows of a file gave.
 *
 * @throws {RefusedError} when the BOARD column has too many labels to be one
 */
export function noteRows(tally: Tally, file: DatasetFile, parsed: ParsedRows): void {
  const { counts, rowsOf, cutOff } = tally;
  counts.rows += parsed.rows;
  counts.licenses += parsed.licenses;
  counts.endorsements += parsed.operations.length - parsed.licenses;
  rowsOf[file] += parsed.rows;
  for (const { board, labels } of parsed.unknownLabels) noteUnknown(tally, labels, board);
  for (const operation of parsed.operations) noteSent(tally, operation);
  if (parsed.isCutOff) cutOff.add(file);
}

/** Notes one more document sent (reservoir sampling keeps each board's sample uniform). */
function noteSent(tally: Tally, { id, license, body }: ParsedLicense): void {
  const { boards, samples, profiles } = tally;
  const { board, source_row: sourceRow } = license;
  addLicense(profileOf(profiles, boardOf(license)), license, 1);
  count(tally, license, 1);
  if (boards.size > MAX_BOARDS)
    throw refused('boards', `BOARD has more than ${MAX_BOARDS} labels, so it is no list of boards.`);
  if (body.length > MAX_SAMPLED_LENGTH) return;
  const sample = samples.get(board) ?? [];
  if (sample.length < SAMPLE_PER_BOARD) {
    sample.push({ id, sourceRow, body });
    samples.set(board, sample);
  } else {
    const at = Math.floor(Math.random() * (boards.get(board) ?? 0));
    if (at < SAMPLE_PER_BOARD) sample[at] = { id, sourceRow, body };
  }
}

/** Subtracts a document that was sent but that OpenSearch refused. */
export function noteRefused(
  tally: Tally,
  { license, isDuplicate }: Pick<RefusedDocument, 'license' | 'isDuplicate'>,
): void {
  const { counts, samples } = tally;
  const { board, source_row: sourceRow } = license;
  count(tally, license, -1);
  if (isDuplicate) tally.duplicates += 1;
  if (sourceRow.endsWith(':0')) counts.licenses -= 1;
  else counts.endorsements -= 1;
  const sample = samples.get(board) ?? [];
  samples.set(
    board,
    sample.filter((each) => each.sourceRow !== sourceRow),
  );
}

/** Adds a document to the counts by label, or takes it out. */
function count(tally: Tally, license: CountedLicense, by: 1 | -1): void {
  const { boards, types, statuses, discipline } = tally;
  const { board, license_type: type } = license;
  const found = disciplineOf(license);
  addTo(boards, board, by);
  if (type !== null) {
    const ofBoard = types.get(board) ?? new Map<string, number>();
    types.set(board, ofBoard);
    if (ofBoard.has(type) || (ofBoard.size < MAX_TYPES && type.length <= MAX_LABEL_LENGTH)) {
      addTo(ofBoard, type, by);
    }
  }
  const status = listed(license.status ?? '');
  addTo(statuses, statuses.has(status) || statuses.size < MAX_STATUSES ? status : OTHER_STATUSES, by);
  if (found === undefined) return;
  addTo(discipline.boards, board, by);
  if (found.hasBoardAction) discipline.boardActions += by;
  if (found.subStatus !== '') addTo(discipline.subStatuses, found.subStatus, by);
}

function listed(label: string): string {
  return label.length <= MAX_LABEL_LENGTH ? label : label.slice(0, MAX_LABEL_LENGTH).toWellFormed();
}

const COLUMN_OF_LABEL: Readonly<Record<UnknownLabel['kind'], string>> = {
  board: 'BOARD',
  'license type': 'TYPE',
  status: 'STATUS',
  'sub-status': 'SUB_STATUS',
  'board action': 'BOARD_ACTION',
};

/** Notes one row's labels that no catalog knows. @param board the row's */
export function noteUnknown(tally: Tally, labels: readonly UnknownLabel[], board: string): void {
  const { unknownLabels, unknownValues } = tally;
  const values = unknownValues.get(board) ?? new Map<string, number>();
  if (unknownValues.size < MAX_BOARDS) unknownValues.set(board, values);
  for (const column of new Set(labels.map(({ kind }) => COLUMN_OF_LABEL[kind]))) addTo(values, column);
  if (labels.some(({ kind }) => kind === 'board' || kind === 'status')) tally.unknownRows += 1;
  tally.unknownBoardActions += labels.filter(({ kind }) => kind === 'board action').length;
  for (const text of new Set(labels.map(({ kind, label }) => `${kind}: ${listed(label)}`))) {
    if (unknownLabels.has(text) || unknownLabels.size < MAX_UNKNOWN_LABELS) addTo(unknownLabels, text);
  }
}

/** The types that licenses were loaded of, by board. */
export function licenseTypes({ boards, types, samples }: Tally): LicenseTypes {
  const listed = [...types].flatMap(([board, counts]) =>
    [...counts].filter(([, count]) => count > 0).map(([license_type]) => ({ board, license_type })),
  );
  const [first] = [...samples.values()].flat();
  const sample = first && sentLicense(first);
  return {
    boards: Object.fromEntries(boards),
    types: listed
      .toSorted((one, other) => (one.license_type < other.license_type ? -1 : 1))
      .slice(0, MAX_TYPES),
    ...(sample && { sample: { board: sample.board, license_number: sample.license_number } }),
  };
}

const license = z.looseObject({ board: z.string(), license_number: z.string() });

/** A license as it was sent. */
export function sentLicense({ body }: Pick<SampledDocument, 'body'>): z.output<typeof license> {
  return license.parse(JSON.parse(body.split('\n')[1] ?? ''));
}

/** More columns with their boards than this are not listed. */
const MAX_VALUES = 5000;

/** The blank and unknown values of each board, in the columns in which it has any value. */
function valuesOf({ profiles, unknownValues }: Tally): z.output<typeof boardValues> {
  let left = MAX_VALUES;
  const boards = [...profiles].map(([board, profile]) => {
    const columns = [...profile.filled.keys()].slice(0, left);
    left -= columns.length;
    const blank = Object.fromEntries(columns.map((column) => [column, blankIn(profile, column)]));
    const unknown = Object.fromEntries(unknownValues.get(board) ?? []);
    return [board, { licenses: profile.licenses, blank, unknown }] as const;
  });
  return Object.fromEntries(boards);
}

/** What metadata and ledger record of the loaded licenses, live or refused. */
export function tallySummary(tally: Tally) {
  const { counts, boards, statuses, unknownLabels, discipline } = tally;
  return {
    counts,
    boards: Object.fromEntries(boards),
    statuses: Object.fromEntries(statuses),
    unknown_labels: Object.fromEntries(unknownLabels),
    values: valuesOf(tally),
    discipline: {
      board_actions: discipline.boardActions,
      sub_statuses: Object.fromEntries(discipline.subStatuses),
      boards: Object.fromEntries(discipline.boards),
      missing_columns: [...discipline.missingColumns],
    },
  };
}
