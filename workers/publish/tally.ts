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

/** The rest is for the heap and for what is being sent. Without a limit, Node gives 0 or a number beyond any memory. */
const MEMORY_FOR_DIGEST = 0.5 * Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem());

/** @throws {RefusedError} when a digest of so many bytes leaves too little memory: the process would be killed */
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

/** Each of them is kept in memory, to be taken out of the digest. */
const MAX_REFUSED = 200_000;
const TOO_MANY_REFUSED = `More than ${MAX_REFUSED} licenses were refused, most as duplicates; not even a forced publication takes so many.`;

/** More columns with their boards than this are not listed. */
const MAX_VALUES = 5000;

/** What is known of the licenses that were loaded. But for the digest, its size does not grow with the files. */
export class Tally {
  /** Licenses sent and taken, endorsements with them, by board. */
  readonly boards = new Map<string, BoardLicenses>();
  readonly counts = { rows: 0, licenses: 0, endorsements: 0, rejected: 0 };
  readonly rowsOf = { individual: 0, business: 0 };
  /** How many have each primary status. */
  readonly statuses = new Map<string, number>();
  /** How many have each disciplinary sub-status. */
  readonly subStatuses = new Map<string, number>();
  /** What the next publication is compared with. */
  readonly digest = emptyDigest();
  /** What OpenSearch did not take, as where another row has the id. */
  readonly refused: Pick<DigestEntry, 'id' | 'record'>[] = [];
  /** The keys of what may be a license number in a rejected row. */
  readonly rejectedNumbers = new Set<string>();
  /** Licenses rejected because their number is another row's at the same board. */
  duplicates = 0;
  /** Rows with a board or a status that the catalogs do not know. */
  unknownRows = 0;
  /** Licenses with a Board Action other than Yes, No and blank. */
  unknownBoardActions = 0;
  readonly unknownLabels = new Map<string, number>();
  /** The columns that tell of discipline and that a file does not have, such as `business.BOARD_ACTION`. */
  missingColumns: readonly string[] = [];
  /** The files that end inside a row. */
  readonly cutOff = new Set<DatasetFile>();

  /**
   * Notes one more document sent (reservoir sampling keeps each board's sample uniform).
   *
   * @throws {RefusedError} when the BOARD column has too many labels to be one, or the digest takes too much memory
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

  /** Subtracts a document that was sent but that OpenSearch refused. @throws {RefusedError} when there are too many */
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

  /** Adds a document to the counts, or takes it out. @returns what is counted of its board */
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

  /** Notes one row's labels that no catalog knows. @param board the row's */
  noteUnknown(labels: readonly UnknownLabel[], board: string): void {
    const { unknownLabels } = this;
    const columns = new Set(labels.map(({ kind }) => COLUMN_OF_LABEL[kind]));
    for (const column of columns) addTo(this.#board(board).unknown, column);
    if (columns.has('BOARD') || columns.has('STATUS')) this.unknownRows += 1;
    this.unknownBoardActions += labels.filter(({ kind }) => kind === 'board action').length;
    for (const text of new Set(labels.map(({ kind, label }) => `${kind}: ${listed(label)}`)))
      if (unknownLabels.has(text) || unknownLabels.size < MAX_UNKNOWN_LABELS) addTo(unknownLabels, text);
  }

  /** What metadata and ledger record of the loaded licenses, live or refused. */
  summary() {
    const boards = [...this.boards].map(([name, board]) => ({ name, board, whole: board.whole() }));
    let left = MAX_VALUES;
    /** The blank and unknown values of each board, in the columns in which it has any value. */
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

/** A license as it was sent. */
export function sentLicense({ body }: Pick<SampledDocument, 'body'>): unknown {
  return JSON.parse(body.split('\n')[1] ?? '');
}
