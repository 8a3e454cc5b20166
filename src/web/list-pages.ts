import { TooManyRequestsError } from '../access/rate-limit.ts';
import { REQUEST_WORDS } from '../answers/words.ts';
import { SEPARATORS } from '../csv.ts';
import { type Context, clientGone } from '../http/app.ts';
import { formBody, listLimit } from '../http/body.ts';
import { errorResponse } from '../http/errors.ts';
import { spend, spendForItems, spendMore } from '../http/guard.ts';
import { boardByCode } from '../licenses/boards.ts';
import { BadRequestError } from '../licenses/lookup.ts';
import { ROW_FIELDS, type RowFields, rowRequest } from '../licenses/row-lookup.ts';
import type { ListRow } from '../records/saved-records.ts';
import { answerTable } from '../rosters/answer.ts';
import { columnsOf, hasCriterion, type ListColumns, MAX_COLUMNS, type Meaning } from '../rosters/columns.ts';
import { type List, readList, rowFields, type Table, tableOf } from '../rosters/list.ts';
import { DEFAULT_LISTED_MATCHES, type Roster, type RosterResult, readItems } from '../rosters/roster.ts';
import { isWorkbook, WorkbookEndedError } from '../rosters/workbook.ts';
import {
  columnsQuestion,
  LIST_FORM,
  listForm,
  MEANING_WORDS,
  type SentList,
  sentFields,
} from './list-form.ts';
import { listRow, listTitle, rowSections, type SentRow, withRepeatsNoted } from './list-rows.ts';
import { type FieldProblem, type Html, html, type PageServices, selectField } from './page.ts';
import { noteFields, notesOf, textOf } from './record-notes.ts';
import { saveRecord } from './record-pages.ts';
import { BOARD_CHOICES } from './search-form.ts';
import { counted, listed } from './words.ts';

export const LIST_TITLE = 'Check a list of licenses';

const PAGE_LIMIT = listLimit('a list takes at most 1 MB');

/** One field per column, plus the other fields of the form. */
const MAX_FIELDS = MAX_COLUMNS + 20;

/** A workbook counts as several requests, because reading it takes a separate process. */
const POINTS_OF_WORKBOOK = 4;

/** Visitors send a list again to download or save it, so an item costs less than an item over REST. */
const ITEMS_FOR_ONE_OVER_REST = 4;

const CSV_TYPE = 'text/csv; charset=utf-8';

export function newListBody(): Html {
  return listForm({ text: '', board: '' }, []);
}

/** POST /roster. The list is not stored unless the visitor saves the check. */
export async function answeredListPage(ctx: Context, services: PageServices): Promise<void> {
  const { sendPage, limit, config } = services;
  const form = await formBody(ctx, PAGE_LIMIT, MAX_FIELDS).catch((error: unknown) => {
    if (errorResponse(error).status !== 413) throw error;
  });
  const refused = async (status: number, sent: SentList, field: string, words: string) => {
    ctx.status = status;
    const problems = [{ field, words }];
    await sendPage(ctx, { title: LIST_TITLE, problems, body: listForm(sent, problems) });
  };
  if (form === undefined) return refused(413, { text: '', board: '' }, 'file', TOO_LARGE);
  const board = textOf(form, 'board');
  const pasted = textOf(form, 'roster');
  let sent: SentList = { text: pasted, board };
  let table: Table;
  try {
    const list = await givenList(ctx, services, form);
    const sheet =
      list.sheet === undefined ? textOf(form, 'sheet').slice(0, MAX_SHEET_WORDS) : sheetWords(list.sheet);
    const chosen = chosenColumns(form, list);
    const { doubts, ...columns } =
      chosen === undefined ? columnsOf(list.rows.map(({ cells }) => cells)) : { ...chosen, doubts: [] };
    sent = { text: list.text, separator: list.format.separator, sheet, board, columns: chosen };
    const problems = chosen === undefined ? [] : columnProblems(chosen);
    if (problems.length > 0 || doubts.length > 0 || form.get('format') === 'columns') {
      if (list.rows.length === 0)
        throw new BadRequestError('The list is empty. Paste your rows, or choose a file.');
      const body = columnsQuestion(list, columns, doubts, sent, problems);
      return await sendPage(ctx, { title: 'What is in each column?', problems, body });
    }
    table = tableOf(list, columns);
  } catch (error) {
    if (!(error instanceof BadRequestError)) throw error;
    if (error instanceof WorkbookEndedError) await services.endedWorkbooks.spend(ctx.ip);
    return refused(400, sent, pasted.trim() === '' ? 'file' : 'roster', error.message);
  }
  const itemsPerRequest = config.ROSTER_ITEMS_PER_REQUEST * ITEMS_FOR_ONE_OVER_REST;
  try {
    await spendForItems(ctx, table.rows.length, { limit, itemsPerRequest });
  } catch (error) {
    if (!(error instanceof TooManyRequestsError)) throw error;
    ctx.set('retry-after', String(error.retryAfterSeconds));
    const words = `Too many requests from your network this minute. Wait ${counted(error.retryAfterSeconds, 'second')}, then press the button again.`;
    return refused(429, sent, 'roster', words);
  }
  return sendAnswer(ctx, services, table, sent, form);
}

