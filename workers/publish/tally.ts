import { totalmem } from 'node:os';
import { z } from 'zod';
import { type ComparedLicense, comparedLicense } from '../../src/changes/compare.ts';
import { type DigestEntry, emptyDigest, recordHash } from '../../src/changes/digest.ts';
import type { DatasetFile } from '../../src/dataset/columns.ts';
import type { UnknownLabel } from '../../src/dataset/row-to-licenses.ts';
import { addTo } from '../../src/licenses/counts.ts';
import { type LicenseDocument, recordText } from '../../src/licenses/license.ts';
import { disciplineOf } from '../../src/licenses/standing.ts';
import type { BulkOperation } from './batch.ts';
import { sum } from './judgement.ts';
import type { RefusedDocument } from './load.ts';
import { type BoardParts, type BoardProfile, emptyParts, licensesIn, partOf, wholeOf } from './profile.ts';
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

/** A license as it was read: the creation of its document, and what its digest has of it. */
export interface ParsedLicense extends BulkOperation {
  readonly license: LicenseDocument;
  readonly digest: DigestEntry;
}

/** A document to be read back. Its texts are copies: a slice of the file's text would keep a megabyte in memory. */
interface SampledDocument {
  readonly id: string;
  readonly sourceRow: string;
  /** The two lines of the bulk request. */
  readonly body: string;
}

/** What is known of the licenses that were loaded. But for the digest, its size does not grow with the files. */
export type Tally = ReturnType<typeof newTally>;

/** @param missingColumns those that tell of discipline and that a file does not have, such as `business.BOARD_ACTION` */
export function newTally(missingColumns: readonly string[] = []) {
  const refused: Pick<DigestEntry, 'id' | 'record'>[] = [];
  return {
    /** Licenses sent and taken, endorsements with them, by board. */
    boards: new Map<string, BoardParts>(),
    counts: { rows: 0, licenses: 0, endorsements: 0, rejected: 0 },
    rowsOf: { individual: 0, business: 0 },
    /** How many have each primary status. */
    statuses: new Map<string, number>(),
    /** How many have each disciplinary sub-status. */
    subStatuses: new Map<string, number>(),
    /** A uniform sample of each board's documents. */
    samples: new Map<string, SampledDocument[]>(),
    /** What the next publication is compared with. */
    digest: emptyDigest(),
    /** What OpenSearch did not take, as where another row has the id. */
    refused,
    /** The keys of what may be a license number in a rejected row. */
    rejectedNumbers: new Set<string>(),
    /** Licenses rejected because their number is another row's at the same board. */
    duplicates: 0,
    /** Rows with a board or a status that the catalogs do not know. */
    unknownRows: 0,
    /** Licenses with a Board Action other than Yes, No and blank. */
    unknownBoardActions: 0,
    unknownLabels: new Map<string, number>(),
    /** The rows with unknown labels, by board and column. */
    unknownValues: new Map<string, Map<string, number>>(),
    missingColumns,
    /** The files that end inside a row. */
    cutOff: new Set<DatasetFile>(),
  };
}

/** The rest is for the heap and for what is being sent. Without a limit, Node gives 0 or a number beyond any memory. */
const MEMORY_FOR_DIGEST = 0.5 * Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem());

/** @throws {RefusedError} when a digest of so many bytes leaves too little memory: the process would be killed */
export function refuseTooLarge(bytes: number, most: number = MEMORY_FOR_DIGEST): void {
  if (bytes <= most) return;
  const megabytes = (size: number) => `${Math.round(size / 1e6)} MB`;
  throw refused(
    'memory',
    `The digest takes ${megabytes(bytes)}, and may take half of the worker's memory, ${megabytes(most)}. ` +
      'Raise its memory limit.',
  );
}

/**
 * Notes one more document sent (reservoir sampling keeps each board's sample uniform).
 *
 * @throws {RefusedError} when the BOARD column has too many labels to be one, or the digest takes too much memory
 */
