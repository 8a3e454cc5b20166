import { Readable } from 'node:stream';
import { z } from 'zod';
import type { ZodOpenApiOperationObject } from 'zod-openapi';
import { viewOf } from '../answers/view.ts';
import { REQUEST_WORDS } from '../answers/words.ts';
import { type NumberedRow, plainCsv } from '../csv.ts';
import { bodyTooLarge, jsonBody, listLimit, textBody, utf8WithMark } from '../http/body.ts';
import { ClientError } from '../http/errors.ts';
import { type RosterCost, spendForItems } from '../http/limits.ts';
import { type Context, clientGone, type Route } from '../http/route.ts';
import { BadRequestError, checked } from '../licenses/bad-request.ts';
import { type Board, boardByText } from '../licenses/boards.ts';
import {
  type InvalidLookup,
  type LookupOutcome,
  lookupFields,
  MAX_LISTED_MATCHES,
  readLookup,
} from '../licenses/lookup.ts';
import { ROW_FIELDS, type RowFields, rowRequest } from '../licenses/row-lookup.ts';
import { type AnsweredTable, answerTable, csvFormat, RESULT_COLUMNS } from '../rosters/answer.ts';
import { readTable, rowFields } from '../rosters/list.ts';
import {
  DEFAULT_LISTED_MATCHES,
  type ItemReader,
  MAX_ITEMS,
  type Roster,
  type RosterResult,
  readItems,
  reference,
} from '../rosters/roster.ts';
import type { AnswerFormat, Rosters } from '../rosters/service.ts';
import {
  absentIfBlank,
  COMMON_ERRORS,
  errorEntry,
  queryOf,
  REST_PATH,
  responseEntry,
  unknownBoard,
  wholeNumber,
} from './operation.ts';
import { JSON_ANSWER, rosterAnswerBody } from './roster-response.ts';
import { EXAMPLE, EXAMPLE_ORIGIN, MISSED_NUMBER, OTHER_EXAMPLE } from './verify-response.ts';

export const ROSTER_LIMIT = listLimit('a roster takes at most 1 MB');

const MEDIA_TYPES = 'Send the roster as JSON, with Content-Type: application/json, or as CSV, with text/csv.';
const ITEMS_ERROR = `items must be an array of 1 to ${MAX_ITEMS} lookups.`;
const MATCHES_ERROR = `max_matches must be a whole number from 1 to ${MAX_LISTED_MATCHES}.`;

const maxMatches = z.int(MATCHES_ERROR).min(1, MATCHES_ERROR).max(MAX_LISTED_MATCHES, MATCHES_ERROR);

const anyBoard = z.string('board must be a string.').transform((text): Board => {
  const found = boardByText(text);
  if (found === undefined) throw unknownBoard(text);
  return found;
});

const rosterQuery = z.object({
  board: anyBoard.optional().meta({
    description:
      'The board of every item that names none: its name, code or short name. A board in a JSON body overrides it',
  }),
  max_matches: z
    .preprocess(wholeNumber, maxMatches.default(DEFAULT_LISTED_MATCHES))
    .describe('The most matches of a name to list. A max_matches in a JSON body overrides it'),
});

const rosterBody = z.object(
  {
    board: z
      .preprocess(absentIfBlank, anyBoard.nullish())
      .meta({ description: 'The board of every item that names none' }),
    max_matches: maxMatches.nullish().describe('The most matches of a name to list'),
    // The items are counted before anything looks at each.
    items: z.custom<readonly unknown[]>(
      (value) => Array.isArray(value) && value.length >= 1 && value.length <= MAX_ITEMS,
      ITEMS_ERROR,
    ),
  },
  'The body must be a JSON object.',
);

