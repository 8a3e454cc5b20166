import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { statusOutcome } from '../access/usage.ts';
import { lastScraped } from '../answers/origin.ts';
import { SERVICE_VERSION } from '../config.ts';
import { type Context, clientGone } from '../http/app.ts';
import { errorResponse } from '../http/errors.ts';
import { accountOf, header, type Route, resource } from '../http/guard.ts';
import { slots } from '../http/limits.ts';
import type { ExportOrigin } from '../lookup/export.ts';
import type { RestServices } from './services.ts';

/** The most simultaneous exports of a process, and of an account. */
export const MAX_EXPORTS = 4;
export const MAX_EXPORTS_OF_ACCOUNT = 1;

function setHeaders(ctx: Context, { records, cursor, publication, date }: ExportOrigin): void {
  ctx.type = 'application/x-ndjson';
  ctx.set({
    'content-encoding': 'gzip',
    'content-disposition': `attachment; filename="ohio-licenses-${date}.ndjson.gz"`,
    etag: `W/"${publication}-${SERVICE_VERSION}"`,
    'x-record-count': String(records),
    'x-feed-cursor': cursor,
    'x-publication': publication,
    'x-last-scraped': lastScraped(date),
  });
}

/** The maximum duration of an export. A client that stops reading is cut off earlier, as on every connection. */
export const MAX_EXPORT_MS = 3_600_000;

/**
 * Sends compressed text as fast as the client reads it: the next part is requested when the last one has been taken.
 * Either the response is complete, or its connection is cut, so that no client mistakes a part for the whole.
 *
 * @param signal cuts the connection when it is aborted
 * @throws the errors of `parts`, but no error if the client or the signal ended the response
 */
async function sendCompressed(ctx: Context, parts: AsyncIterable<string>, signal: AbortSignal) {
  async function* taken() {
    try {
      yield* parts;
    } catch (error) {
      // Set the outcome now, because the request is counted as soon as its connection is cut.
      ctx.state.outcome = statusOutcome(errorResponse(error).status);
      throw error;
    }
  }
  ctx.status = 200;
  // Otherwise Koa would end the response properly when this function fails.
  ctx.respond = false;
  ctx.res.flushHeaders();
  try {
    await pipeline(taken, createGzip(), ctx.res, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

const endpoint = resource('Changes');

/** GET /export: every record of the live publication. */
export function exportRoute({ exports, exportsPerDay: perDay, stopping }: RestServices): Route {
  const sending = slots(MAX_EXPORTS, () => MAX_EXPORTS_OF_ACCOUNT, 60);
  return endpoint('GET', '/export', {
    id: 'export',
    summary: 'Every license',
    description:
      'Every record of one publication as application/x-ndjson, a line of JSON each, compressed with gzip: the ' +
      'beginning of a copy that is kept current by /changes from X-Feed-Cursor on. A line has the fields of a ' +
      'LicenseRecord from license_number to extra_data, as changes do. The last line has no ' +
      'record, but the number of records and the SHA-256 of the lines before it: {"records": 2600000, "sha256": ' +
      '"…"}. A response without it is broken: ask for another. An account has one in progress at a time, and a daily ' +
      'limit; one that breaks off does not count.',
    responses: {
      200: {
        when: 'A record in each line',
        headers: {
          'Content-Encoding': header('Always gzip, whatever the request accepts'),
          'Content-Disposition': header('A name for the file, with the date of the dataset'),
          'X-Record-Count': header('How many records the whole export has; one more line ends it', 'integer'),
          'X-Feed-Cursor': header('The since to send for the changes after it'),
          'X-Publication': header('The publication that all lines are from'),
          ETag: header(
            'The same while the export would be the same. A request with it as If-None-Match gets 304 then, and does not count.',
          ),
          'X-Last-Scraped': header('The run date of its dataset, YYYY-MM-DDT00:00:00'),
        },
      },
    },
    handle: async (ctx) => {
      if (ctx.method === 'HEAD' || ctx.get('if-none-match') !== '') {
        setHeaders(ctx, await exports.origin());
        // `fetch` sends `no-cache`, and then `ctx.fresh` would never be true.
        delete ctx.req.headers['cache-control'];
        ctx.status = 200;
        if (ctx.fresh) ctx.status = 304;
        if (ctx.fresh || ctx.method === 'HEAD') return;
      }
      const account = accountOf(ctx);
      await sending.during(account, 1, async () => {
        await perDay.spend(account);
        let isSent = false;
        const signal = AbortSignal.any([clientGone(ctx), stopping, AbortSignal.timeout(MAX_EXPORT_MS)]);
        try {
          await exports.whole(async ({ pages, ...origin }) => {
            setHeaders(ctx, origin);
            await sendCompressed(ctx, pages, signal);
            isSent = ctx.res.writableFinished;
          }, signal);
        } finally {
          if (!isSent) await perDay.giveBack(account);
        }
      });
    },
  });
}
