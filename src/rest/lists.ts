import { Readable } from 'node:stream';
import { z } from 'zod';
import { originBody, originFields } from '../answers/origin.ts';
import { FOUND_BY, missFacts } from '../answers/view.ts';
import { itemsOf, REQUEST_WORDS } from '../answers/words.ts';
import { type Context, clientGone } from '../http/app.ts';
import { jsonBody, listLimit, textBody, utf8WithMark } from '../http/body.ts';
import { ClientError } from '../http/errors.ts';
import { named, type Route, resource, spendForItems } from '../http/guard.ts';
import { boardByText } from '../licenses/boards.ts';
import {
  BadRequestError,
  checked,
  lookupFields,
  MAX_LISTED_MATCHES,
  readLookup,
} from '../licenses/lookup.ts';
import { ROW_FIELDS, rowRequest } from '../licenses/row-lookup.ts';
import { type AnsweredTable, answerTable, RESULT_COLUMNS } from '../rosters/answer.ts';
import { readTable, rowFields } from '../rosters/list.ts';
import {
  DEFAULT_LISTED_MATCHES,
  MAX_ITEMS,
  type RosterResult,
  readItems,
  reference,
} from '../rosters/roster.ts';
import { type AnswerFormat, MAX_ITEMS_WITH_SUGGESTIONS } from '../rosters/service.ts';
import { anyBoard, feedCursor, fromText, listBody, whole } from './fields.ts';
import { licenseBody, missBody } from './lookup.ts';
import type { RestServices } from './services.ts';

export const resultBase = {
  index: z.int().describe('The place of the item in the roster, from 0'),
  reference: z.string().nullable().describe('As in the item'),
};

function itemEnded<const Outcome extends string, More extends z.ZodRawShape>(
  id: string,
  outcome: Outcome,
  more: More,
) {
  return named(id, { ...resultBase, outcome: z.literal(outcome), ...more });
}

const foundResult = itemEnded('FoundItem', 'found', {
  found_by: z
    .enum(FOUND_BY)
    .describe('name: the only match, so compare it with the person or business meant'),
  record: licenseBody,
});

const ambiguousResult = itemEnded('AmbiguousItem', 'ambiguous', {
  matches: z.array(licenseBody).max(MAX_LISTED_MATCHES).describe('Exact names first'),
  truncated: z.boolean().describe('Whether more match than are listed'),
});

const { reason } = missFacts.shape;
const texts = z.array(z.string());
const OMITTED_WORDS = `Present where did_you_mean is left out: after ${MAX_ITEMS_WITH_SUGGESTIONS} such items`;

export const notFoundResult = itemEnded('NotFoundItem', 'not_found', {
  detail: z.string().describe('What was searched, in which dataset, and what to do'),
  ...missFacts.shape,
  reason: reason.optional().describe('Of an item with a number, as in the 404 of /lookup/verify'),
  did_you_mean: texts.describe('Numbers or names that exist and may be meant, as in /lookup/verify'),
  suggestions_omitted: z.literal(true).optional().describe(OMITTED_WORDS),
});

export const invalidResult = itemEnded('InvalidItem', 'invalid', {
  detail: z.string().describe('What is wrong and what to send instead, as in a 400 of /lookup/verify'),
});

const clear = z.int().describe('Found items, by number or as the only match, that have no cautions');
const summary = z.object({ found: z.int(), clear, ambiguous: z.int(), not_found: z.int(), invalid: z.int() });
const result = z.discriminatedUnion('outcome', [foundResult, ambiguousResult, notFoundResult, invalidResult]);

const rosterAnswerBody = named('RosterAnswer', {
  count: z.int().min(1).max(MAX_ITEMS),
  summary: summary.describe('How many items ended in each way; clear is part of found'),
  ...originFields,
  feed_cursor: feedCursor,
  results: z.array(result).describe('In the order of the items'),
});

export function resultBody({ index, reference, view, suggestionsOmitted }: RosterResult) {
  const item = { index, reference, outcome: view.outcome };
  switch (view.outcome) {
    case 'found':
      return { ...item, found_by: view.foundBy, record: view.record };
    case 'ambiguous':
      return { ...item, matches: view.records, truncated: view.truncated };
    case 'not_found':
      return { ...item, ...missBody(view), ...(suggestionsOmitted && { suggestions_omitted: true }) };
    case 'invalid':
      return { ...item, detail: view.detail };
  }
}

/** The format of a roster's answer in JSON. */
const JSON_ANSWER: AnswerFormat<Buffer> = {
  shape: (results) => Buffer.from(results.map(separatedBody).join('')),
  parts: ({ origin, summary, shaped }) => {
    const head = { count: itemsOf(summary), summary, ...originBody(origin), feed_cursor: origin.feedCursor };
    const beginning = `${JSON.stringify(head).slice(0, -1)},"results":[`;
    return [Buffer.from(beginning), ...shaped, Buffer.from(']}')];
  },
};

function separatedBody(result: RosterResult): string {
  return (result.index === 0 ? '' : ',') + JSON.stringify(resultBody(result));
}

export const ROSTER_LIMIT = listLimit('a roster takes at most 1 MB');

const MEDIA_TYPES = 'Send the roster as JSON, with Content-Type: application/json, or as CSV, with text/csv.';

const maxMatches = whole('max_matches', 1, MAX_LISTED_MATCHES).describe('The most matches of a name to list');

