import { createReadStream } from 'node:fs';
import { appendFile, stat, truncate } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { summaryInWords } from '../answers/words.ts';
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
import { answersTo, type RosterFile, type RosterWork, rosterAction } from './roster.ts';
import { OTHER_SERVICE } from './service.ts';

const SOME_INVALID = 2;

/** While the service answers one chunk, others are read, sent and written. */
const IN_FLIGHT = 3;

/** A roster file of any size is verified by a running service. It needs neither OpenSearch nor Redis. */
export const ACTIONS: Actions = { verify: rosterAction(verifyFile) };

/** Writes the result file in the order of the roster, after the rows that it has already. */
async function verifyFile(work: RosterWork, { board, maxMatches, out = '' }: Options): Promise<Outcome> {
  const { roster, service } = work;
  // A file that can't be written is found before anything is sent.
  await appendFile(out, '');
  const [to, from] = await Promise.all([stat(out), stat(roster.path)]);
  // A link may lead to the same file, so the inodes are compared.
  if (to.ino === from.ino && to.dev === from.dev)
    throw new Error('--out must be another file than the roster.');
  const query = new URLSearchParams();
  if (board !== undefined) query.set('board', board);
  if (maxMatches !== undefined) query.set('max_matches', maxMatches);
  // Every chunk is read as the beginning of the file was understood.
  const names = roster.columns.map((column, at) =>
    isResultColumn(column) ? column : (roster.meanings[at] ?? `kept ${at + 1}`),
  );
  const format = csvFormat(roster.format);
  const written: CellFormat = { separator: format.delimiter, quotes: 'strict' };
  const done = await resultsSoFar(roster, out, written);
  let resultColumns = done.columns;
  if (done.rows > 0)
    printError(
      `${out} has the results of ${grouped(done.rows)} rows; the others follow. Delete it to start over.`,
    );

  /** The rows as the service repeats them, with the cells of their results. */
  async function send(rows: readonly NumberedRow[]): Promise<readonly Buffer[]> {
    const body = plainCsv([names, ...rows.map(({ cells }) => cells)], format);
    const sent = { method: 'POST', body, headers: { 'content-type': 'text/csv' } };
    const answer = Buffer.from(await service.text(`/api/v1/lookup/batch?${query}`, sent));
    const answered = await Array.fromAsync(csvRows(Readable.from([answer]), written));
    const columns = answered[0]?.cells.slice(keptCells(roster, names).length) ?? [];
    if (!columns.includes('result_outcome')) throw new Error(OTHER_SERVICE);
    if (resultColumns.length > 0 && columns.join() !== resultColumns.join())
      throw new Error('The service adds other columns now than before. Choose another --out file.');
    resultColumns = columns;
    return answered.slice(1).map(({ end }, at) => answer.subarray(answered[at]?.end, end));
  }

  for await (const rows of answersTo(work, send, { skip: done.rows, concurrency: IN_FLIGHT })) {
    // An earlier result stays until there is an answer.
    if (work.answered === done.rows) await truncate(out, done.bytes);
    const mark = roster.format.hasByteOrderMark ? '\ufeff' : '';
    const header = [...keptCells(roster, roster.columns), ...resultColumns];
    if (work.answered === 0) await appendFile(out, mark + spreadsheetCsv([header], format));
    await appendFile(out, Buffer.concat(rows));
  }
  return summarize(roster, out, written);
}

/** A row of the roster without the columns of an earlier result. */
const keptCells = ({ columns }: RosterFile, cells: readonly string[]): string[] =>
  columns.flatMap((column, at) => (isResultColumn(column) ? [] : [cells[at] ?? '']));

/** What a result file has of a roster: how many rows, where the last of them ends, and the columns of the results. */
const NONE: { rows: number; bytes: number; columns: readonly string[] } = { rows: 0, bytes: 0, columns: [] };

/**
 * What an unfinished call has left in the result file, without the last row, which may be cut off. Nothing if the file
 * has the rows of another roster, or all of this one: then the roster is verified from its beginning.
 */
async function resultsSoFar(roster: RosterFile, out: string, format: CellFormat): Promise<typeof NONE> {
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

/** What the result file says. */
async function summarize(roster: RosterFile, out: string, format: CellFormat): Promise<Outcome> {
  const [outcomes, cautions] = [new Map<string, number>(), new Map<string, number>()];
  const dates = new Set<string>();
  let columns: readonly string[] | undefined;
  for await (const { cells } of csvRows(createReadStream(out), format)) {
    const cell = (name: string) => cells[columns?.indexOf(`result_${name}`) ?? -1] ?? '';
    const [outcome, found] = [cell('outcome'), cell('cautions').split(';').filter(Boolean)];
    if (columns !== undefined) {
      addTo(outcomes, outcome);
      if (outcome === 'found' && found.length === 0) addTo(outcomes, 'clear');
      for (const caution of outcome === 'ambiguous' ? ['several match'] : found) addTo(cautions, caution);
      dates.add(cell('last_scraped').slice(0, 10));
    }
    columns ??= cells;
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