export function noteSent(tally: Tally, { id, license, body, digest }: ParsedLicense): void {
  const { boards, samples } = tally;
  const { board, source_row: sourceRow } = license;
  const parts = count(tally, license, 1);
  tally.digest.add(digest);
  refuseTooLarge(tally.digest.bytes());
  if (boards.size > MAX_BOARDS)
    throw refused('boards', `BOARD has more than ${MAX_BOARDS} labels, so it is no list of boards.`);
  if (body.length > MAX_SAMPLED_LENGTH) return;
  const sample = samples.get(board) ?? [];
  if (sample.length < SAMPLE_PER_BOARD) {
    sample.push({ id, sourceRow, body });
    samples.set(board, sample);
  } else {
    const at = Math.floor(Math.random() * licensesIn(parts));
    if (at < SAMPLE_PER_BOARD) sample[at] = { id, sourceRow, body };
  }
}

/** Each of them is kept in memory, to be taken out of the digest. */
const MAX_REFUSED = 200_000;
const TOO_MANY_REFUSED = `More than ${MAX_REFUSED} licenses were refused, most as duplicates; not even a forced publication takes so many.`;

/** Subtracts a document that was sent but that OpenSearch refused. @throws {RefusedError} when there are too many */
export function noteRefused(
  tally: Tally,
  { id, license, isDuplicate }: Pick<RefusedDocument, 'id' | 'license' | 'isDuplicate'>,
): void {
  const { samples } = tally;
  const { board, source_row: sourceRow } = license;
  count(tally, license, -1);
  tally.refused.push({ id, record: recordHash(recordText(license)) });
  if (tally.refused.length > MAX_REFUSED) throw refused('duplicates', TOO_MANY_REFUSED);
  if (isDuplicate) tally.duplicates += 1;
  const sample = samples.get(board) ?? [];
  samples.set(
    board,
    sample.filter((each) => each.sourceRow !== sourceRow),
  );
}

/** Adds a document to the counts, or takes it out. @returns what is counted of its board */
function count(tally: Tally, license: ComparedLicense, by: 1 | -1): BoardParts {
  const { counts, boards, statuses, subStatuses } = tally;
  const { board } = license;
  const part = partOf(license);
  counts[part === 'endorsements' ? part : 'licenses'] += by;
  const parts = boards.get(board) ?? emptyParts();
  boards.set(board, parts);
  parts[part].add(license, by);
  const status = listed(license.status ?? '');
  addTo(statuses, statuses.has(status) || statuses.size < MAX_STATUSES ? status : OTHER_STATUSES, by);
  const subStatus = disciplineOf(license)?.subStatus ?? '';
  if (subStatus !== '') addTo(subStatuses, subStatus, by);
  return parts;
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

function listed(label: string): string {
  return label.length <= MAX_LABEL_LENGTH ? label : label.slice(0, MAX_LABEL_LENGTH).toWellFormed();
}

const sent = z.looseObject(comparedLicense.shape);

/** A license as it was sent. */
export function sentLicense({ body }: Pick<SampledDocument, 'body'>): z.output<typeof sent> {
  return sent.parse(JSON.parse(body.split('\n')[1] ?? ''));
}

/** More columns with their boards than this are not listed. */
const MAX_VALUES = 5000;

/** What metadata and ledger record of the loaded licenses, live or refused. */
export function tallySummary(tally: Tally) {
  const { counts, statuses, subStatuses, unknownLabels, unknownValues, missingColumns } = tally;
  const profiles = [...tally.boards].map(([board, parts]) => [board, wholeOf(parts)] as const);
  let left = MAX_VALUES;
  /** The blank and unknown values of a board, in the columns in which it has any value. */
  function valuesOf(board: string, profile: BoardProfile) {
    const columns = profile.columns().slice(0, left);
    left -= columns.length;
    const blank = Object.fromEntries(columns.map((column) => [column, profile.blankIn(column)]));
    const unknown = Object.fromEntries(unknownValues.get(board) ?? []);
    return { licenses: profile.licenses, blank, unknown };
  }
  const disciplined = profiles.filter(([, each]) => each.disciplined > 0);
  return {
    counts,
    boards: Object.fromEntries(profiles.map(([board, { licenses }]) => [board, licenses])),
    statuses: Object.fromEntries(statuses),
    unknown_labels: Object.fromEntries(unknownLabels),
    values: Object.fromEntries(profiles.map(([board, each]) => [board, valuesOf(board, each)])),
    discipline: {
      board_actions: sum(profiles.map(([, { worse }]) => worse.get('BOARD_ACTION') ?? 0)),
      sub_statuses: Object.fromEntries(subStatuses),
      boards: Object.fromEntries(disciplined.map(([board, each]) => [board, each.disciplined])),
      missing_columns: [...missingColumns],
    },
  };
}
