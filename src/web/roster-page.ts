import { isHttpError } from 'http-errors';
import { TooManyRequestsError } from '../access/rate-limit.ts';
import { REQUEST_WORDS, summaryInWords } from '../answers/words.ts';
import { SEPARATORS } from '../csv.ts';
import { type Context, clientGone } from '../http/app.ts';
import { formBody, listLimit, requireSameOrigin } from '../http/body.ts';
import { ClientError } from '../http/errors.ts';
import { type Route, spendForItems, spendMore } from '../http/guard.ts';
import { BadRequestError } from '../licenses/bad-request.ts';
import type { ListRow } from '../records/saved-records.ts';
import { answerTable } from '../rosters/answer.ts';
import { columnsOf, hasCriterion, type ListColumns, MAX_COLUMNS, meaningNamed } from '../rosters/columns.ts';
import { type List, readList, rowFields, type Table, tableOf } from '../rosters/list.ts';
import { isWorkbook, prepareForWorkbook, WorkbookEndedError } from '../rosters/workbook.ts';
import { checkList, ITEMS_FOR_ONE_OVER_REST, rosterOf, shownListHash } from './list-check.ts';
import { saveList } from './list-record.ts';
import { boardSelect } from './lookup-form.ts';
import { type FieldProblem, type Html, html, NOTHING, orBadRequest, type PageServices } from './page.ts';
import { noteFields, noteProblems, notesOf } from './record-pages.ts';
import { columnsQuestion, MEANING_WORDS, rosterForm, type SentList, sentFields } from './roster-form.ts';
import { rowSections, summaryOf } from './roster-results.ts';
import { counted, listed, longDate } from './words.ts';

const TITLE = 'Check a list of licenses';

const PAGE_LIMIT = listLimit('a list takes at most 1 MB');

/** A field for each column, and the others. */
const MAX_FIELDS = MAX_COLUMNS + 20;

/** Each is read in a process of its own. */
const POINTS_OF_WORKBOOK = 4;

/** A list to begin with. */
const TEMPLATE = `Employee ID,Last name,First name,License number,Board
1,Example,Pat,RN.987654321,Nursing Board
2,Example,Robin,,Nursing Board
`;

const CSV_TYPE = 'text/csv; charset=utf-8';

/** GET /roster, POST /roster and the template. Nothing that is sent is stored, unless the visitor saves the check. */
export function rosterPages(services: PageServices): Route[] {
  const { page, origin } = services;
  return [
    {
      method: 'GET',
      path: '/roster',
      handle: (ctx) => {
        prepareForWorkbook();
        return page.send(ctx, {
          title: TITLE,
          origin: origin(),
          body: rosterForm({ text: '', board: '' }, []),
        });
      },
    },
    {
      method: 'GET',
      path: '/roster/template.csv',
      handle: (ctx) => {
        ctx.type = CSV_TYPE;
        ctx.attachment('licenses-to-check.csv');
        ctx.body = TEMPLATE;
      },
    },
    { method: 'POST', path: '/roster', handle: (ctx) => answerList(ctx, services) },
  ];
}

