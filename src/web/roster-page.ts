import { isHttpError } from 'http-errors';
import { TooManyRequestsError } from '../access/rate-limit.ts';
import { formBody, listLimit, requireSameOrigin } from '../http/body.ts';
import { ClientError } from '../http/errors.ts';
import { spendForItems, spendMore } from '../http/limits.ts';
import { type Context, clientGone, type Route } from '../http/route.ts';
import { BadRequestError } from '../licenses/bad-request.ts';
import type { ListRow } from '../records/saved-records.ts';
import { columnsOf, hasCriterion, meaningNamed } from '../rosters/columns.ts';
import {
  isWorkbook,
  type ReadableList,
  readableList,
  readList,
  rowFields,
  SEPARATORS,
} from '../rosters/list.ts';
import { summaryInWords } from '../rosters/roster.ts';
import { answerTable, MAX_COLUMNS } from '../rosters/table.ts';
import { checkList, ITEMS_FOR_ONE_OVER_REST, NO_BOARD, rosterOf, shownListHash } from './list-check.ts';
import { saveList } from './list-record.ts';
import { boardSelect } from './lookup-form.ts';
import { type FieldProblem, type Html, html, NOTHING, orBadRequest, type PageServices } from './page.ts';
import { noteFields, noteProblems, notesOf } from './record-pages.ts';
import {
  type ChosenColumns,
  columnsQuestion,
  MEANING_WORDS,
  rosterForm,
  type SentList,
  sentFields,
} from './roster-form.ts';
import { rowSections, summaryOf } from './roster-results.ts';
import { counted, listed, longDate } from './words.ts';

const TITLE = 'Check a list of licenses';

const PAGE_LIMIT = listLimit('a list takes at most 1 MB');

/** A field for each column, and the others. */
const MAX_FIELDS = MAX_COLUMNS + 20;

/** A small file may take 0.4 s of CPU to unpack. */
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
      handle: (ctx) =>
        page.send(ctx, { title: TITLE, origin: origin(), body: rosterForm({ text: '', board: '' }, []) }),
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
  const { page, origin, limit, config } = services;
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
    if (typeof given !== 'string' && isWorkbook(given)) await spendMore(ctx, limit, POINTS_OF_WORKBOOK);
    return readList(given, separator);
  });
  const field = isPasted ? 'roster' : 'file';
  if (list instanceof BadRequestError) return refused(400, { text: pasted, board }, field, list.message);

  const chosen = chosenColumns(form);
  const guessed = columnsOf(list.rows);
  const columns = chosen ?? guessed;
  const sent = { text: list.text, separator: list.separator, board, columns: chosen };
  const problems = chosen === undefined ? [] : columnProblems(chosen);
  if (problems.length > 0 || (chosen === undefined && !guessed.isClear) || form.get('format') === 'columns') {
    if (list.rows.length === 0)
      return refused(400, sent, field, 'The list is empty. Paste your rows, or choose a file.');
    const body = columnsQuestion(list, columns, sent, problems);
    await page.send(ctx, {
      title: 'Which column is what?',
      problems,
      origin: origin(),
      body,
      isPrivate: true,
    });
    return;
  }
  const readable = await orBadRequest(async () => readableList(list, columns));
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
function chosenColumns(form: FormData): ChosenColumns | undefined {
  const columns = form.getAll('column');
  if (columns.length === 0) return undefined;
  const header = Number(textOf(form.get('header')) || Number.NaN);
  return {
    headerAt: Number.isInteger(header) && header >= 1 ? header - 1 : undefined,
    meanings: columns.map((column) => meaningNamed(textOf(column))),
  };
}

function columnProblems({ meanings }: ChosenColumns): FieldProblem[] {
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
  list: ReadableList,
  sent: SentList,
  form: FormData,
): Promise<void> {
  const format = form.get('format');
  const notes = notesOf(form);
  const { rosters, page } = services;
  const fields = list.rows.map((cells) => rowFields(list.meanings, cells));
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
${columnsRead(list)}
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
  const needsBoard = rows.some(({ note }) => note === NO_BOARD);
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

/** Which columns were read as what. */
function columnsRead({ columns, meanings }: ReadableList): Html {
  const named = columns.map((column, at) => [`“${column}”`, meanings[at]] as const);
  const read = named.flatMap(([column, meaning]) =>
    meaning === undefined ? [] : [`${column} as ${MEANING_WORDS[meaning].toLowerCase()}`],
  );
  const kept = named.flatMap(([column, meaning]) => (meaning === undefined ? [column] : []));
  return html`<p class="usa-hint">Read: ${listed(read)}.${kept.length === 0 ? '' : ` Only kept: ${listed(kept)}.`}</p>`;
}
