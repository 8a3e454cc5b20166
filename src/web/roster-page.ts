import type { RateLimit } from '../access/rate-limit.ts';
import { formBody, listLimit, requireSameOrigin } from '../http/body.ts';
import { spendForItems } from '../http/limits.ts';
import { clientGone, type Route } from '../http/route.ts';
import { BadRequestError } from '../licenses/bad-request.ts';
import { nearestBoards } from '../licenses/boards.ts';
import { FIELD_WORDS, type LookupWords } from '../licenses/lookup.ts';
import { DEFAULT_LISTED_MATCHES, MAX_ITEMS, type RosterResult, readItems } from '../rosters/roster.ts';
import type { Rosters } from '../rosters/service.ts';
import { answerTable, type RosterTable, readTable, rowReader } from '../rosters/table.ts';
import { boardByCode } from './addresses.ts';
import { alert, html, type Origin, type PageWriter } from './page.ts';
import { MAX_PAGE_ROWS, rosterForm, rosterResults } from './roster-results.ts';
import { count } from './words.ts';

/** What the roster page is made from. */
export interface RosterPageServices {
  readonly rosters: Rosters;
  readonly page: PageWriter;
  /** What a roster costs an address. */
  readonly cost: { readonly limit: RateLimit; readonly itemsPerRequest: number };
  readonly origin: () => Origin | undefined;
}

const TITLE = 'Check a list of licenses';

const PAGE_LIMIT = listLimit('a list takes at most 1 MB');

/** A list to begin with. */
const TEMPLATE = `reference,board,license_number,last_name,first_name
1,Nursing Board,RN.987654321,Example,
2,Nursing Board,,Example,Robin
`;

/** How the page says what is wrong with a row. */
const ROW_WORDS: LookupWords = {
  ...FIELD_WORDS,
  unknownBoard: (name) =>
    `No board has exactly the name given; the nearest is "${nearestBoards(name)[0].name}".`,
  noBoard: () => 'board is required: choose one for all rows, or name it in a column board.',
};

const CSV_TYPE = 'text/csv; charset=utf-8';

/** GET /roster, POST /roster and the template. Nothing that is sent is stored. */
export function rosterPages({ rosters, page, cost, origin }: RosterPageServices): Route[] {
  return [
    {
      method: 'GET',
      path: '/roster',
      handle: (ctx) => page.send(ctx, { title: TITLE, origin: origin(), body: rosterForm('', '') }),
    },
    {
      method: 'GET',
      path: '/roster/template.csv',
      handle: (ctx) => {
        ctx.type = CSV_TYPE;
        ctx.attachment('roster.csv');
        ctx.body = TEMPLATE;
      },
    },
    {
      method: 'POST',
      path: '/roster',
      handle: async (ctx) => {
        requireSameOrigin(ctx);
        const form = await formBody(ctx, PAGE_LIMIT);
        const text = await rosterText(form);
        const boardCode = textOf(form.get('board'));
        const table = await tableOf(text);
        if (table instanceof BadRequestError) {
          ctx.status = 400;
          const body = html`${alert('error', html`${table.message}`)}${rosterForm(text, boardCode)}`;
          await page.send(ctx, { title: TITLE, origin: origin(), body, isPrivate: true });
          return;
        }
        await spendForItems(ctx, table.rows.length, cost);
        const reader = {
          fieldsOf: rowReader(table),
          defaultBoard: boardByCode(boardCode),
          words: ROW_WORDS,
        };
        const roster = { items: await readItems(table.rows, reader), maxMatches: DEFAULT_LISTED_MATCHES };
        if (form.get('format') === 'csv') {
          const { shape, parts } = answerTable(table);
          const answer = await rosters.answer(roster, shape, clientGone(ctx));
          ctx.type = CSV_TYPE;
          ctx.attachment('roster-result.csv');
          ctx.body = Buffer.concat(parts(answer));
          return;
        }
        const shape = (results: readonly RosterResult[]) => results;
        const { date, isSampleData, today, summary, shaped } = await rosters.answer(
          roster,
          shape,
          clientGone(ctx),
        );
        const answered = { summary, results: shaped.flat(), origin: { date, isSampleData } };
        const body = rosterResults(answered, { text, board: boardCode }, today);
        await page.send(ctx, {
          title: 'Result of your list',
          origin: answered.origin,
          body,
          isPrivate: true,
        });
      },
    },
  ];
}

/** What was pasted, or else the file that was chosen. */
async function rosterText(form: FormData): Promise<string> {
  const pasted = textOf(form.get('roster'));
  if (pasted.trim() !== '') return pasted;
  const file = form.get('file');
  if (!(file instanceof File)) return '';
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw new BadRequestError(
      'The file is not a CSV file in UTF-8. In a spreadsheet, save it as "CSV UTF-8".',
    );
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The rows, or what is wrong with them. */
async function tableOf(text: string): Promise<RosterTable | BadRequestError> {
  try {
    if (text.trim() === '') throw new BadRequestError('Paste your list, or choose a file.');
    const table = await readTable(text);
    if (table.rows.length === 0) throw new BadRequestError('The list has no rows below the header row.');
    if (table.rows.length > MAX_PAGE_ROWS) {
      throw new BadRequestError(
        `The list has more than ${count(MAX_PAGE_ROWS)} rows. Split it, or use the REST API, which takes ${count(MAX_ITEMS)} in each request.`,
      );
    }
    return table;
  } catch (error) {
    if (error instanceof BadRequestError) return error;
    throw error;
  }
}