const WAIT_FOR_NEXT =
  'Reading your last workbook took too long. Wait a minute before the next one, or copy the list and paste it.';

const MAX_SHEET_WORDS = 1000;

/** Says which sheet of a workbook was read, and which were not. */
function sheetWords({ name, others }: NonNullable<List['sheet']>): string {
  const notRead = others.length === 0 ? '' : ` Not read: ${listed(others.map((other) => `“${other}”`))}.`;
  return `The sheet “${name}” was read.${notRead}`.slice(0, MAX_SHEET_WORDS);
}

const TOO_LARGE =
  'The list is larger than 1 MB, so it was not read. Copy only the rows and columns that are needed into a new sheet, or split the list.';

const LIST_AND_FILE =
  'You pasted a list and also chose a file. Clear the list to check the file, or press the button again to check the list.';

/** @throws {BadRequestError} if there is no list, or a list and a file, or if the file is unreadable or must wait */
async function givenList(ctx: Context, services: PageServices, form: FormData): Promise<List> {
  const [file, pasted] = [form.get('file'), textOf(form, 'roster')];
  const isFile = file instanceof File && file.size > 0;
  const isPasted = pasted.trim() !== '';
  if (isFile && isPasted) throw new BadRequestError(LIST_AND_FILE);
  if (!isFile && !isPasted) throw new BadRequestError('Paste your list, or choose a file that is not empty.');
  const given = isFile ? Buffer.from(await file.arrayBuffer()) : pasted;
  if (typeof given !== 'string' && isWorkbook(given)) {
    await spendMore(ctx, services.limit, POINTS_OF_WORKBOOK);
    if (!(await services.endedWorkbooks.hasLeft(ctx.ip))) throw new BadRequestError(WAIT_FOR_NEXT);
  }
  const separator = SEPARATORS.find((each) => each === form.get('separator'));
  return readList(given, separator);
}

/** The visitor's choice of columns; `undefined` if the form did not ask for it. */
function chosenColumns(form: FormData, { rows }: List): ListColumns | undefined {
  const columns = form.getAll('column');
  if (columns.length === 0) return undefined;
  const header = Number(textOf(form, 'header') || Number.NaN);
  const headerAt = Number.isInteger(header) && header >= 1 ? header - 1 : undefined;
  return {
    headerAt,
    header: headerAt === undefined ? [] : (rows[headerAt]?.cells ?? []),
    meanings: columns.map((column) => ROW_FIELDS.find((name) => name === column)),
  };
}

function columnProblems({ meanings }: ListColumns): FieldProblem[] {
  const twice = meanings.flatMap((meaning, at) => {
    if (meaning === undefined || meanings.indexOf(meaning) === at) return [];
    const words = `Another column already has the meaning “${MEANING_WORDS[meaning]}”.`;
    return [{ field: `column-${at + 1}`, words }];
  });
  if (twice.length > 0 || hasCriterion(meanings)) return twice;
  return [{ field: 'column-1', words: 'Say which column has the license number, or a name.' }];
}

