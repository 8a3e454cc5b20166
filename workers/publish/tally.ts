import { totalmem } from 'node:os';
import type { ComparedLicense } from '../../src/changes/compare.ts';
import { type DigestEntry, emptyDigest, recordHash } from '../../src/changes/digest.ts';
import type { DatasetFile } from '../../src/dataset/columns.ts';
import type { UnknownLabel } from '../../src/dataset/row-to-licenses.ts';
import { addTo, valueAt } from '../../src/licenses/counts.ts';
import { type LicenseDocument, recordText } from '../../src/licenses/license.ts';
import { disciplineOf } from '../../src/licenses/standing.ts';
import type { BulkOperation } from './batch.ts';
import { megabytes, sum } from './judgement.ts';
import type { RefusedDocument } from './load.ts';
import { BoardLicenses, partOf, type SampledDocument } from './profile.ts';
import { refused } from './run.ts';

/** The number of documents of each board that are read back and compared. */
const SAMPLE_PER_BOARD = 20;

/** Longer documents are not sampled, because the samples must fit in memory whatever the file contains. */
const MAX_SAMPLED_LENGTH = 50_000;

/** The State has 24 boards. If there are more labels than this, the column contains something else. */
const MAX_BOARDS = 100;

/** The State has six primary statuses. Licenses with statuses beyond this limit are counted together. */
const MAX_STATUSES = 50;
const OTHER_STATUSES = 'further statuses';

/** The maximum number of listed unknown labels. Rows with further ones are only counted. */
const MAX_UNKNOWN_LABELS = 200;

/** The maximum number of listed characters of a label. A shifted column contains free text. */
const MAX_LABEL_LENGTH = 100;

/** A license read from a file: the operation that creates its document, and its digest entry. */
export interface ParsedLicense extends BulkOperation {
  readonly license: LicenseDocument;
  readonly digest: DigestEntry;
}

/**
 * The maximum memory for the digest. The rest is for the heap and the requests in flight. If there is no memory limit,
 * Node returns 0 or a number larger than any memory.
 */
const MEMORY_FOR_DIGEST = 0.5 * Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem());

/** @throws {RefusedError} when a digest of this size leaves too little memory, so that the process would be killed */
export function refuseTooLarge(bytes: number, most: number = MEMORY_FOR_DIGEST): void {
  if (bytes <= most) return;
  throw refused(
    'memory',
    `The digest takes ${megabytes(bytes)}, and may take half of the worker's memory, ${megabytes(most)}. ` +
      'Raise its memory limit.',
  );
}

const COLUMN_OF_LABEL: Readonly<Record<UnknownLabel['kind'], string>> = {
  board: 'BOARD',
  'license type': 'TYPE',
  status: 'STATUS',
  'sub-status': 'SUB_STATUS',
  'board action': 'BOARD_ACTION',
};

function listed(label: string): string {
  return label.length <= MAX_LABEL_LENGTH ? label : label.slice(0, MAX_LABEL_LENGTH).toWellFormed();
}

/** Refused licenses are kept in memory, because they must be removed from the digest. */
const MAX_REFUSED = 200_000;
const TOO_MANY_REFUSED = `More than ${MAX_REFUSED} licenses were refused, most as duplicates; not even a forced publication takes so many.`;

/** The maximum number of listed columns, over all boards. */
const MAX_VALUES = 5000;

/** The counts of the loaded licenses. Apart from the digest, its size does not grow with the files. */
export class Tally {
  /** Licenses sent and accepted, including endorsements, by board. */
  readonly boards = new Map<string, BoardLicenses>();
  readonly counts = { rows: 0, licenses: 0, endorsements: 0, rejected: 0 };
  readonly rowsOf = { individual: 0, business: 0 };
  /** The number of licenses by primary status. */
  readonly statuses = new Map<string, number>();
  /** The number of licenses by disciplinary sub-status. */
  readonly subStatuses = new Map<string, number>();
  /** The digest that the next publication is compared with. */
  readonly digest = emptyDigest();
  /** The licenses that OpenSearch refused, for example because another row has the same id. */
  readonly refused: Pick<DigestEntry, 'id' | 'record'>[] = [];
  /** The number keys of possible license numbers in rejected rows. */
  readonly rejectedNumbers = new Set<string>();
  /** Licenses rejected because another row of the same board has the same number. */
  duplicates = 0;
  /** Rows with a board or status that is not in the catalogs. */
  unknownRows = 0;
  /** Licenses with a Board Action other than Yes, No and blank. */
  unknownBoardActions = 0;
  readonly unknownLabels = new Map<string, number>();
  /** The discipline columns that are missing from a file, such as `business.BOARD_ACTION`. */
  missingColumns: readonly string[] = [];
  /** The files that end inside a row. */
  readonly cutOff = new Set<DatasetFile>();

