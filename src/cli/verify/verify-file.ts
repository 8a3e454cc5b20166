import { type FileHandle, open } from 'node:fs/promises';
import { addTo } from '../../licenses/counts.ts';
import { chunksOf, type RosterFile } from './roster-file.ts';
import { forgetProgress, readProgress, type SavedProgress, saveProgress } from './saved-progress.ts';
import { type AnsweredChunk, RefusedError, type Service, sendChunk } from './send-chunk.ts';

/** While the service answers one chunk, others are read, sent and written. */
const IN_FLIGHT = 3;

/** What a roster file became. */
export type Verified = Pick<SavedProgress, 'rows' | 'outcomes' | 'dates'>;

interface VerifyOptions {
  readonly service: Service;
  readonly resultPath: string;
  /** Stops the work after what is answered is written. */
  readonly signal: AbortSignal;
  /** Called whenever rows were written. */
  readonly onRows: (progress: Verified) => void;
  /** Called before each wait, with its reason. */
  readonly onWait: (reason: string) => void;
}

/**
 * Verifies a roster file of any size, and writes the result file in the order of the roster. After an interruption
 * the same call continues where the result file ends.
 *
 * @throws the signal's reason when it aborts
 */
export async function verifyFile(roster: RosterFile, options: VerifyOptions): Promise<Verified> {
  const { service, resultPath, signal, onRows, onWait } = options;
  const { board, maxMatches } = service;
  const question = JSON.stringify([roster.hash, board ?? null, maxMatches ?? null]);
  const saved = await readProgress(resultPath, question);
  const file = await open(resultPath, saved === undefined ? 'w' : 'r+');
  try {
    await file.truncate(saved?.bytes ?? 0);
    let progress = saved ?? { question, rows: 0, bytes: 0, header: '', outcomes: {}, dates: [] };
    const answers: Promise<AnsweredChunk[]>[] = [];
    const writeNext = async () => {
      for (const answer of (await answers.shift()) ?? []) {
        progress = await append(file, progress, answer, roster);
        await saveProgress(resultPath, progress);
        onRows(progress);
      }
    };
    for await (const chunk of chunksOf(roster, progress.rows)) {
      signal.throwIfAborted();
      const answer = sendChunk(service, roster, chunk, signal, onWait);
      // An error is thrown when its turn comes.
      answer.catch(() => undefined);
      answers.push(answer);
      if (answers.length === IN_FLIGHT) await writeNext();
    }
    while (answers.length > 0) await writeNext();
    await forgetProgress(resultPath);
    return progress;
  } finally {
    await file.close();
  }
}

async function append(
  file: FileHandle,
  { question, rows, bytes, header, outcomes, dates }: SavedProgress,
  answer: AnsweredChunk,
  { format }: RosterFile,
): Promise<SavedProgress> {
  if (rows > 0 && answer.header !== header) {
    throw new RefusedError(
      'The service adds other columns now than in the rows above. Choose another --out file.',
    );
  }
  const mark = format.hasByteOrderMark ? '\ufeff' : '';
  const text = Buffer.from(rows === 0 ? mark + answer.header + answer.rows : answer.rows);
  await file.write(text, 0, text.length, bytes);
  const counted = new Map(Object.entries(outcomes));
  for (const [outcome, count] of answer.outcomes) addTo(counted, outcome, count);
  return {
    question,
    rows: rows + answer.count,
    bytes: bytes + text.length,
    header: answer.header,
    outcomes: Object.fromEntries(counted),
    dates: [...new Set([...dates, answer.date])],
  };
}
