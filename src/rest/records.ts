import { z } from 'zod';
import type { RateLimit } from '../access/rate-limit.ts';
import { toResponseRecord } from '../answers/view.ts';
import { REQUEST_WORDS } from '../answers/words.ts';
import type { Changes } from '../changes/service.ts';
import { jsonBody } from '../http/body.ts';
import { ClientError } from '../http/errors.ts';
import type { Route } from '../http/route.ts';
import { BadRequestError, checked } from '../licenses/bad-request.ts';
import { daysBefore } from '../licenses/dates.ts';
import { type Lookups, licenseHistory } from '../lookup/service.ts';
import {
  MAX_NOTE_CHARACTERS,
  RecordRefusedError,
  recordNote,
  recordOfLicense,
  SAVED_RECORD_DAYS,
  type SavedRecords,
  savesOf,
  writtenRecordCode,
} from '../records/saved-records.ts';
import { historyQuery } from './changes.ts';
import {
  absentIfBlank,
  accountOf,
  boardName,
  COMMON_ERRORS,
  errorEntry,
  REST_PATH,
  responseEntry,
} from './operation.ts';
import {
  EXAMPLE,
  EXAMPLE_DATE,
  EXAMPLE_ORIGIN,
  licenseBody,
  NUMBER_NOT_FOUND_EXAMPLES,
  numberNotFoundBody,
  verifyResponse,
} from './verify-response.ts';

const NOTE_WORDS = `takes one line of at most ${MAX_NOTE_CHARACTERS} visible characters.`;

/** A field of what the client says beside the check. Null and blank text count as absent. */
function note(field: 'checked_by' | 'reference') {
  const words = `${field} ${NOTE_WORDS}`;
  return z
    .string(words)
    .trim()
    .max(MAX_NOTE_CHARACTERS, words)
    .nullish()
    .transform((text) => text || undefined)
    .refine((text) => text === undefined || recordNote.safeParse(text).success, words);
}

const savingBody = z.object(
  {
    ...historyQuery.shape,
    board: z.preprocess(absentIfBlank, historyQuery.shape.board),
    checked_by: note('checked_by'),
    reference: note('reference'),
  },
  REQUEST_WORDS.rest.notAnObject,
);

const documentedBody = savingBody.extend({ board: boardName }).meta({
  id: 'SavingRequest',
  description: 'The license to check; the record also shows who checked it and a reference',
});

const savedBody = z
  .object({
    code: z.string().describe('Under which the website shows the record: /records/CODE'),
    url: z.string().optional().describe('Its address; absent where the operator has not set PUBLIC_URL'),
    saved_at: z.string().describe('ISO 8601, in UTC'),
    kept_until: z.string().describe('YYYY-MM-DD'),
    checked_by: z.string().optional(),
    reference: z.string().optional(),
    record: licenseBody.describe('The license as it was saved'),
  })
  .meta({ id: 'SavedRecord' });

const EXAMPLE_SAVED: z.output<typeof savedBody> = {
  code: '7Q2M-XK4T-0B9D-HW3R',
  url: 'https://licenses.example.gov/records/7Q2M-XK4T-0B9D-HW3R',
  saved_at: `${EXAMPLE_DATE}T14:02:11.480Z`,
  kept_until: daysBefore(EXAMPLE_DATE, -SAVED_RECORD_DAYS),
  reference: 'A-17',
  record: toResponseRecord(EXAMPLE, EXAMPLE_ORIGIN),
};

const REFUSED: Readonly<Record<RecordRefusedError['reason'], { status: number; detail: string }>> = {
  day: { status: 503, detail: 'So many records were saved in the last 24 hours that no more are taken now.' },
  full: { status: 503, detail: 'There is no more room for saved records; the operator can make some.' },
  size: { status: 413, detail: 'This check is too large to be saved.' },
};

/** Room may be there an hour later, as records grow a day old one by one. */
const RETRY_AFTER_SECONDS = '3600';

interface SavingServices {
  readonly lookups: Lookups;
  readonly changes: Changes;
  readonly records: SavedRecords;
}

/**
 * POST /records: saves what the website's page of a license shows now.
 *
 * @param perDay how many an account may save within a day
 */
export function recordsRoute(services: SavingServices, perDay: RateLimit): Route {
  return {
    method: 'POST',
    path: `${REST_PATH}/records`,
    operation: {
      operationId: 'saveRecord',
      tags: ['Lookups'],
      summary: 'Save a record of a check',
      description:
        `Looks a license up by its number and saves what its page on the website shows. The record is kept for ` +
        `${SAVED_RECORD_DAYS} days; whoever has its code can read it. Each call saves another record.`,
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: documentedBody,
            example: { board: EXAMPLE.board, license_number: EXAMPLE.license_number, reference: 'A-17' },
          },
        },
      },
      responses: {
        '201': responseEntry('The record was saved', savedBody, { example: EXAMPLE_SAVED }),
        '400': errorEntry(
          'A board that is not one of the 24, no number, or a note that can not be shown',
          new BadRequestError(`reference ${NOTE_WORDS}`),
        ),
        ...COMMON_ERRORS,
        '404': responseEntry('No license for the number at the board', numberNotFoundBody, {
          examples: NUMBER_NOT_FOUND_EXAMPLES,
        }),
        '413': errorEntry('A license that is too large', new ClientError(413, REFUSED.size.detail)),
      },
    },
    handle: async (ctx) => {
      const { board, license_number: number, ...said } = checked(savingBody, await jsonBody(ctx));
      const view = await licenseHistory(services, { board, number }, ctx.state.keyCheckedMs);
      const { outcome, record, publicUrl } = view;
      const now = new Date();
      ctx.state.outcome = outcome.outcome;
      if (record === undefined) {
        const { status, body } = verifyResponse(outcome, view);
        ctx.status = status;
        ctx.body = body;
        return;
      }
      const shown = recordOfLicense({ ...view, record }, view.today, said);
      await perDay.spend(accountOf(ctx), savesOf(shown));
      try {
        const code = writtenRecordCode(await services.records.save(shown, now));
        const { checked_by, reference } = shown;
        ctx.status = 201;
        ctx.body = {
          code,
          url: publicUrl && `${publicUrl}/records/${code}`,
          saved_at: now.toISOString(),
          kept_until: daysBefore(now.toISOString().slice(0, 10), -SAVED_RECORD_DAYS),
          ...{ checked_by, reference, record: toResponseRecord(record, view) },
        } satisfies z.output<typeof savedBody>;
      } catch (error) {
        if (!(error instanceof RecordRefusedError)) throw error;
        const { status, detail } = REFUSED[error.reason];
        // Lookups are answered; only this is not.
        ctx.state.outcome = 'limited';
        if (status === 503) ctx.set('retry-after', RETRY_AFTER_SECONDS);
        ctx.status = status;
        ctx.body = { detail };
      }
    },
  };
}
