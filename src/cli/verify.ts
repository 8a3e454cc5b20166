import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { summaryInWords } from '../answers/words.ts';
import { csvRows, firstCsvRow, type NumberedRow, plainCsv, spreadsheetCsv } from '../csv.ts';
import { addTo } from '../licenses/counts.ts';
import { csvFormat, isResultColumn } from '../rosters/answer.ts';
import { grouped, print, printError } from './output.ts';
import {
  chunksOf,
  type RosterFile,
  type RosterOptions,
  type RosterWork,
  rowsOf,
  runRoster,
  sendRows,
  withRosterOptions,
} from './roster-client.ts';

const SOME_INVALID = 2;

/** While the service answers one chunk, others are read, sent and written. */
const IN_FLIGHT = 3;

interface VerifyOptions extends RosterOptions {
  readonly out: string;
  readonly maxMatches?: string;
}

/** `licenses verify`: a client of the REST API. It needs neither OpenSearch nor Redis. */
export function verifyCommand(): Command {
  const command = new Command('verify').description(
    'verify a roster: a CSV file of licenses, of any size. Exit 0: all answered, 2: some rows invalid, 1: unfinished',
  );
  return withRosterOptions(
    command,
    'the CSV file; its first row names the columns, such as board, license_number, last_name',
  )
    .requiredOption(
      '--out <file>',
      'the CSV file to write: the roster with the columns of the results. One that has only the first rows of this roster is continued',
    )
    .option('--max-matches <count>', 'how many matches of a name to list, 1 to 20')
    .action(async (roster: string, options: VerifyOptions) => {
      const [path, out] = [resolve(roster), resolve(options.out)];
      if (out === path) throw new Error('--out must be another file than the roster.');
      process.exitCode = await runRoster(path, options, async (work) => {
        await verifyFile(work, options);
        work.display.end();
        return (await printSummary(work.roster, options.out)) > 0 ? SOME_INVALID : 0;
      });
    });
}

/**
 * Verifies a roster file of any size, and writes the result file in the order of the roster, after the rows that it
 * has already.
 *
 * @throws the signal's reason when it aborts
 */
async function verifyFile(
  { roster, service, display, onRows }: RosterWork,
  { board, maxMatches, out }: VerifyOptions,
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
  const done = await resultsSoFar(roster, out);
  let [written, columns] = [done.rows, done.columns];
  if (written > 0) {
    display.end();
    printError(
      `${out} has the results of ${grouped(written)} rows; the others follow. Delete it to start over.`,
    );
    onRows(written);
  }
  const file = await open(out, 'a');
  try {
    await file.truncate(done.bytes);
    const answers: Promise<Answer[]>[] = [];
    const writeNext = async () => {
      for (const { header, columns: answered, rows, count } of (await answers.shift()) ?? []) {
        if (written === 0) columns = answered;
        if (answered.join() !== columns.join())
          throw new Error(
            'The service adds other columns now than in the rows above. Choose another --out file.',
          );
        const mark = roster.format.hasByteOrderMark ? '\ufeff' : '';
        await file.appendFile(written === 0 ? mark + header + rows : rows);
        written += count;
        onRows(written);
      }
    };
    for await (const chunk of chunksOf(roster, done.rows)) {
      service.signal.throwIfAborted();
      const answer = answersOf(chunk);
      // An error is thrown when its turn comes.
      answer.catch(() => undefined);
      answers.push(answer);
      if (answers.length === IN_FLIGHT) await writeNext();
    }
    while (answers.length > 0) await writeNext();
  } finally {
    await file.close();
  }
}

/** What a result file has of a roster. */
interface Results {
  readonly rows: number;
  /** Where the last of these rows ends. */
  readonly bytes: number;
  /** Of its header row; none before the first answer. */
  readonly columns: readonly string[];
}

const NONE: Results = { rows: 0, bytes: 0, columns: [] };

/**
 * What an earlier call that was broken off has left in the result file, but its last row, which may be cut off. Nothing
 * where the file has another roster's rows, or all of them: then the roster is verified from its beginning.
 */
