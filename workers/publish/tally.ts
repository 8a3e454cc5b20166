import type { DatasetFile } from '../../src/dataset/columns.ts';
import type { UnknownLabel } from '../../src/dataset/unknown-labels.ts';
import { addTo } from '../../src/licenses/counts.ts';
import type { PublicationCounts } from '../../src/publications/metadata.ts';
import type { RefusedDocument } from './load.ts';
import type { BulkOperation } from './parse.ts';
import { RefusedError, refusal } from './refusal.ts';

/** How many documents of each board are read back and compared. */
const SAMPLE_PER_BOARD = 20;

/** The State has 24 boards. With more labels than this, the column has something else in it. */
const MAX_BOARDS = 500;

/** How many unknown labels are listed; rows with other ones are only counted. */
const MAX_UNKNOWN_LABELS = 200;

/** A document to be read back. Its texts are copies: a slice of the file's text would keep a megabyte in memory. */
export interface SampledDocument {
  readonly id: string;
  readonly sourceRow: string;
  /** The two lines of the bulk request. */
  readonly body: string;
}

/** Counts and samples of what was loaded. Its size does not grow with the files. */
export interface Tally {
  readonly counts: { -readonly [Count in keyof PublicationCounts]: PublicationCounts[Count] };
  readonly rowsOf: Record<DatasetFile, number>;
  /** Licenses sent and taken, endorsements with them, by the label in the BOARD column. */
  readonly boards: Map<string, number>;
  /** The same by primary status. */
  readonly statuses: Map<string, number>;
  /** A uniform sample of each board's documents. */
  readonly samples: Map<string, SampledDocument[]>;
  /** Licenses rejected because their number is another row's at the same board. */
  duplicates: number;
  /** Rows with a board or a status that the catalogs do not know. */
  unknownRows: number;
  readonly unknownLabels: Map<string, number>;
  /** The files that end inside a row. */
  readonly cutOff: Set<DatasetFile>;
}

export function newTally(): Tally {
  return {
    counts: { rows: 0, licenses: 0, endorsements: 0, rejected: 0 },
    rowsOf: { individual: 0, business: 0 },
    boards: new Map(),
    statuses: new Map(),
    samples: new Map(),
    duplicates: 0,
    unknownRows: 0,
    unknownLabels: new Map(),
    cutOff: new Set(),
  };
}

/**
 * Notes one more document sent (reservoir sampling keeps each board's sample uniform).
 *
 * @throws {RefusedError} when the BOARD column has too many labels to be one
 */
export function noteSent({ boards, statuses, samples }: Tally, { document, body }: BulkOperation): void {
  const { board, status, id, sourceRow } = document;
  addTo(boards, board);
  if (boards.size > MAX_BOARDS) {
    throw new RefusedError([
      refusal('boards', `BOARD has more than ${MAX_BOARDS} labels, so it is no list of boards.`),
    ]);
  }
  addTo(statuses, status);
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
export function noteRefused(tally: Tally, { document, isDuplicate }: RefusedDocument): void {
  const { counts, boards, statuses, samples } = tally;
  const { board, status, sourceRow } = document;
  addTo(boards, board, -1);
  addTo(statuses, status, -1);
  if (isDuplicate) tally.duplicates += 1;
  if (sourceRow.endsWith(':0')) counts.licenses -= 1;
  else counts.endorsements -= 1;
  const sample = samples.get(board) ?? [];
  samples.set(
    board,
    sample.filter((each) => each.sourceRow !== sourceRow),
  );
}

/** Notes one row's labels that no catalog knows. */
export function noteUnknown(tally: Tally, labels: readonly UnknownLabel[]): void {
  if (labels.some(({ kind }) => kind === 'board' || kind === 'status')) tally.unknownRows += 1;
  for (const { kind, label } of labels) {
    const text = `${kind}: ${label.slice(0, 200)}`;
    const isListed = tally.unknownLabels.has(text) || tally.unknownLabels.size < MAX_UNKNOWN_LABELS;
    if (isListed) addTo(tally.unknownLabels, text);
  }
}

/** What the ledger records of the loaded licenses, live or refused. */
export function tallySummary({ counts, boards, statuses, unknownLabels }: Tally) {
  return {
    counts,
    boards: Object.fromEntries(boards),
    statuses: Object.fromEntries(statuses),
    unknown_labels: Object.fromEntries(unknownLabels),
  };
}
