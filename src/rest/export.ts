import type { RouterContext } from '@koa/router';
import type { RateLimit } from '../access/rate-limit.ts';
import { lastScraped } from '../answers/origin.ts';
import { sendCompressed } from '../http/compressed-stream.ts';
import { slots } from '../http/limits.ts';
import { responseHeader } from '../http/openapi.ts';
import { clientGone, type Route } from '../http/route.ts';
import { licenseRecord } from '../licenses/license.ts';
import type { ExportOrigin, LicenseExports } from '../lookup/export.ts';
import { accountOf, COMMON_ERRORS, REST_PATH, responseEntry } from './operation.ts';
import { EXAMPLE } from './verify-response.ts';

const NDJSON = 'application/x-ndjson';

/** How many exports are sent at the same time by a process, and to an account. */
export const MAX_EXPORTS = 4;
export const MAX_EXPORTS_OF_ACCOUNT = 1;

const HEADERS = {
  'Content-Encoding': responseHeader('string', 'Always gzip, whatever the request accepts'),
  'Content-Disposition': responseHeader('string', 'A name for the file, with the date of the dataset'),
  'X-Record-Count': responseHeader('integer', 'How many lines the whole export has'),
  'X-Feed-Cursor': responseHeader('string', 'The first since with which to ask for the changes after it'),
  'X-Publication': responseHeader('string', 'The publication that all lines are from'),
  'X-Last-Scraped': responseHeader('string', 'The run date of its dataset, YYYY-MM-DDT00:00:00'),
};

function setHeaders(ctx: RouterContext, { records, cursor, publication, date }: ExportOrigin): void {
  ctx.type = NDJSON;
  ctx.set({
    'content-encoding': 'gzip',
    'content-disposition': `attachment; filename="ohio-licenses-${date}.ndjson.gz"`,
    'x-record-count': String(records),
    'x-feed-cursor': cursor,
    'x-publication': publication,
    'x-last-scraped': lastScraped(date),
  });
}

/** How often an account may export, and what ends the exports of a process that stops. */
export interface ExportAccess {
  readonly perDay: RateLimit;
  readonly stopping: AbortSignal;
}

/** GET /export: every record of the live publication. */
export function exportRoute(exports: LicenseExports, { perDay, stopping }: ExportAccess): Route {
  const sending = slots(MAX_EXPORTS, () => MAX_EXPORTS_OF_ACCOUNT, 60);
  return {
    method: 'GET',
    path: `${REST_PATH}/export`,
    operation: {
      operationId: 'export',
      tags: ['Changes'],
      summary: 'Every license',
      description:
        'Every record of one publication, a line of JSON each, compressed with gzip: the beginning of a copy that is ' +
        'kept current by /changes from X-Feed-Cursor on. A line has the fields that changes speak of. A response that ' +
        'ends before its last chunk, or has fewer lines than X-Record-Count, is broken: ask for another. An account has one in progress at a time, and so many a day; one that breaks off counts.',
      responses: {
        '200': {
          ...responseEntry('A record in each line', licenseRecord, { headers: HEADERS }),
          content: {
            [NDJSON]: {
              schema: licenseRecord.meta({ id: 'ExportedRecord', description: 'A line of an export' }),
              example: EXAMPLE,
            },
          },
        },
        ...COMMON_ERRORS,
      },
    },
    handle: async (ctx) => {
      if (ctx.method === 'HEAD') {
        setHeaders(ctx, await exports.origin());
        ctx.status = 200;
        return;
      }
      const account = accountOf(ctx);
      await sending({ ip: account }, 1, async () => {
        await perDay.spend(account);
        let hasBegun = false;
        const signal = AbortSignal.any([clientGone(ctx), stopping]);
        try {
          await exports.whole(async ({ pages, ...origin }) => {
            setHeaders(ctx, origin);
            hasBegun = true;
            await sendCompressed(ctx, pages, signal);
          }, signal);
        } finally {
          if (!hasBegun) await perDay.giveBack(account);
        }
      });
    },
  };
}