async function resultsSoFar(roster: RosterFile, out: string): Promise<Results> {
  const { delimiter } = csvFormat(roster.format);
  const asked = rowsOf(roster);
  let [columns, rows, bytes]: [readonly string[], number, number] = [[], -1, 0];
  const isOfRoster = async (cells: readonly string[]) => {
    const { value } = await asked.next();
    const expected = rows < 0 ? roster.columns : value?.cells;
    return (
      expected !== undefined && keptCells(roster, expected).every((cell, place) => cells[place] === cell)
    );
  };
  let last: { readonly cells: readonly string[]; readonly end: number } | undefined;
  let lastByte: number | undefined;
  async function* bytesOf() {
    for await (const chunk of createReadStream(out)) {
      lastByte = chunk.at(-1);
      yield chunk;
    }
  }
  try {
    for await (const row of csvRows(bytesOf(), { separator: delimiter, quotes: 'strict' })) {
      if (last !== undefined) {
        if (!(await isOfRoster(last.cells))) return NONE;
        if (rows < 0) columns = last.cells;
        [rows, bytes] = [rows + 1, last.end];
      }
      last = row;
    }
  } catch {
    // There is no file, or its last row is cut off inside quotation marks.
  }
  const isFinished =
    rows + 1 >= roster.total &&
    lastByte === roster.format.newline.codePointAt(roster.format.newline.length - 1);
  return rows < 1 || isFinished ? NONE : { columns, rows, bytes };
}

/** A row of the roster as the answer repeats it. */
function keptCells({ columns, format }: RosterFile, cells: readonly string[]): readonly string[] {
  const kept = columns.flatMap((column, at) => (isResultColumn(column) ? [] : [cells[at] ?? '']));
  const written = csvFormat(format);
  return firstCsvRow(Buffer.from(spreadsheetCsv([kept], written)), written.delimiter).cells;
}

/** The answer to `count` rows: its header row, and its other rows, as CSV. */
interface Answer {
  readonly header: string;
  readonly columns: readonly string[];
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
  const names = firstCsvRow(Buffer.from(header), written.delimiter).cells;
  return { header, columns: names, rows: bytes.toString('utf8', headerBytes), count };
}

/**
 * Reads the whole result file, and prints what it says.
 *
 * @returns how many rows are invalid
 * @throws {Error} when the file has not a row for each of the roster
 */
async function printSummary({ format, total }: RosterFile, out: string): Promise<number> {
  const [outcomes, cautions, dates] = [
    new Map<string, number>(),
    new Map<string, number>(),
    new Set<string>(),
  ];
  let rows = -1;
  let columns: readonly string[] = [];
  const written = { separator: csvFormat(format).delimiter, quotes: 'strict' } as const;
  for await (const { cells } of csvRows(createReadStream(out), written)) {
    rows += 1;
    if (rows === 0) {
      columns = cells;
      continue;
    }
    const cell = (name: string) => cells[columns.indexOf(`result_${name}`)] ?? '';
    const outcome = cell('outcome');
    addTo(outcomes, outcome);
    const found = cell('cautions').split(';').filter(Boolean);
    if (outcome === 'found' && found.length === 0) addTo(outcomes, 'clear');
    for (const caution of outcome === 'ambiguous' ? ['several match'] : found) addTo(cautions, caution);
    dates.add(cell('last_scraped').slice(0, 10));
  }
  if (rows !== total) throw new Error(`The service answered ${rows} rows of ${total}.`);
  const count = (outcome: string) => outcomes.get(outcome) ?? 0;
  const [clear, not_found, invalid] = [count('clear'), count('not_found'), count('invalid')];
  const summary = { found: count('found'), clear, ambiguous: count('ambiguous'), not_found, invalid };
  const reasons = [...cautions].toSorted(([, one], [, other]) => other - one);
  print([
    `${grouped(rows)} rows verified in the dataset of ${[...dates].join(' and ')}; ${out} has the results.`,
    `${summaryInWords(summary)}.`,
    ...(reasons.length === 0
      ? []
      : [`Attention: ${reasons.map(([name, each]) => `${grouped(each)} ${name}`).join(', ')}.`]),
    ...(dates.size > 1
      ? ['The dataset changed meanwhile: result_last_scraped says which one answered each row.']
      : []),
  ]);
  return invalid;
}
