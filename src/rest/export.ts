import type { RateLimit } from '../access/rate-limit.ts';
import { lastScraped } from '../answers/origin.ts';
import { type Context, clientGone } from '../http/app.ts';
import { sendCompressed } from '../http/compressed-stream.ts';
import { accountOf, endpoint, type Route } from '../http/guard.ts';
import { slots } from '../http/limits.ts';
import type { ExportOrigin, LicenseExports } from '../lookup/export.ts';
import { REST_PATH } from './fields.ts';

/** How many exports are sent at the same time by a process, and to an account. */
export const MAX_EXPORTS = 4;
export const MAX_EXPORTS_OF_ACCOUNT = 1;

function setHeaders(ctx: Context, { records, cursor, publication, date }: ExportOrigin): void {
  ctx.type = 'application/x-ndjson';
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
  return endpoint({
    method: 'GET',
    path: `${REST_PATH}/export`,
    id: 'export',
    tag: 'Changes',
    summary: 'Every license',
    description:
      'Every record of one publication as application/x-ndjson, a line of JSON each, compressed with gzip: the ' +
      'beginning of a copy that is kept current by /changes from X-Feed-Cursor on. A line has the fields of a ' +
      'LicenseRecord from license_number to extra_data, of which changes speak. A response that ends before its last ' +
      'chunk, or has fewer lines than X-Record-Count, is broken: ask for another. An account has one in progress at a ' +
      'time, and so many a day; one that breaks off counts.',
    input: {},
    responses: {
      200: {
        when: 'A record in each line',
        headers: {
          'Content-Encoding': ['string', 'Always gzip, whatever the request accepts'],
          'Content-Disposition': ['string', 'A name for the file, with the date of the dataset'],
          'X-Record-Count': ['integer', 'How many lines the whole export has'],
          'X-Feed-Cursor': ['string', 'The first since with which to ask for the changes after it'],
          'X-Publication': ['string', 'The publication that all lines are from'],
          'X-Last-Scraped': ['string', 'The run date of its dataset, YYYY-MM-DDT00:00:00'],
        },
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
  });
}