async function answerList(ctx: Context, services: PageServices): Promise<void> {
  const { page, origin, limit, endedWorkbooks, config } = services;
  requireSameOrigin(ctx);
  const form = await formBody(ctx, PAGE_LIMIT, MAX_FIELDS).catch((error: unknown) => {
    if (isTooLarge(error)) return error;
    throw error;
  });
  const refused = async (status: number, sent: SentList, field: string, words: string) => {
    ctx.status = status;
    const problems = [{ field, words }];
    const body = rosterForm(sent, problems);
    await page.send(ctx, { title: TITLE, problems, origin: origin(), body, isPrivate: true });
  };
  if (!(form instanceof FormData)) {
    await refused(413, { text: '', board: '' }, 'file', TOO_LARGE);
    return;
  }
  const board = textOf(form.get('board'));
  const pasted = textOf(form.get('roster'));
  const isPasted = pasted.trim() !== '';
  const separator = SEPARATORS.find((each) => each === form.get('separator'));
  const list = await orBadRequest(async () => {
    const given = isPasted ? pasted : await fileOf(form);
    if (typeof given === 'string' || !isWorkbook(given)) return readList(given, separator);
    await spendMore(ctx, limit, POINTS_OF_WORKBOOK);
    if (!(await endedWorkbooks.hasLeft(ctx.ip))) throw new BadRequestError(WAIT_FOR_NEXT);
    return readList(given);
  });
  if (list instanceof WorkbookEndedError) await endedWorkbooks.spend(ctx.ip);
  const field = isPasted ? 'roster' : 'file';
  if (list instanceof BadRequestError) return refused(400, { text: pasted, board }, field, list.message);

  const sheet =
    list.sheet === undefined ? textOf(form.get('sheet')).slice(0, MAX_SHEET_WORDS) : sheetWords(list.sheet);
  const chosen = chosenColumns(form, list);
  const { doubts, ...columns } =
    chosen === undefined ? columnsOf(list.rows.map(({ cells }) => cells)) : { ...chosen, doubts: [] };
  const sent = { text: list.text, separator: list.format.separator, sheet, board, columns: chosen };
  const problems = chosen === undefined ? [] : columnProblems(chosen);
  if (problems.length > 0 || doubts.length > 0 || form.get('format') === 'columns') {
    if (list.rows.length === 0)
      return refused(400, sent, field, 'The list is empty. Paste your rows, or choose a file.');
    const body = columnsQuestion(list, columns, doubts, sent, problems);
    await page.send(ctx, {
      title: 'Which column is what?',
      problems,
      origin: origin(),
      body,
      isPrivate: true,
    });
    return;
  }
  const readable = await orBadRequest(async () => tableOf(list, columns));
  if (readable instanceof BadRequestError) return refused(400, sent, field, readable.message);
  const itemsPerRequest = config.ROSTER_ITEMS_PER_REQUEST * ITEMS_FOR_ONE_OVER_REST;
  try {
    await spendForItems(ctx, readable.rows.length, { limit, itemsPerRequest });
  } catch (error) {
    if (!(error instanceof TooManyRequestsError)) throw error;
    ctx.set('retry-after', String(error.retryAfterSeconds));
    const words = `Your address has sent more than this website takes in a minute. Wait ${counted(error.retryAfterSeconds, 'second')}, then press the button again.`;
    return refused(429, sent, 'roster', words);
  }
  await sendAnswer(ctx, services, readable, { ...sent, shown: textOf(form.get('shown')) }, form);
}

const WAIT_FOR_NEXT =
  'Reading your last workbook took too long. Wait a minute before the next one, or copy the list and paste it.';

const MAX_SHEET_WORDS = 1000;

/** Which sheet of a workbook was read. */
function sheetWords({ name, others }: NonNullable<List['sheet']>): string {
  const notRead = others.length === 0 ? '' : ` Not read: ${listed(others.map((other) => `“${other}”`))}.`;
  return `The sheet “${name}” was read.${notRead}`.slice(0, MAX_SHEET_WORDS);
}

const TOO_LARGE =
  'The list is larger than 1 MB, so it was not read. Copy only the rows and columns that are needed into a new sheet, or split the list.';

function isTooLarge(error: unknown): boolean {
  return (
    (error instanceof ClientError && error.status === 413) || (isHttpError(error) && error.status === 413)
  );
}