  /**
   * Counts a sent document. Reservoir sampling keeps each board's sample uniform.
   *
   * @throws {RefusedError} when the BOARD column has too many labels to be a list of boards, or the digest takes too
   * much memory
   */
  noteSent({ id, license, body, digest }: ParsedLicense): void {
    const board = this.#count(license, 1);
    this.digest.add(digest);
    refuseTooLarge(this.digest.bytes());
    if (this.boards.size > MAX_BOARDS)
      throw refused('boards', `BOARD has more than ${MAX_BOARDS} labels, so it is no list of boards.`);
    if (body.length > MAX_SAMPLED_LENGTH) return;
    const { length } = board.sample;
    const at = length < SAMPLE_PER_BOARD ? length : Math.floor(Math.random() * board.licenses);
    if (at < SAMPLE_PER_BOARD) board.sample[at] = { id, sourceRow: license.source_row, body };
  }

  /** Subtracts a document that was sent but refused by OpenSearch. @throws {RefusedError} when too many were refused */
  noteRefused({ id, license, isDuplicate }: Pick<RefusedDocument, 'id' | 'license' | 'isDuplicate'>): void {
    const board = this.#count(license, -1);
    this.refused.push({ id, record: recordHash(recordText(license)) });
    if (this.refused.length > MAX_REFUSED) throw refused('duplicates', TOO_MANY_REFUSED);
    if (isDuplicate) this.duplicates += 1;
    board.sample = board.sample.filter(({ sourceRow }) => sourceRow !== license.source_row);
  }

  #board(name: string): BoardLicenses {
    return valueAt(this.boards, name, () => new BoardLicenses());
  }

  /** Adds a document to the counts, or removes it. @returns the counts of its board */
  #count(license: ComparedLicense, by: 1 | -1): BoardLicenses {
    const { counts, statuses, subStatuses } = this;
    const part = partOf(license);
    counts[part === 'endorsements' ? part : 'licenses'] += by;
    const board = this.#board(license.board);
    board[part].add(license, by);
    const status = listed(license.status ?? '');
    addTo(statuses, statuses.has(status) || statuses.size < MAX_STATUSES ? status : OTHER_STATUSES, by);
    const subStatus = disciplineOf(license)?.subStatus ?? '';
    if (subStatus !== '') addTo(subStatuses, subStatus, by);
    return board;
  }

  /** Counts one row's labels that are not in the catalogs. @param board the row's board */
  noteUnknown(labels: readonly UnknownLabel[], board: string): void {
    const { unknownLabels } = this;
    const columns = new Set(labels.map(({ kind }) => COLUMN_OF_LABEL[kind]));
    for (const column of columns) addTo(this.#board(board).unknown, column);
    if (columns.has('BOARD') || columns.has('STATUS')) this.unknownRows += 1;
    this.unknownBoardActions += labels.filter(({ kind }) => kind === 'board action').length;
    for (const text of new Set(labels.map(({ kind, label }) => `${kind}: ${listed(label)}`)))
      if (unknownLabels.has(text) || unknownLabels.size < MAX_UNKNOWN_LABELS) addTo(unknownLabels, text);
  }

  /** Returns the counts of the loaded licenses for the metadata and the ledger, whether live or refused. */
  summary() {
    const boards = [...this.boards].map(([name, board]) => ({ name, board, whole: board.whole() }));
    let left = MAX_VALUES;
    /** The blank and unknown values of each board, in the columns where the board has any value. */
    const values = boards.map(({ name, board, whole: { licenses, filled } }) => {
      const columns = [...filled].slice(0, left);
      left -= columns.length;
      const blank = Object.fromEntries(columns.map(([column, { count }]) => [column, licenses - count]));
      return [name, { licenses, blank, unknown: Object.fromEntries(board.unknown) }] as const;
    });
    const disciplined = boards.filter(({ whole }) => whole.disciplined > 0);
    return {
      counts: this.counts,
      boards: Object.fromEntries(values.map(([name, { licenses }]) => [name, licenses])),
      statuses: Object.fromEntries(this.statuses),
      unknown_labels: Object.fromEntries(this.unknownLabels),
      values: Object.fromEntries(values),
      discipline: {
        board_actions: sum(boards.map(({ whole }) => whole.worse.get('BOARD_ACTION') ?? 0)),
        sub_statuses: Object.fromEntries(this.subStatuses),
        boards: Object.fromEntries(disciplined.map(({ name, whole }) => [name, whole.disciplined])),
        missing_columns: [...this.missingColumns],
      },
    };
  }
}

/** Returns a license as it was sent to OpenSearch. */
export function sentLicense({ body }: Pick<SampledDocument, 'body'>): unknown {
  return JSON.parse(body.split('\n')[1] ?? '');
}
