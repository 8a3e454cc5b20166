import type { ServerResponse } from 'node:http';
import { Stream } from 'node:stream';
import type { Logger } from 'pino';
import { AddressCounts } from '../access/rate-limit.ts';
import { TooBusyError } from '../storage/errors.ts';
import { responseBytesHeld, responsesCut } from '../telemetry/metrics.ts';
import { onceAMinute } from '../telemetry/process.ts';
import { type Context, whenClosed } from './context.ts';

const MB = 1024 * 1024;

export const RESPONSE_LIMITS = {
  /** So many bytes of responses may wait in memory for their clients to read them. A full roster has 9 MB. */
  maxBytes: 128 * MB,
  /** Of one client address, so that it never takes the room of others. */
  maxBytesOfClient: 32 * MB,
  /** A client must read a response this fast (1 Mbit/s), after the first ten seconds. */
  minBytesPerMs: 128,
  freeMs: 10_000,
  /** A response that has waited for less is never given up for another: its client may be fast. */
  keptMs: 5000,
} as const;

const CHECK_EVERY_MS = 1000;

interface HeldResponse {
  readonly client: string;
  /** Of its own: files are in memory once for all clients. */
  readonly bytes: number;
  readonly since: number;
  readonly deadline: number;
}

/**
 * Bounds what clients that read slowly cost. A response that its client has not read in time is cut off. When all
 * together would be too large, the oldest are cut off, which are those of the slowest clients; if all are recent, the
 * new one is refused.
 *
 * @returns counts the response of a request until it has ended. @throws {TooBusyError} when there is no room for it
 */
export function heldResponses(
  log: Logger,
  limits: Readonly<Record<keyof typeof RESPONSE_LIMITS, number>> = RESPONSE_LIMITS,
): (ctx: Context) => void {
  const held = new Map<ServerResponse, HeldResponse>();
  const heldBytes = new AddressCounts();
  const logCut = onceAMinute((responses) =>
    log.warn({ responses, held: heldBytes.all }, 'responses cut off: their clients read too slowly'),
  );

  function release(response: ServerResponse): void {
    const entry = held.get(response);
    if (entry === undefined) return;
    held.delete(response);
    heldBytes.add(entry.client, -entry.bytes);
    responseBytesHeld.dec(entry.bytes);
  }

  function cut(response: ServerResponse, reason: 'slow' | 'memory'): void {
    release(response);
    responsesCut.inc({ reason });
    logCut();
    // What the network has accepted and not delivered is dropped, too.
    response.req.socket.resetAndDestroy();
  }

  const timer = setInterval(() => {
    const now = performance.now();
    for (const [response, { deadline }] of held) {
      // Node tells nothing to the responses that wait behind another one on a connection that has ended.
      if (response.req.socket.destroyed) release(response);
      else if (now > deadline) cut(response, 'slow');
    }
  }, CHECK_EVERY_MS);
  timer.unref();

  function makeRoom(client: string, bytes: number): void {
    if (heldBytes.of(client) + bytes > limits.maxBytesOfClient) {
      throw new TooBusyError('Too many responses wait for this client.');
    }
    const now = performance.now();
    for (const [response, { bytes: its, since }] of held) {
      if (heldBytes.all + bytes <= limits.maxBytes) return;
      if (its === 0) continue;
      if (now - since < limits.keptMs) throw new TooBusyError('Too many responses wait for their clients.');
      cut(response, 'memory');
    }
  }

  return (ctx) => {
    const size = bodySize(ctx);
    if (size === 0) return;
    const client = ctx.ip;
    const bytes = ctx.state.isFile === true ? 0 : size;
    if (bytes > 0) makeRoom(client, bytes);
    const since = performance.now();
    const deadline = since + limits.freeMs + size / limits.minBytesPerMs;
    held.set(ctx.res, { client, bytes, since, deadline });
    heldBytes.add(client, bytes);
    responseBytesHeld.inc(bytes);
    whenClosed(ctx, () => release(ctx.res));
  };
}

/** How many bytes of the body are in memory: none of a stream whose length is not known. */
function bodySize(ctx: Context): number {
  const body: unknown = ctx.body;
  if (
    ctx.response.is('json') &&
    !(body instanceof Stream) &&
    !Buffer.isBuffer(body) &&
    typeof body !== 'string'
  ) {
    // As Koa would do it a little later.
    ctx.body = JSON.stringify(body);
  }
  const length = Number(ctx.response.get('content-length'));
  // A stream of unknown length, or no body.
  return Number.isNaN(length) ? 0 : length;
}