async function fileOf(form: FormData): Promise<Buffer> {
  const file = form.get('file');
  if (!(file instanceof File) || file.size === 0) {
    throw new BadRequestError('Paste your list, or choose a file that is not empty.');
  }
  return Buffer.from(await file.arrayBuffer());
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** What the visitor said of the columns; `undefined` where nobody has asked. */
function chosenColumns(form: FormData, { rows }: List): ListColumns | undefined {
  const columns = form.getAll('column');
  if (columns.length === 0) return undefined;
  const header = Number(textOf(form.get('header')) || Number.NaN);
  const headerAt = Number.isInteger(header) && header >= 1 ? header - 1 : undefined;
  return {
    headerAt,
    header: headerAt === undefined ? [] : (rows[headerAt]?.cells ?? []),
    meanings: columns.map((column) => meaningNamed(textOf(column))),
  };
}

function columnProblems({ meanings }: ListColumns): FieldProblem[] {
  const twice = meanings.flatMap((meaning, at) =>
    meaning !== undefined && meanings.indexOf(meaning) < at
      ? [
          {
            field: `column-${at + 1}`,
            words: `Another column is the ${MEANING_WORDS[meaning].toLowerCase()} already.`,
          },
        ]
      : [],
  );
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
  const format = form.get('format');
  const notes = notesOf(form);
  const { rosters, page } = services;
  const fields = list.rows.map(({ number, cells }) => ({ number, fields: rowFields(list, cells) }));
  if (format === 'csv') {
    const { shape, parts } = answerTable(list);
    const answer = await rosters.answer(await rosterOf(fields, sent.board), shape, clientGone(ctx));
    ctx.type = CSV_TYPE;
    ctx.attachment('licenses-checked.csv');
    ctx.body = Buffer.concat(parts(answer));
    return;
  }
  const checked = await checkList(ctx, services, fields, sent.board);
  const { rows, origin } = checked;
  const { date, isSampleData, today } = origin;
  const isSaved = format === 'save';
  const problems = isSaved ? noteProblems(notes) : [];
  if (isSaved && problems.length === 0) {
    const instead = html`<a href="/roster">Check the list again</a> and print the page, or download the file.`;
    return saveList(ctx, services, checked, { shown: sent.shown, notes, instead });
  }
  if (isSaved) ctx.status = 400;
  const body = html`<p>${counted(rows.length, 'row')}, checked in the State’s dataset of <strong>${longDate(date)}</strong>. The issuing boards are the authority.</p>
${whatToDo({ ...sent, shown: shownListHash(checked) }, rows, noteFields(notes, problems))}
${rowSections(rows, today)}
${columnsRead(list, sent.sheet ?? '')}
<p class="no-print"><a href="/roster">Check another list</a></p>`;
  await page.send(ctx, {
    title: summaryInWords(summaryOf(rows)),
    problems,
    origin: { date, isSampleData },
    body,
    isPrivate: true,
  });
}

/** One form with the list, and a button for each thing to do with it. */
function whatToDo(sent: SentList, rows: readonly ListRow[], notes: Html): Html {
  const needsBoard = rows.some(({ note }) => note === REQUEST_WORDS.row.noBoard('person'));
  return html`<form class="no-print list-actions" action="/roster" method="post" enctype="multipart/form-data" aria-label="This list">${sentFields(sent, !needsBoard)}
${
  needsBoard
    ? html`<div class="field list-board"><label class="usa-label" for="board">Some rows have a name, but no license number and no board. Which board?</label>
${boardSelect('Choose a board', sent.board)}
<button class="usa-button" type="submit">Check again with this board</button></div>`
    : NOTHING
}<input type="hidden" name="shown" value="${sent.shown ?? ''}">${notes}<button class="usa-button" type="submit" name="format" value="save">Save this check</button>
<button class="usa-button usa-button--outline" type="submit" name="format" value="csv">Download as CSV</button>
<button class="usa-button usa-button--unstyled" type="submit" name="format" value="columns">Choose the columns</button></form>`;
}

/** Which sheet, rows and columns were read as what. */
function columnsRead({ columns, meanings, leftOut }: Table, sheet: string): Html {
  const named = columns.map((column, at) => [`“${column}”`, meanings[at]] as const);
  const read = named.flatMap(([column, meaning]) =>
    meaning === undefined ? [] : [`${column} as ${MEANING_WORDS[meaning].toLowerCase()}`],
  );
  const kept = named.flatMap(([column, meaning]) => (meaning === undefined ? [column] : []));
  const rows = `${counted(leftOut.length, 'row')} left out (repeated names of columns, totals): ${listed(leftOut.map(String))}.`;
  return html`<p class="usa-hint">${sheet} Read: ${listed(read)}.${kept.length === 0 ? '' : ` Only kept: ${listed(kept)}.`}${leftOut.length === 0 ? '' : ` ${rows}`}</p>`;
}