const rosterQuery = z.object({
  board: anyBoard.optional().meta({
    description:
      'The board of every item that names none: its name, code or short name. A board in a JSON body overrides it',
  }),
  max_matches: fromText(maxMatches.default(DEFAULT_LISTED_MATCHES)).describe(
    'The most matches of a name to list. A max_matches in a JSON body overrides it',
  ),
});

const rosterBody = listBody(anyBoard, 'lookups', { max_matches: maxMatches.nullish() });

const rosterItem = lookupFields
  .extend({
    board: lookupFields.shape.board.describe(
      'A board by its name, code or short name; without one, a number is looked up at all boards',
    ),
    reference: reference.describe('Your own name for the item, which its result repeats'),
  })
  .meta({ id: 'RosterItem', description: 'The fields of /lookup/verify, and a reference' });

/**
 * Reads a roster, but not yet its items: reading them takes time, so they are counted against the limit first. An error
 * in an item makes only that item invalid.
 *
 * @returns `table` has the rows to which an answer in CSV adds columns
 * @throws {BadRequestError} if the roster as a whole is invalid
 */
async function sentRoster(ctx: Context, query: z.output<typeof rosterQuery>) {
  const type = ctx.request.type.toLowerCase();
  if (type === 'text/csv') {
    const table = await readTable(await textBody(ctx, ROSTER_LIMIT, utf8WithMark));
    if (table.rows.length === 0) throw new BadRequestError('The CSV has no rows below the header row.');
    const read = () =>
      readItems(table.rows, {
        fieldsOf: ({ cells }) => rowFields(table, cells),
        requestOf: (fields) => rowRequest(fields, REQUEST_WORDS.restItem, query.board),
      });
    const { max_matches: maxMatches } = query;
    return { count: table.rows.length, table: () => table, read, maxMatches, isTable: true };
  }
  if (type !== '' && type !== 'application/json') throw new ClientError(415, MEDIA_TYPES);
  const sent = checked(rosterBody, await jsonBody(ctx, ROSTER_LIMIT));
  const board = sent.board ?? query.board;
  const read = () =>
    readItems(sent.items, {
      fieldsOf: (item) => item,
      requestOf: (item) => readLookup(item, REQUEST_WORDS.restItem, board, boardByText),
    });
  const maxMatches = sent.max_matches ?? query.max_matches;
  const table = () => itemsTable(sent.items);
  return { count: sent.items.length, table, read, maxMatches, isTable: false };
}

const fieldsOfItem = z.record(z.string(), z.unknown()).catch({});
const cellText = z.union([z.string(), z.number().transform(String)]).catch('');

/** Converts the items of a JSON body to a table. Its columns are the fields that at least one item has. */
function itemsTable(items: readonly unknown[]): AnsweredTable {
  const objects = items.map((item) => fieldsOfItem.parse(item));
  const columns = ROW_FIELDS.filter((column) => objects.some((item) => Object.hasOwn(item, column)));
  const rows = objects.map((item, at) => ({
    number: at + 1,
    cells: columns.map((column) => cellText.parse(item[column])),
  }));
  return { columns, rows, format: { separator: ',', newline: '\r\n', hasByteOrderMark: false } };
}

const CSV_RULES =
  'The body may also be CSV (text/csv): a header row with the names of the fields, or with names as people write them ' +
  '(Lic #, Employee name); any other column is kept. UTF-8. The response then is CSV, too, unless Accept asks for JSON: it ' +
  `repeats the rows and columns and adds ${RESULT_COLUMNS.join(', ')}. A cell that a spreadsheet would run as a ` +
  'formula begins with an apostrophe.';

const endpoint = resource('Lookups');

/** POST /lookup/batch: up to 1,000 lookups in one request, as JSON or as CSV. */
export function rosterRoute({ rosters, cost }: RestServices): Route {
  return endpoint('POST', '/lookup/batch', {
    id: 'verifyRoster',
    summary: 'Verify a roster',
    description:
      `Up to ${MAX_ITEMS.toLocaleString('en-US')} lookups, each answered as /lookup/verify answers it, and all of them ` +
      `from one day’s dataset. ${cost.itemsPerRequest} items count as one request. ${CSV_RULES}`,
    input: { query: rosterQuery },
    shownBody: named('RosterRequest', {
      ...rosterBody.shape,
      items: z.array(rosterItem).min(1).max(MAX_ITEMS),
    }),
    limit: ROSTER_LIMIT,
    responses: {
      200: {
        when: 'A result for each item. No result is missing: a roster that cannot be answered is a 503.',
        body: rosterAnswerBody,
        alternatives: { 'text/csv': { schema: z.string() } },
      },
    },
    handle: async (ctx, { query }) => {
      const { count, table, read, maxMatches, isTable } = await sentRoster(ctx, query);
      await spendForItems(ctx, count, cost);
      const roster = { items: await read(), maxMatches };
      const types = isTable ? ['text/csv', 'application/json'] : ['application/json', 'text/csv'];
      const isCsv = (ctx.accepts(types) || types[0]) === 'text/csv';
      const { shape, parts } = isCsv ? answerTable(table()) : JSON_ANSWER;
      const body = parts(await rosters.answer(roster, shape, clientGone(ctx)));
      ctx.type = isCsv ? 'csv' : 'json';
      ctx.body = Readable.from(body);
      ctx.length = body.reduce((sum, { length }) => sum + length, 0);
    },
  });
}
