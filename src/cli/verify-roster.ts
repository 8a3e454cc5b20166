import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { firstCsvRow, type NumberedRow, plainCsv, spreadsheetCsv } from '../csv.ts';
import { csvFormat, isResultColumn } from '../rosters/answer.ts';
import { chunksOf, type RosterFile, type RosterWork, sendRows } from './roster-client.ts';

/** While the service answers one chunk, others are read, sent and written. */
const IN_FLIGHT = 3;

/** What is asked about a roster, and where the answers go. */
interface Verification {
  readonly board?: string | undefined;
  readonly maxMatches?: string | undefined;
  readonly resultPath: string;
}

/** What is saved beside the result file while it grows. */
const progressFile = z.object({
  /** What was asked: the roster's hash and the options. Another question starts over. */
  question: z.string(),
  /** How many rows of the roster are answered. */
  rows: z.int(),
  /** How many bytes of the result file hold their answers. What follows was not finished. */
  bytes: z.int(),
  /** The header row of the answers. */
  header: z.string(),
});

/**
 * Verifies a roster file of any size, and writes the result file in the order of the roster. After an interruption
 * the same call continues where the result file ends.
 *
 * @throws the signal's reason when it aborts
 */
export async function verifyFile(
  { roster, service, onRows }: RosterWork,
  { board, maxMatches, resultPath }: Verification,
): Promise<void> {
  const query = new URLSearchParams({
    ...(board !== undefined && { board }),
    ...(maxMatches !== undefined && { max_matches: maxMatches }),
  });
  const format = csvFormat(roster.format);
  const names = sentNames(roster);
  const answersOf = async (chunk: readonly NumberedRow[]) => {
    const answered = await sendRows(service, chunk, (rows) => ({
      path: `/api/v1/lookup/batch?${query}`,
      contentType: 'text/csv',
      body: plainCsv([names, ...rows.map(({ cells }) => cells)], format),
    }));
    return answered.map(({ rows, text }) => answerOf(text, roster, rows.length));
  };
  const question = JSON.stringify([roster.sha256, board ?? null, maxMatches ?? null]);
  const progressPath = `${resultPath}.progress.json`;
  const progress = await readProgress(progressPath, resultPath, question);
  if (progress.rows > 0) onRows(progress.rows);
  const file = await open(resultPath, 'a');
  try {
    await file.truncate(progress.bytes);
    const answers: Promise<Answer[]>[] = [];
    const writeNext = async () => {
      for (const { header, rows, count } of (await answers.shift()) ?? []) {
        if (progress.rows > 0 && header !== progress.header)
          throw new Error(
            'The service adds other columns now than in the rows above. Choose another --out file.',
          );
        const mark = roster.format.hasByteOrderMark ? '\ufeff' : '';
        const text = progress.rows === 0 ? mark + header + rows : rows;
        await file.appendFile(text);
        progress.rows += count;
        progress.bytes += Buffer.byteLength(text);
        progress.header = header;
        await writeFile(`${progressPath}.new`, JSON.stringify(progress));
        await rename(`${progressPath}.new`, progressPath);
        onRows(progress.rows);
      }
    };
    for await (const chunk of chunksOf(roster, progress.rows)) {
      service.signal.throwIfAborted();
      const answer = answersOf(chunk);
      // An error is thrown when its turn comes.
      answer.catch(() => undefined);
      answers.push(answer);
      if (answers.length === IN_FLIGHT) await writeNext();
    }
    while (answers.length > 0) await writeNext();
    await rm(progressPath, { force: true });
  } finally {
    await file.close();
  }
}

/** The progress of an earlier call that was interrupted, or the beginning. */
async function readProgress(path: string, resultPath: string, question: string) {
  try {
    const saved = progressFile.parse(JSON.parse(await readFile(path, 'utf8')));
    const { size } = await stat(resultPath);
    if (saved.question === question && saved.bytes <= size) return saved;
  } catch {
    // There is none.
  }
  return { question, rows: 0, bytes: 0, header: '' };
}

/** The answer to `count` rows: its header row, and its other rows, as CSV. */
interface Answer {
  readonly header: string;
  readonly rows: string;
  readonly count: number;
}

/** The names of the columns as they are sent: every chunk is read as the beginning of the file was understood. */
function sentNames({ columns, meanings }: RosterFile): string[] {
  return columns.map((column, at) => meanings[at] ?? (isResultColumn(column) ? column : `kept ${at + 1}`));
}

/** @throws {Error} for an answer that is not one of this service */
function answerOf(text: string, { columns, format }: RosterFile, count: number): Answer {
  const bytes = Buffer.from(text);
  const written = csvFormat(format);
  const { cells, bytes: headerBytes } = firstCsvRow(bytes, written.delimiter);
  if (!cells.includes('result_outcome'))
    throw new Error('The answer is not one of this service. Is the URL right?');
  const kept = columns.filter((column) => !isResultColumn(column));
  const header = spreadsheetCsv([[...kept, ...cells.slice(kept.length)]], written);
  return { header, rows: bytes.toString('utf8', headerBytes), count };
}