async function sendAnswer(
  ctx: Context,
  services: PageServices,
  list: Table,
  sent: SentList,
  form: FormData,
): Promise<void> {
  const { rosters, sendPage } = services;
  const format = form.get('format');
  const fields = list.rows.map(({ number, cells }) => ({ number, fields: rowFields(list, cells) }));
  const notes = notesOf(form);
  if (format === 'save') await spend(ctx, services.saveLimits.aMinute);
  const roster = await rosterOf(fields, sent.board);
  if (format === 'csv') {
    const { shape, parts } = answerTable(list);
    const answer = await rosters.answer(roster, shape, clientGone(ctx));
    ctx.type = CSV_TYPE;
    ctx.attachment(answer.origin.isSampleData ? 'sample-data-checked.csv' : 'licenses-checked.csv');
    ctx.body = Buffer.concat(parts(answer));
    return;
  }
  const shape = (results: readonly RosterResult[]) =>
    results.flatMap((result) => {
      const row = fields[result.index];
      return row === undefined ? [] : [listRow(result, row)];
    });
  const { shaped, origin } = await rosters.answer(roster, shape, clientGone(ctx));
  const rows = withRepeatsNoted(shaped.flat());
  const { publication, date, isSampleData, files, today } = origin;
  if (format === 'save') {
    const record = { publication, date, sample: isSampleData, files, today };
    const list = { board: sent.board, rows };
    return saveRecord(ctx, services, { kind: 'list', ...record, ...list, ...notes });
  }
  const body = html`${whatToDo(sent, rows, noteFields(notes))}
${columnsRead(list, sent.sheet ?? '')}
${rowSections(rows, today)}
<p class="no-print"><a href="/roster">Check another list</a></p>`;
  await sendPage(ctx, { title: listTitle(rows), origin, body });
}

/** Turns the rows of a list into lookups. An error in a row makes only that row invalid. */
async function rosterOf(rows: readonly SentRow[], board: string): Promise<Roster> {
  const defaultBoard = boardByCode(board);
  const reader = {
    // The page shows the reference; the lookup does not need it.
    fieldsOf: ({ fields: { reference: _, ...fields } }: SentRow): RowFields => fields,
    requestOf: (fields: RowFields) => rowRequest(fields, REQUEST_WORDS.row, defaultBoard),
  };
  return { items: await readItems(rows, reader), maxMatches: DEFAULT_LISTED_MATCHES };
}

/** A form with the list and a button for each action: save, download, print, choose the columns. */
function whatToDo(sent: SentList, rows: readonly ListRow[], notes: Html): Html {
  const needsBoard = rows.some(({ note }) => note === REQUEST_WORDS.row.noBoard('person'));
  const label = 'Some rows have a name, but no license number and no board. Which board?';
  return html`<form class="no-print" ${LIST_FORM} aria-label="This list">${sentFields(sent, !needsBoard)}
${
  needsBoard &&
  html`${selectField({ id: 'board', label }, 'Choose a board', BOARD_CHOICES, sent.board)}<p><button type="submit">Check again with this board</button></p>`
}${notes}<div class="row">${
    rows.some(({ need }) => need !== 'invalid') &&
    html`<button type="submit" name="format" value="save">Save this check</button>`
  }
<button class="plain" type="submit" name="format" value="csv">Download as CSV</button>
<button class="plain" type="button" data-action="print" hidden>Print</button>
<button class="plain" type="submit" name="format" value="columns">Choose the columns</button></div></form>`;
}

/** The words for a meaning inside a sentence: `kind of license`, without the example. */
function shortMeaning(meaning: Meaning): string {
  return MEANING_WORDS[meaning].replace(/,.*/, '').toLowerCase();
}

/** Says how the sheet, the rows and the columns were read. Says nothing about the columns if there is only one. */
function columnsRead({ columns, meanings, leftOut, above }: Table, sheet: string): Html {
  const named = columns.map((column, at) => [`“${column}”`, meanings[at]] as const);
  const read = named.flatMap(([column, meaning]) =>
    meaning === undefined ? [] : [`${column} as ${shortMeaning(meaning)}`],
  );
  const kept = named.flatMap(([column, meaning]) => (meaning === undefined ? [column] : []));
  const parts = [
    sheet,
    columns.length > 1 && `Read: ${listed(read)}.`,
    kept.length > 0 && `Not used: ${listed(kept)}.`,
    above.length > 0 &&
      `${counted(above.length, 'row')} above the header row, not checked: ${listed(above.map(String))}.`,
    leftOut.length > 0 &&
      `${counted(leftOut.length, 'row')} left out (repeated header rows, totals): ${listed(leftOut.map(String))}.`,
  ];
  return html`<p class="hint">${parts.filter(Boolean).join(' ')}</p>`;
}
