import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { statusOutcome } from '../access/usage.ts';
import { responsesCut } from '../telemetry/metrics.ts';
import type { Context } from './app.ts';
import { errorResponse } from './errors.ts';
import { RESPONSE_LIMITS } from './limits.ts';

const CHECK_EVERY_MS = 1000;

/**
 * Sends text compressed, as fast as its client reads it: the next part is asked for when the last one has been taken.
 * The response ends whole or its connection is cut, so that no client takes a part for the whole. A client that reads
 * too slowly is cut off.
 *
 * @param ctx its response has the header `Content-Encoding: gzip`
 * @param signal cuts the connection
 * @throws what `parts` throws; nothing when only the client or the signal has ended it
 */
export async function sendCompressed(
  ctx: Context,
  parts: AsyncIterable<string>,
  signal: AbortSignal,
  { freeMs, minBytesPerMs }: Readonly<Record<'freeMs' | 'minBytesPerMs', number>> = RESPONSE_LIMITS,
): Promise<void> {
  const { socket } = ctx.req;
  const bytesBefore = socket.bytesWritten;
  let failure: { readonly error: unknown } | undefined;
  let waitedMs = 0;
  let waitingSince = Number.POSITIVE_INFINITY;

  async function* taken() {
    try {
      for await (const part of parts) {
        waitingSince = performance.now();
        yield part;
        waitedMs += performance.now() - waitingSince;
        waitingSince = Number.POSITIVE_INFINITY;
      }
      waitingSince = performance.now();
    } catch (error) {
      failure = { error };
      ctx.state.outcome = statusOutcome(errorResponse(error).status);
      throw error;
    }
  }

  const timer = setInterval(() => {
    const waited = waitedMs + Math.max(0, performance.now() - waitingSince);
    if (waited <= freeMs + (socket.bytesWritten - bytesBefore) / minBytesPerMs) return;
    responsesCut.inc();
    // What the network has accepted and not delivered is dropped, too.
    socket.resetAndDestroy();
  }, CHECK_EVERY_MS);
  ctx.status = 200;
  // Koa would end the response when this function fails.
  ctx.respond = false;
  ctx.res.flushHeaders();
  try {
    await pipeline(taken, createGzip(), ctx.res, { signal });
  } catch {
    if (failure !== undefined && !signal.aborted) throw failure.error;
  } finally {
    clearInterval(timer);
  }
}
