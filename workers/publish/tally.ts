import { totalmem } from 'node:os';
import { z } from 'zod';
import { type ComparedLicense, comparedLicense } from '../../src/changes/compare.ts';
import { type DigestEntry, emptyDigest } from '../../src/changes/digest.ts';
import type { DatasetFile } from '../../src/dataset/columns.ts';
import type { UnknownLabel } from '../../src/dataset/row-to-licenses.ts';
import { addTo } from '../../src/licenses/counts.ts';
import type { LicenseDocument } from '../../src/licenses/license.ts';
import { disciplineOf } from '../../src/licenses/standing.ts';
import type { boardValues } from '../../src/publications/ledger.ts';
import { type LicenseTypes, MAX_TYPES } from '../../src/publications/license-types.ts';
import type { BulkOperation } from './batch.ts';
import { sum } from './judgement.ts';
import type { RefusedDocument } from './load.ts';
import { addLicense, blankIn, type LoadedProfiles, partOf, profileOf } from './profile.ts';
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
export interface SampledDocument {
  readonly id: string;
  readonly sourceRow: string;
  /** The two lines of the bulk request. */
  readonly body: string;
}

/** What is known of the licenses that were loaded. But for the digest, its size does not grow with the files. */
export type Tally = ReturnType<typeof newTally>;

/** @param missingColumns those that tell of discipline and that a file does not have, such as `business.BOARD_ACTION` */
export function newTally(missingColumns: readonly string[] = []) {
  const loaded: LoadedProfiles = {
    /** Licenses sent and taken, endorsements with them, by board. */
    boards: new Map(),
    parts: { businesses: new Map(), endorsements: new Map() },
  };
  return {
    ...loaded,
    counts: { rows: 0, licenses: 0, endorsements: 0, rejected: 0 },
    rowsOf: { individual: 0, business: 0 },
    /** How many of each type, by board. */
    types: new Map<string, Map<string, number>>(),
    /** How many have each primary status. */
    statuses: new Map<string, number>(),
    /** How many have each disciplinary sub-status. */
    subStatuses: new Map<string, number>(),
    /** A uniform sample of each board's documents. */
    samples: new Map<string, SampledDocument[]>(),
    /** What the next publication is compared with. */
    digest: emptyDigest(),
    /** The ids of documents that OpenSearch did not take, or that another row has too. */
    refused: new Set<string>(),
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
  count(tally, license, 1);
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
    const at = Math.floor(Math.random() * profileOf(boards, board).licenses);
    if (at < SAMPLE_PER_BOARD) sample[at] = { id, sourceRow, body };
  }
}

/** Each of them is looked up again for the comparison. */
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
  tally.refused.add(id);
  if (tally.refused.size > MAX_REFUSED) throw refused('duplicates', TOO_MANY_REFUSED);
  if (isDuplicate) tally.duplicates += 1;
  const sample = samples.get(board) ?? [];
  samples.set(
    board,
    sample.filter((each) => each.sourceRow !== sourceRow),
  );
}

/** Adds a document to the counts, or takes it out. */
function count(tally: Tally, license: ComparedLicense, by: 1 | -1): void {
  const { counts, boards, parts, types, statuses, subStatuses } = tally;
  const { board, license_type: type } = license;
  const part = partOf(license);
  counts[part === 'endorsements' ? part : 'licenses'] += by;
  addLicense(profileOf(boards, board), license, by);
  if (part !== 'persons') addLicense(profileOf(parts[part], board), license, by);
  if (type !== null) {
    const ofBoard = types.get(board) ?? new Map<string, number>();
    types.set(board, ofBoard);
    if (ofBoard.has(type) || (ofBoard.size < MAX_TYPES && type.length <= MAX_LABEL_LENGTH)) {
      addTo(ofBoard, type, by);
    }
  }
  const status = listed(license.status ?? '');
  addTo(statuses, statuses.has(status) || statuses.size < MAX_STATUSES ? status : OTHER_STATUSES, by);
  const subStatus = disciplineOf(license)?.subStatus ?? '';
  if (subStatus !== '') addTo(subStatuses, subStatus, by);
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

/** The types that licenses were loaded of, by board. */
export function licenseTypes(tally: Tally): LicenseTypes {
  const listed = [...tally.types].flatMap(([board, counts]) =>
    [...counts].filter(([, count]) => count > 0).map(([license_type]) => ({ board, license_type })),
  );
  const [first] = [...tally.samples.values()].flat();
  const sample = first && sentLicense(first);
  return {
    boards: licensesByBoard(tally),
    types: listed
      .toSorted((one, other) => (one.license_type < other.license_type ? -1 : 1))
      .slice(0, MAX_TYPES),
    ...(sample && { sample: { board: sample.board, license_number: sample.license_number } }),
  };
}

const sent = z.looseObject(comparedLicense.shape);

/** A license as it was sent. */
export function sentLicense({ body }: Pick<SampledDocument, 'body'>): z.output<typeof sent> {
  return sent.parse(JSON.parse(body.split('\n')[1] ?? ''));
}

function licensesByBoard({ boards }: Tally): Record<string, number> {
  return Object.fromEntries([...boards].map(([board, { licenses }]) => [board, licenses]));
}

/** More columns with their boards than this are not listed. */
const MAX_VALUES = 5000;

/** The blank and unknown values of each board, in the columns in which it has any value. */
function valuesOf({ boards, unknownValues }: Tally): z.output<typeof boardValues> {
  let left = MAX_VALUES;
  const values = [...boards].map(([board, profile]) => {
    const columns = [...profile.filled.keys()].slice(0, left);
    left -= columns.length;
    const blank = Object.fromEntries(columns.map((column) => [column, blankIn(profile, column)]));
    const unknown = Object.fromEntries(unknownValues.get(board) ?? []);
    return [board, { licenses: profile.licenses, blank, unknown }] as const;
  });
  return Object.fromEntries(values);
}

/** How many licenses tell of discipline, as metadata and ledger have it. */
function disciplineIn({ boards, subStatuses, missingColumns }: Tally) {
  const disciplined = [...boards].map(([board, each]) => [board, each.disciplined] as const);
  return {
    board_actions: sum([...boards.values()].map(({ worse }) => worse.get('BOARD_ACTION') ?? 0)),
    sub_statuses: Object.fromEntries(subStatuses),
    boards: Object.fromEntries(disciplined.filter(([, count]) => count > 0)),
    missing_columns: [...missingColumns],
  };
}

/** What metadata and ledger record of the loaded licenses, live or refused. */
export function tallySummary(tally: Tally) {
  return {
    counts: tally.counts,
    boards: licensesByBoard(tally),
    statuses: Object.fromEntries(tally.statuses),
    unknown_labels: Object.fromEntries(tally.unknownLabels),
    values: valuesOf(tally),
    discipline: disciplineIn(tally),
  };
}