const documentedRosterBody = rosterBody
  .extend({
    items: z
      .array(
        lookupFields
          .extend({
            board: lookupFields.shape.board.describe(
              'A board by its name, code or short name; without one, a number is looked up at all boards',
            ),
            reference: reference.describe('Your own name for the item, which its result repeats'),
          })
          .meta({ id: 'RosterItem', description: 'The fields of /lookup/verify, and a reference' }),
      )
      .min(1)
      .max(MAX_ITEMS),
  })
  .meta({ id: 'RosterRequest' });

interface SentRoster {
  /** How many items it has. Reading them takes time, so they are paid for first. */
  readonly count: number;
  /** Reads the items. What is wrong with one makes only that item invalid. */
  readonly read: () => Promise<Roster>;
  /** The roster as rows, to which an answer in CSV adds columns. */
  readonly table: () => AnsweredTable;
  readonly isTable: boolean;
}

/** @throws {BadRequestError} for what is wrong with the roster as a whole */
async function sentRoster(ctx: Context): Promise<SentRoster> {
  const type = ctx.request.type.toLowerCase();
  if (type === 'text/csv') {
    const table = await readTable(await textBody(ctx, ROSTER_LIMIT, utf8WithMark));
    const options = queryOf(ctx, rosterQuery);
    if (table.rows.length === 0) throw new BadRequestError('The CSV has no rows below the header row.');
    const reader = {
      fieldsOf: ({ cells }: NumberedRow) => rowFields(table, cells),
      requestOf: (fields: RowFields) => rowRequest(fields, REQUEST_WORDS.restItem, options.board),
    };
    const read = () => readRoster(table.rows, reader, options.max_matches);
    return { count: table.rows.length, read, table: () => table, isTable: true };
  }
  if (type !== '' && type !== 'application/json') throw new ClientError(415, MEDIA_TYPES);
  const body = await jsonBody(ctx, ROSTER_LIMIT);
  const query = queryOf(ctx, rosterQuery);
  const { items, ...sent } = checked(rosterBody, body);
  const board = sent.board ?? query.board;
  const reader = {
    fieldsOf: (item: unknown) => item,
    requestOf: (item: unknown) => readLookup(item, REQUEST_WORDS.restItem, board, boardByText),
  };
  const read = () => readRoster(items, reader, sent.max_matches ?? query.max_matches);
  return { count: items.length, read, table: () => itemsTable(items), isTable: false };
}

async function readRoster<Item, Fields>(
  items: readonly Item[],
  reader: ItemReader<Item, Fields>,
  maxMatches: number,
): Promise<Roster> {
  return { items: await readItems(items, reader), maxMatches };
}

/** The items of a JSON body as a table with the fields that any of them has. */
function itemsTable(items: readonly unknown[]): AnsweredTable {
  const objects = items.map((item) => (isObject(item) ? item : {}));
  const columns = ROW_FIELDS.filter((column) => objects.some((item) => Object.hasOwn(item, column)));
  const rows = objects.map((item, at) => ({
    number: at + 1,
    cells: columns.map((column) => cellText(item[column])),
  }));
  return { columns, rows, format: { separator: ',', newline: '\r\n', hasByteOrderMark: false } };
}

function isObject(item: unknown): item is Readonly<Record<string, unknown>> {
  return typeof item === 'object' && item !== null;
}

function cellText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** POST /lookup/batch: up to 1,000 lookups in one request, as JSON or as CSV. */
export function rosterRoute(rosters: Rosters, cost: RosterCost): Route {
  return {
    method: 'POST',
    path: `${REST_PATH}/lookup/batch`,
    operation: rosterOperation(cost.itemsPerRequest),
    handle: async (ctx) => {
      const { count, read, table, isTable } = await sentRoster(ctx);
      await spendForItems(ctx, count, cost);
      const roster = await read();
      const types = isTable ? ['text/csv', 'application/json'] : ['application/json', 'text/csv'];
      const isCsv = (ctx.accepts(types) || types[0]) === 'text/csv';
      const { shape, parts } = isCsv ? answerTable(table()) : JSON_ANSWER;
      const body = parts(await rosters.answer(roster, shape, clientGone(ctx)));
      ctx.type = isCsv ? 'csv' : 'json';
      ctx.body = Readable.from(body);
      ctx.length = body.reduce((sum, { length }) => sum + length, 0);
    },
  };
}

