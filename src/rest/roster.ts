import { Readable } from 'node:stream';
import { z } from 'zod';
import type { ZodOpenApiOperationObject } from 'zod-openapi';
import { plainCsv } from '../csv.ts';
import { bodyTooLarge } from '../http/body.ts';
import { clientGone } from '../http/context.ts';
import { ClientError } from '../http/errors.ts';
import { type RosterCost, spendForItems } from '../http/limits.ts';
import type { Route } from '../http/route.ts';
import { BadRequestError } from '../licenses/bad-request.ts';
import { FIELD_WORDS, MAX_LISTED_MATCHES } from '../licenses/lookup.ts';
import { DEFAULT_LISTED_MATCHES, MAX_ITEMS, type RosterResult } from '../rosters/roster.ts';
import type { Rosters } from '../rosters/service.ts';
import { answerTable, RESULT_COLUMNS, type RosterTable } from '../rosters/table.ts';
import { REST_PATH } from './base-path.ts';
import { boardName } from './board-name.ts';
import { COMMON_ERRORS, errorEntry, responseEntry } from './openapi-responses.ts';
import {
  documentedRosterBody,
  ITEMS_ERROR,
  MEDIA_TYPES,
  ROSTER_LIMIT,
  sentRoster,
} from './roster-request.ts';
import { jsonAnswer, rosterAnswerBody } from './roster-response.ts';
import { EXAMPLE, EXAMPLE_DATE, MISSED_NUMBER, OTHER_EXAMPLE } from './verify-examples.ts';

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
      const type = ctx.accepts(types) || types[0];
      const { shape, parts } = type === 'text/csv' ? answerTable(table()) : jsonAnswer();
      const body = parts(await rosters.answer(roster, shape, clientGone(ctx)));
      ctx.type = type === 'text/csv' ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8';
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

const TABLE_EXAMPLE: RosterTable = {
  columns: ['reference', 'license_number', 'last_name'],
  rows: [
    ['A-17', 'RN.987654321', 'Example'],
    ['A-19', 'RN.987654312', ''],
  ],
  format: { delimiter: ',', newline: '\n', hasByteOrderMark: false },
};

const CSV_EXAMPLE = plainCsv([TABLE_EXAMPLE.columns, ...TABLE_EXAMPLE.rows], TABLE_EXAMPLE.format);

const SEVERAL = { outcome: 'several', records: [EXAMPLE, OTHER_EXAMPLE], truncated: false } as const;

const RESULTS: readonly RosterResult[] = [
  resultOf(0, 'A-17', { outcome: 'found', record: EXAMPLE, nameMatch: true }),
  resultOf(1, 'A-18', SEVERAL),
  resultOf(2, 'A-19', MISSED_NUMBER),
  resultOf(3, 'A-20', { outcome: 'invalid', detail: FIELD_WORDS.noName }),
];

function resultOf(index: number, reference: string, outcome: RosterResult['outcome']): RosterResult {
  return { index, reference, outcome, foundBy: 'number', suggestionsOmitted: false };
}

const ORIGIN = { date: EXAMPLE_DATE, isSampleData: true, today: EXAMPLE_DATE };

function exampleBody(): unknown {
  const { shape, parts } = jsonAnswer();
  const summary = { found: 1, clear: 1, ambiguous: 1, not_found: 1, invalid: 1 };
  const body = parts({ ...ORIGIN, summary, shaped: [shape(RESULTS, ORIGIN)] });
  return JSON.parse(Buffer.concat(body).toString());
}

function exampleTable(): string {
  const { shape, parts } = answerTable(TABLE_EXAMPLE);
  const results = [RESULTS[0], RESULTS[2]].flatMap((result, index) => (result ? [{ ...result, index }] : []));
  const summary = { found: 1, clear: 1, ambiguous: 0, not_found: 1, invalid: 0 };
  return Buffer.concat(parts({ ...ORIGIN, summary, shaped: [shape(results, ORIGIN)] })).toString();
}

const CSV_RULES =
  'CSV: a header row with the names of the fields; any other column is kept. Commas or semicolons, UTF-8. The ' +
  'response repeats the rows and columns and adds ' +
  `${RESULT_COLUMNS.join(', ')}. A cell that a spreadsheet would run as a formula begins with an apostrophe.`;

function rosterOperation(itemsPerRequest: number): ZodOpenApiOperationObject {
  const { content, ...answer } = responseEntry(
    'A result for each item. No result is missing: a roster that cannot be answered is a 503.',
    rosterAnswerBody,
    { roster: { summary: 'One result of each kind', value: exampleBody() } },
  );
  return {
    operationId: 'verifyRoster',
    tags: ['Lookups'],
    summary: 'Verify a roster',
    description:
      `Up to ${MAX_ITEMS.toLocaleString('en-US')} lookups, each answered as /lookup/verify answers it, and all of them ` +
      `from one day’s dataset. ${itemsPerRequest} items count as one request. ${CSV_RULES}`,
    requestParams: {
      query: z.object({
        board: boardName.optional().meta({
          description: 'The board of every item that names none. A board in a JSON body overrides it',
        }),
        max_matches: z
          .int()
          .min(1)
          .max(MAX_LISTED_MATCHES)
          .default(DEFAULT_LISTED_MATCHES)
          .describe('The most matches of a name to list. A max_matches in a JSON body overrides it'),
      }),
    },
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: documentedRosterBody,
          examples: { roster: { value: REQUEST_EXAMPLE } },
        },
        'text/csv': { schema: z.string(), examples: { roster: { value: CSV_EXAMPLE } } },
      },
    },
    responses: {
      '200': {
        ...answer,
        content: { ...content, 'text/csv': { schema: z.string(), example: exampleTable() } },
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
