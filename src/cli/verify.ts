import { createReadStream } from 'node:fs';
import { appendFile, stat, truncate } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { NEED_WORDS, summaryInWords } from '../answers/words.ts';
import {
  type CellFormat,
  csvRows,
  type NumberedRow,
  plainCsv,
  spreadsheetCsv,
  withoutFormulas,
} from '../csv.ts';
import { addTo } from '../licenses/counts.ts';
import { csvFormat, isResultColumn } from '../rosters/answer.ts';
import type { Actions, Options } from './options.ts';
import { grouped, type Outcome, printError } from './output.ts';
import { answersTo, rosterAction, type SentRoster } from './roster.ts';
import { OTHER_SERVICE } from './service.ts';

const SOME_INVALID = 2;

/** The number of requests at a time. While the service answers one, others are prepared and written. */
const IN_FLIGHT = 3;

/** Has a running service verify a roster file of any size. Needs neither OpenSearch nor Redis. */
export const ACTIONS: Actions = { verify: rosterAction(verifyFile) };

/** Writes the results in the order of the roster, after the rows that the result file already has. */
async function verifyFile(roster: SentRoster, { board, maxMatches, out = '' }: Options): Promise<Outcome> {
  // If the file can't be written, this fails before anything is sent.
  await appendFile(out, '');
  const [to, from] = await Promise.all([stat(out), stat(roster.path)]);
  // Two paths may be the same file, because one is a link. So this compares the inodes.
  if (to.ino === from.ino && to.dev === from.dev)
    throw new Error('--out must be another file than the roster.');
  const query = new URLSearchParams();
  if (board !== undefined) query.set('board', board);
  if (maxMatches !== undefined) query.set('max_matches', maxMatches);
  // The service must read every chunk with the meanings that the beginning of the file has.
  const names = roster.columns.map((column, at) =>
    isResultColumn(column) ? column : (roster.meanings[at] ?? `kept ${at + 1}`),
  );
  const format = csvFormat(roster.format);
  const written: CellFormat = { separator: format.delimiter, quotes: 'strict' };
  const done = await resultsSoFar(roster, out, written);
  let resultColumns = done.columns;
  const next = 'the others follow. Delete it to start over.';
  if (done.rows > 0) printError(`${out} has the results of ${grouped(done.rows)} rows; ${next}`);

  /** Returns the lines of the response, one for each row: its cells as they were sent, and its result. */
  async function send(rows: readonly NumberedRow[]): Promise<readonly Buffer[]> {
    const body = plainCsv([names, ...rows.map(({ cells }) => cells)], format);
    const sent = { method: 'POST', body, headers: { 'content-type': 'text/csv' } };
    const answer = Buffer.from(await roster.service.text(`/api/v1/lookup/batch?${query}`, sent));
    const answered = await Array.fromAsync(csvRows(Readable.from([answer]), written));
    const columns = answered[0]?.cells.slice(keptCells(roster, names).length) ?? [];
    if (!columns.includes('result_outcome')) throw new Error(OTHER_SERVICE);
    if (resultColumns.length > 0 && columns.join() !== resultColumns.join())
      throw new Error('The service adds other columns now than before. Choose another --out file.');
    resultColumns = columns;
    return answered.slice(1).map(({ end }, at) => answer.subarray(answered[at]?.end, end));
  }

  for await (const rows of answersTo(roster, send, { skip: done.rows, concurrency: IN_FLIGHT })) {
    // An earlier result stays until the first answer has come.
    if (roster.answered === done.rows) await truncate(out, done.bytes);
    const mark = roster.format.hasByteOrderMark ? '\ufeff' : '';
    const header = [...keptCells(roster, roster.columns), ...resultColumns];
    if (roster.answered === 0) await appendFile(out, mark + spreadsheetCsv([header], format));
    await appendFile(out, Buffer.concat(rows));
  }
  return summarize(roster, out, written);
}

/** The cells of a row, without the columns that came from an earlier result. */
const keptCells = ({ columns }: SentRoster, cells: readonly string[]): string[] =>
  columns.flatMap((column, at) => (isResultColumn(column) ? [] : [cells[at] ?? '']));

/** The part of a roster that a result file has: rows, the bytes up to the end of the last one, and result columns. */
const NONE: { rows: number; bytes: number; columns: readonly string[] } = { rows: 0, bytes: 0, columns: [] };

/**
 * Reads what an interrupted command left in the result file. The last row does not count, because it may be cut off. If
 * the file has the rows of another roster, or all rows of this one, nothing counts, and the command starts over.
 */
async function resultsSoFar(roster: SentRoster, out: string, format: CellFormat): Promise<typeof NONE> {
  const asked = roster.rows();
  let done = { ...NONE, rows: -1 };
  let before: (NumberedRow & { readonly end: number }) | undefined;
  try {
    for await (const row of csvRows(createReadStream(out), format)) {
      if (before !== undefined) {
        const { cells, end } = before;
        const { value } = await asked.next();
        const kept = value && keptCells(roster, value.cells);
        if (!kept?.every((cell, at) => withoutFormulas(cell, format.separator) === cells[at])) return NONE;
        const columns = done.rows < 0 ? cells.slice(kept.length) : done.columns;
        done = { rows: done.rows + 1, bytes: end, columns };
      }
      before = row;
    }
  } catch {
    // The last row is cut off inside quotation marks.
  }
  return done.rows < 1 || done.rows + 1 >= roster.total ? NONE : done;
}

async function summarize(roster: SentRoster, out: string, format: CellFormat): Promise<Outcome> {
  const [outcomes, cautions] = [new Map<string, number>(), new Map<string, number>()];
  const dates = new Set<string>();
  const rows = csvRows(createReadStream(out), format);
  const columns = (await rows.next()).value?.cells ?? [];
  for await (const { cells } of rows) {
    const cell = (name: string) => cells[columns.indexOf(`result_${name}`)] ?? '';
    const [outcome, found] = [cell('outcome'), cell('cautions').split(';').filter(Boolean)];
    addTo(outcomes, outcome);
    if (cell('verdict') === NEED_WORDS.clear) addTo(outcomes, 'clear');
    for (const caution of outcome === 'ambiguous' ? ['several match'] : found) addTo(cautions, caution);
    dates.add(cell('last_scraped').slice(0, 10));
  }
  const { found = 0, clear = 0, ambiguous = 0, not_found = 0, invalid = 0 } = Object.fromEntries(outcomes);
  const reasons = [...cautions].toSorted(([, one], [, other]) => other - one);
  const attention = reasons.map(([name, each]) => `${grouped(each)} ${name}`).join(', ');
  return {
    words: [
      `${grouped(roster.total)} rows verified in the dataset of ${[...dates].join(' and ')}; ${out} has the results.`,
      `${summaryInWords({ found, clear, ambiguous, not_found, invalid })}.`,
      ...(attention === '' ? [] : [`Attention: ${attention}.`]),
    ],
    code: invalid > 0 ? SOME_INVALID : 0,
  };
}
