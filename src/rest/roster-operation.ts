import { z } from 'zod';
import type { ZodOpenApiOperationObject } from 'zod-openapi';
import { plainCsv } from '../csv.ts';
import { bodyTooLarge } from '../http/body.ts';
import { UnsupportedMediaTypeError } from '../http/errors.ts';
import { BadRequestError } from '../licenses/bad-request.ts';
import { RESULT_COLUMNS } from '../rosters/result-columns.ts';
import {
  DEFAULT_LISTED_MATCHES,
  MAX_ITEMS,
  MAX_LISTED_MATCHES,
  type RosterResult,
} from '../rosters/roster.ts';
import { answerTable, type RosterTable } from '../rosters/table.ts';
import { boardName } from './board-name.ts';
import { COMMON_ERRORS, errorEntry, responseEntry } from './openapi-responses.ts';
import {
  documentedRosterBody,
  ITEMS_ERROR,
  MEDIA_TYPES,
  ROSTER_LIMIT,
  rosterItem,
} from './roster-request.ts';
import { jsonAnswer, rosterAnswerBody } from './roster-response.ts';
import { EXAMPLE, EXAMPLE_DATE, MISSED_NUMBER, OTHER_EXAMPLE } from './verify-examples.ts';

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

const NOTHING_ASKED = rosterItem({ board: REQUEST_EXAMPLE.board }, undefined).request;

const RESULTS: readonly RosterResult[] = [
  { index: 0, reference: 'A-17', outcome: 'found', record: EXAMPLE, foundBy: 'number', nameMatch: true },
  { index: 1, reference: 'A-18', outcome: 'ambiguous', matches: [EXAMPLE, OTHER_EXAMPLE], truncated: false },
  { index: 2, reference: 'A-19', outcome: 'not_found', reason: MISSED_NUMBER, suggestionsOmitted: false },
  {
    index: 3,
    reference: 'A-20',
    outcome: 'invalid',
    detail: NOTHING_ASKED.by === 'nothing' ? NOTHING_ASKED.detail : '',
  },
];

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

/** The OpenAPI entry of POST /lookup/batch. */
export function rosterOperation(itemsPerRequest: number): ZodOpenApiOperationObject {
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
      '415': errorEntry('A body that is neither JSON nor CSV', new UnsupportedMediaTypeError(MEDIA_TYPES)),
    },
  };
}
