import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
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
import type { Actions } from './options.ts';
import { grouped, type Outcome, printError } from './output.ts';
import { chunksOf, type RosterFile, type RosterWork, rosterAction, sendRows } from './roster.ts';
import { otherService, type ServiceOptions } from './service.ts';

const SOME_INVALID = 2;

/** While the service answers one chunk, others are read, sent and written. */
const IN_FLIGHT = 3;

interface VerifyOptions extends ServiceOptions {
  readonly out: string;
  readonly board?: string;
  readonly maxMatches?: string;
}

/** A roster file of any size is verified by a running service. It needs neither OpenSearch nor Redis. */
export const ACTIONS: Actions = { verify: rosterAction(verifyFile) };

/** Writes the result file in the order of the roster, after the rows that it has already. */
async function verifyFile(
  { roster, service, onRows }: RosterWork,
  { board, maxMatches, out }: VerifyOptions,
): Promise<Outcome> {
  const [to, from] = await Promise.all([out, roster.path].map((path) => stat(path).catch(() => undefined)));
  // Also by a link.
  if (to !== undefined && to.ino === from?.ino && to.dev === from.dev)
    throw new Error('--out must be another file than the roster.');
  const query = new URLSearchParams({
    ...(board !== undefined && { board }),
    ...(maxMatches !== undefined && { max_matches: maxMatches }),
  });
  // Every chunk is read as the beginning of the file was understood.
  const names = roster.columns.map((column, at) =>
    isResultColumn(column) ? column : (roster.meanings[at] ?? `kept ${at + 1}`),
  );
  const format = csvFormat(roster.format);
  let resultColumns: readonly string[] = [];

  /** The rows as the service repeats them, with the cells of their results. */
  async function answersTo(rows: readonly NumberedRow[]): Promise<readonly Buffer[]> {
    const body = plainCsv([names, ...rows.map(({ cells }) => cells)], format);
    const answer = Buffer.from(await service.text({ path: `/api/v1/lookup/batch?${query}`, body }));
    const answered = await Array.fromAsync(csvRows(Readable.from([answer]), resultFormat(roster)));
    const columns = answered[0]?.cells.slice(keptCells(roster, names).length) ?? [];
    if (!columns.includes('result_outcome')) throw new Error(otherService());
    if (resultColumns.length > 0 && columns.join() !== resultColumns.join())
      throw new Error('The service adds other columns now than before. Choose another --out file.');
    resultColumns = columns;
    return answered.slice(1).map(({ end }, at) => answer.subarray(answered[at]?.end, end));
  }

  const done = await resultsSoFar(roster, out);
  resultColumns = done.columns;
  if (done.rows > 0)
    printError(
      `${out} has the results of ${grouped(done.rows)} rows; the others follow. Delete it to start over.`,
    );
  let written = done.rows;
  const answered: AsyncIterable<readonly Buffer[]> = Readable.from(chunksOf(roster, written)).map(
    (rows: readonly NumberedRow[]) => sendRows(rows, answersTo),
    { concurrency: IN_FLIGHT },
  );
  const file = await open(out, 'a');
  try {
    for await (const rows of answered) {
      // An earlier result stays until there is an answer.
      if (written === done.rows) await file.truncate(done.bytes);
      const mark = roster.format.hasByteOrderMark ? '\ufeff' : '';
      const header = [...keptCells(roster, roster.columns), ...resultColumns];
      if (written === 0) await file.appendFile(mark + spreadsheetCsv([header], format));
      await file.appendFile(Buffer.concat(rows));
      written += rows.length;
      onRows(written);
    }
  } finally {
    await file.close();
  }
  return summarize(roster, out);
}

/** A row of the roster without the columns of an earlier result. */
function keptCells({ columns }: RosterFile, cells: readonly string[]): string[] {
  return columns.flatMap((column, at) => (isResultColumn(column) ? [] : [cells[at] ?? '']));
}

/** How the result file is written. */
function resultFormat({ format }: RosterFile): CellFormat {
  return { separator: csvFormat(format).delimiter, quotes: 'strict' };
}

/** What a result file has of a roster. */
interface Results {
  rows: number;
  /** Where the last of these rows ends. */
  bytes: number;
  columns: readonly string[];
}

const NONE: Results = { rows: 0, bytes: 0, columns: [] };

/**
 * What an unfinished call has left in the result file, without the last row, which may be cut off. Nothing if the file
 * has the rows of another roster, or all of this one: then the roster is verified from its beginning.
 */
async function resultsSoFar(roster: RosterFile, out: string): Promise<Results> {
  const format = resultFormat(roster);
  const asked = roster.rows();
  const done = { ...NONE, rows: -1 };
  let last: { readonly cells: readonly string[]; readonly end: number } | undefined;
  try {
    for await (const row of csvRows(createReadStream(out), format)) {
      const [{ cells, end }, isFirst] = [last ?? row, last === undefined];
      last = row;
      if (isFirst) continue;
      const { value } = await asked.next();
      const kept = value && keptCells(roster, value.cells);
      if (!kept?.every((cell, at) => withoutFormulas(cell, format.separator) === cells[at])) return NONE;
      if (done.rows < 0) done.columns = cells.slice(kept.length);
      done.rows += 1;
      done.bytes = end;
    }
  } catch {
    // There is no file, or its last row is cut off inside quotation marks.
  }
  return done.rows < 1 || done.rows + 1 >= roster.total ? NONE : done;
}

/** What the result file says. */
async function summarize(roster: RosterFile, out: string): Promise<Outcome> {
  const [outcomes, cautions] = [new Map<string, number>(), new Map<string, number>()];
  const dates = new Set<string>();
  let columns: readonly string[] = [];
  for await (const { cells } of csvRows(createReadStream(out), resultFormat(roster))) {
    const cell = (name: string) => cells[columns.indexOf(`result_${name}`)] ?? '';
    if (columns.length === 0) columns = cells;
    else {
      const [outcome, found] = [cell('outcome'), cell('cautions').split(';').filter(Boolean)];
      addTo(outcomes, outcome);
      if (outcome === 'found' && found.length === 0) addTo(outcomes, 'clear');
      for (const caution of outcome === 'ambiguous' ? ['several match'] : found) addTo(cautions, caution);
      dates.add(cell('last_scraped').slice(0, 10));
    }
  }
  const of = (outcome: string) => outcomes.get(outcome) ?? 0;
  const [found, clear, ambiguous] = [of('found'), of('clear'), of('ambiguous')];
  const summary = { found, clear, ambiguous, not_found: of('not_found'), invalid: of('invalid') };
  const reasons = [...cautions].toSorted(([, one], [, other]) => other - one);
  const attention = reasons.map(([name, each]) => `${grouped(each)} ${name}`).join(', ');
  return {
    words: [
      `${grouped(roster.total)} rows verified in the dataset of ${[...dates].join(' and ')}; ${out} has the results.`,
      `${summaryInWords(summary)}.`,
      ...(attention === '' ? [] : [`Attention: ${attention}.`]),
      ...(dates.size > 1
        ? ['The dataset changed meanwhile: result_last_scraped says which one answered each row.']
        : []),
    ],
    code: summary.invalid > 0 ? SOME_INVALID : 0,
  };
}