const REQUEST_EXAMPLE = {
  board: 'Nursing Board',
  items: [
    { reference: 'A-17', license_number: 'RN.987654321', last_name: 'Example' },
    { reference: 'A-18', last_name: 'Example' },
    { reference: 'A-19', license_number: 'RN.987654312' },
    { reference: 'A-20' },
  ],
};

const TABLE_EXAMPLE = itemsTable(REQUEST_EXAMPLE.items);

/** The answer to the example, as the service writes it. */
function exampleAnswer({ shape, parts }: AnswerFormat<Buffer>): string {
  const outcomes: readonly (LookupOutcome | InvalidLookup)[] = [
    { outcome: 'found', record: EXAMPLE, nameMatch: true },
    { outcome: 'several', records: [EXAMPLE, OTHER_EXAMPLE], truncated: false },
    MISSED_NUMBER,
    { outcome: 'invalid', detail: REQUEST_WORDS.restItem.noName },
  ];
  const results = outcomes.map((outcome, index): RosterResult => {
    const reference = REQUEST_EXAMPLE.items[index]?.reference ?? null;
    return { index, reference, view: viewOf(outcome, EXAMPLE_ORIGIN), suggestionsOmitted: false };
  });
  const summary = { found: 1, clear: 1, ambiguous: 1, not_found: 1, invalid: 1 };
  return Buffer.concat(parts({ origin: EXAMPLE_ORIGIN, summary, shaped: [shape(results)] })).toString();
}

const CSV_RULES =
  'CSV: a header row with the names of the fields, or such as people write them (Lic #, Employee name); any other ' +
  'column is kept. UTF-8. The ' +
  'response repeats the rows and columns and adds ' +
  `${RESULT_COLUMNS.join(', ')}. A cell that a spreadsheet would run as a formula begins with an apostrophe.`;

function rosterOperation(itemsPerRequest: number): ZodOpenApiOperationObject {
  const { content, ...answer } = responseEntry(
    'A result for each item. No result is missing: a roster that cannot be answered is a 503.',
    rosterAnswerBody,
    { example: JSON.parse(exampleAnswer(JSON_ANSWER)) },
  );
  const csvRequest = plainCsv(
    [TABLE_EXAMPLE.columns, ...TABLE_EXAMPLE.rows.map(({ cells }) => cells)],
    csvFormat(TABLE_EXAMPLE.format),
  );
  const csvAnswer = exampleAnswer(answerTable(TABLE_EXAMPLE));
  return {
    operationId: 'verifyRoster',
    tags: ['Lookups'],
    summary: 'Verify a roster',
    description:
      `Up to ${MAX_ITEMS.toLocaleString('en-US')} lookups, each answered as /lookup/verify answers it, and all of them ` +
      `from one day’s dataset. ${itemsPerRequest} items count as one request. ${CSV_RULES}`,
    requestParams: { query: rosterQuery },
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: documentedRosterBody,
          examples: { roster: { value: REQUEST_EXAMPLE } },
        },
        'text/csv': { schema: z.string(), examples: { roster: { value: csvRequest } } },
      },
    },
    responses: {
      '200': {
        ...answer,
        content: { ...content, 'text/csv': { schema: z.string(), example: csvAnswer } },
      },
      '400': errorEntry(
        'A roster without items, with too many, or that cannot be read',
        new BadRequestError(ITEMS_ERROR),
      ),
      ...COMMON_ERRORS,
      '413': errorEntry(
        'A body of more than 1 MB, or more items than a minute’s limit',
        bodyTooLarge(ROSTER_LIMIT),
      ),
      '415': errorEntry('A body that is neither JSON nor CSV', new ClientError(415, MEDIA_TYPES)),
    },
  };
}
