import { formBody, listLimit, requireSameOrigin } from '../http/body.ts';
import { spendForItems } from '../http/limits.ts';
import { clientGone, type Route } from '../http/route.ts';
import { BadRequestError } from '../licenses/bad-request.ts';
import { nearestBoards } from '../licenses/boards.ts';
import { cautionsOf, NAME_DOES_NOT_MATCH } from '../licenses/cautions.ts';
import { FIELD_WORDS, type LookupWords } from '../licenses/lookup.ts';
import { notFoundDetail } from '../licenses/not-found.ts';
import {
  DEFAULT_LISTED_MATCHES,
  MAX_ITEMS,
  type RosterResult,
  type RosterSummary,
  readItems,
  rosterOutcome,
  summaryInWords,
} from '../rosters/roster.ts';
import { answerTable, type RosterTable, readTable, rowReader } from '../rosters/table.ts';
import { boardByCode, licenseLink } from './addresses.ts';
import { NOT_STATED, statusTags } from './license-facts.ts';
import { boardSelect } from './lookup-form.ts';
import { alert, dataTable, type Html, html, type Origin, orBadRequest, type PageServices } from './page.ts';
import { count, counted, longDate, shortDate } from './words.ts';

/** The most rows of a list. */
export const MAX_PAGE_ROWS = 500;

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
export function rosterPages({ rosters, page, limit, config, origin }: PageServices): Route[] {
  const cost = { limit, itemsPerRequest: config.ROSTER_ITEMS_PER_REQUEST };
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
        const table = await orBadRequest(() => tableOf(text));
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

/** @throws {BadRequestError} in words for a person */
async function tableOf(text: string): Promise<RosterTable> {
  if (text.trim() === '') throw new BadRequestError('Paste your list, or choose a file.');
  const table = await readTable(text);
  if (table.rows.length === 0) throw new BadRequestError('The list has no rows below the header row.');
  if (table.rows.length > MAX_PAGE_ROWS) {
    throw new BadRequestError(
      `The list has more than ${count(MAX_PAGE_ROWS)} rows. Split it, or use the REST API, which takes ${count(MAX_ITEMS)} in each request.`,
    );
  }
  return table;
}

/** The form of a list: pasted, or as a file. */
function rosterForm(text: string, board: string): Html {
  return html`<p class="intro">Up to ${MAX_PAGE_ROWS} licenses at once. Paste the rows of a spreadsheet saved as CSV, or choose the file. Nothing that you send is stored.</p>
<form action="/roster" method="post" enctype="multipart/form-data" aria-label="Check a list">
<div class="field"><label class="usa-label" for="roster">Your list</label>
<span class="usa-hint" id="roster-hint">The first row names the columns: license_number, or last_name and first_name, or business_name with search_type “business”. Other columns are kept. <a href="/roster/template.csv">Download a template</a></span>
<textarea class="usa-textarea" id="roster" name="roster" aria-describedby="roster-hint" spellcheck="false" rows="8">${text}</textarea></div>
<div class="field"><label class="usa-label" for="file">Or a CSV file</label>
<input class="usa-file-input plain-file" id="file" name="file" type="file" accept=".csv,text/csv"></div>
<div class="field"><label class="usa-label" for="board">Board of every row that has no column board</label>
${boardSelect('Each row names its board', board)}</div>
<button class="usa-button" type="submit">Check the list</button>
</form>`;
}

/** A list's answer. */
interface AnsweredRoster {
  readonly summary: RosterSummary;
  readonly results: readonly RosterResult[];
  readonly origin: Origin;
}

/** What a row needs, in the order of the table: what needs attention comes first. */
const NEEDS = ['attention', 'not_found', 'invalid', 'clear'] as const;
type Need = (typeof NEEDS)[number];

const RESULT_WORDS: Readonly<Record<Need, string>> = {
  attention: 'Needs attention',
  not_found: 'Not found',
  invalid: 'Not understood',
  clear: 'Clear',
};

function needOf({ outcome }: RosterResult, today: string): Need {
  if (outcome.outcome === 'found') {
    return cautionsOf(outcome.record, today, outcome.nameMatch).length === 0 ? 'clear' : 'attention';
  }
  const word = rosterOutcome(outcome);
  return word === 'not_found' || word === 'invalid' ? word : 'attention';
}

/** The summary and the table of a list's answer, with a button that sends the list again for a CSV file. */
function rosterResults(
  { summary, results, origin }: AnsweredRoster,
  sent: { readonly text: string; readonly board: string },
  today: string,
): Html {
  const rows = results.map((result) => ({ result, need: needOf(result, today) }));
  const ordered = NEEDS.flatMap((need) => rows.filter((each) => each.need === need));
  return html`<p class="summary">${summaryInWords(summary)}</p>
<form class="no-print" action="/roster" method="post" enctype="multipart/form-data"><textarea class="sent" name="roster" aria-hidden="true" tabindex="-1" readonly>${sent.text}</textarea><input type="hidden" name="board" value="${sent.board}"><input type="hidden" name="format" value="csv"><button class="usa-button usa-button--outline" type="submit">Download as CSV</button></form>
${dataTable(
  'usa-table--borderless cards results',
  html`${counted(results.length, 'row')}, those that need attention first <span class="source">State of Ohio dataset of ${longDate(origin.date)}</span>`,
  ['Row', 'Result', 'License', 'Name', 'Status', 'Expires', 'Note'],
  ordered.map(({ result, need }) => [
    result.reference ?? String(result.index + 1),
    result.outcome.outcome === 'several' ? 'Several fit' : RESULT_WORDS[need],
    ...cells(result, origin.date, today),
  ]),
)}
<div class="no-print"><h2>Check another list</h2>
${rosterForm('', sent.board)}</div>`;
}

/** The license, its name, status and expiry date, and a note. */
function cells({ outcome, foundBy }: RosterResult, date: string, today: string): (Html | string)[] {
  switch (outcome.outcome) {
    case 'found': {
      const { record, nameMatch } = outcome;
      const byName = foundBy === 'name' ? 'The only one that fits: compare it.' : '';
      return [
        licenseLink(record),
        record.full_name,
        statusTags(record, today, nameMatch),
        record.expiry_date === null ? NOT_STATED : shortDate(record.expiry_date),
        nameMatch === false ? html`<strong>${NAME_DOES_NOT_MATCH}</strong>` : byName,
      ];
    }
    case 'several':
      return [
        html`${outcome.records.map((record) => html`<p>${licenseLink(record)} ${statusTags(record, today)}</p>`)}`,
        '',
        '',
        '',
        `${outcome.truncated ? 'More than ' : ''}${counted(outcome.records.length, 'license')} fit. Add the number, or more of the name.`,
      ];
    case 'invalid':
      return ['', '', '', '', outcome.detail];
    default: {
      const near = outcome.request.by === 'number' ? [] : outcome.didYouMean;
      const similar = near.length > 0 ? ` Similar names: ${near.join(', ')}.` : '';
      return ['', '', '', '', `${notFoundDetail(outcome, date)}${similar}`];
    }
  }
}
