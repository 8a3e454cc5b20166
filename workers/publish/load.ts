import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { comparedLicense } from '../../src/changes/compare.ts';
import { bulkItem, documentsById } from '../../src/storage/checked-search.ts';
import { isIndexNotFound, isTransient } from '../../src/storage/errors.ts';
import type { Batch } from './batch.ts';

const REQUESTS_IN_FLIGHT = 3;
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 10_000;
const GIVE_UP_AFTER_MS = 300_000;

interface LoadOptions {
  readonly signal: AbortSignal;
  /** Called with the number of operations that OpenSearch has just accepted. */
  readonly onLoaded: (operations: number) => void;
  /**
   * Called with each document that OpenSearch rejects for good. Without this function, such a document ends the load.
   */
  readonly onRefused?: (refused: RefusedDocument) => void;
  /** How long failed operations are retried; five minutes by default. */
  readonly giveUpAfterMs?: number | undefined;
}

/**
 * Sends batches to one physical index, a few bulk requests at a time. Every document is either loaded or handed to
 * `onRefused`. Operations that failed because of load or the connection are retried, after a growing wait with jitter,
 * until `giveUpAfterMs` have passed. When it returns or throws, no request is in flight.
 *
 * @throws the first error that is not caused by a single document, or the signal's reason
 */
export async function load(
  client: Client,
  index: string,
  batches: AsyncIterable<Batch>,
  options: LoadOptions,
): Promise<void> {
  const failed = new AbortController();
  const signal = AbortSignal.any([options.signal, failed.signal]);
  const inFlight = new Set<Promise<void>>();
  try {
    for await (const batch of batches) {
      while (inFlight.size >= REQUESTS_IN_FLIGHT) await Promise.race(inFlight);
      signal.throwIfAborted();
      const request = sendBatch(client, index, batch, { ...options, signal })
        .catch((error: unknown) => failed.abort(error))
        .finally(() => {
          batch.release?.();
          inFlight.delete(request);
        });
      inFlight.add(request);
    }
  } finally {
    await Promise.all(inFlight);
  }
  signal.throwIfAborted();
}

async function sendBatch(
  client: Client,
  index: string,
  batch: Batch,
  { signal, onLoaded, onRefused, giveUpAfterMs = GIVE_UP_AFTER_MS }: LoadOptions,
): Promise<void> {
  const deadline = Date.now() + giveUpAfterMs;
  let pending: readonly number[] = Array.from({ length: batch.count }, (_, position) => position);
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
    signal.throwIfAborted();
    const { again, whyAgain, refused } = await sendOnce(client, index, batch, pending);
    const [first] = refused;
    if (first !== undefined && onRefused === undefined)
      throw new Error(`OpenSearch refused a document: ${first.reason}`);
    const documents = first === undefined ? [] : readBack(batch, refused);
    const isRetry = wait > FIRST_WAIT_MS;
    const others = isRetry ? await withoutOwn(client, index, documents) : documents;
    for (const document of others) onRefused?.(document);
    onLoaded(pending.length - again.length - others.length);
    if (again.length === 0) return;
    if (Date.now() > deadline) {
      const seconds = Math.round(giveUpAfterMs / 1000);
      throw new Error(`OpenSearch did not take every document within ${seconds} s: ${whyAgain}`);
    }
    await sleep(wait * (0.5 + Math.random()), undefined, { signal });
    pending = again;
  }
}

const bulkResponse = z.union([
  z.object({ errors: z.literal(false) }),
  z.object({ errors: z.literal(true), items: z.array(bulkItem) }),
]);

const FILTER_PATH = 'errors,items.*.status,items.*.error.type,items.*.error.reason';

/** The error of OpenSearch while it blocks writes, as when its disk is nearly full. */
const DISK_FULL = 'cluster_block_exception';

/** An operation that OpenSearch rejects for good, by its position in the batch. */
interface Refusal {
  readonly position: number;
  readonly reason: string;
  /**
   * Whether the id already exists, because of an earlier row, or because the same document was stored and the response
   * was lost.
   */
  readonly isDuplicate: boolean;
}

/** Sends some operations of a batch once. @returns the operations to retry and those that were refused */
async function sendOnce(client: Client, index: string, batch: Batch, positions: readonly number[]) {
  const again: number[] = [];
  const refused: Refusal[] = [];
  /** The last reason for a retry: load or the connection. */
  let whyAgain = '';
  try {
    const response = await client.transport.request({
      method: 'POST',
      path: `/${index}/_bulk`,
      querystring: { filter_path: FILTER_PATH },
      bulkBody: operationsAt(batch, positions),
    });
    const answer = bulkResponse.parse(response.body);
    if (!answer.errors) return { again, whyAgain, refused };
    if (answer.items.length !== positions.length)
      throw new Error('A bulk answer does not match its request.');
    for (const [at, position] of positions.entries()) {
      const { status = 0, error } = answer.items[at] ?? {};
      if (status === 200 || status === 201) continue;
      if (error?.type === 'index_not_found_exception') throw new Error(`The index ${index} has gone.`);
      const reason = error?.reason ?? error?.type ?? `status ${status}`;
      if (status === 429 || status >= 500 || error?.type === DISK_FULL) {
        again.push(position);
        whyAgain = reason;
      } else refused.push({ position, reason, isDuplicate: status === 409 });
    }
    return { again, whyAgain, refused };
  } catch (error) {
    if (!isTransient(error) || isIndexNotFound(error)) throw error;
    return { again: positions, whyAgain: error instanceof Error ? error.message : String(error), refused };
  }
}

function operationsAt({ body, count }: Batch, positions: readonly number[]): Buffer {
  if (positions.length === count) return body;
  const lines = body.toString().split('\n');
  return Buffer.from(positions.map((at) => `${lines[2 * at]}\n${lines[2 * at + 1]}\n`).join(''));
}

const action = z.object({ create: z.object({ _id: z.string() }) });
const sourceRow = z.tuple([z.enum(['individual', 'business']), z.coerce.number(), z.string()]);

/** A document that OpenSearch refused, and why. */
export type RefusedDocument = ReturnType<typeof readBack>[number];

/** Reads the refused documents from the body of their request. */
function readBack({ body, rowAt = () => '' }: Batch, refused: readonly Refusal[]) {
  const lines = body.toString().split('\n');
  return refused.map(({ position, reason, isDuplicate }) => {
    const { create } = action.parse(JSON.parse(lines[2 * position] ?? ''));
    const license = comparedLicense.parse(JSON.parse(lines[2 * position + 1] ?? ''));
    const [file, line] = sourceRow.parse(license.source_row.split(':'));
    const why = isDuplicate ? DUPLICATE : `OpenSearch refused it: ${reason}`;
    return { id: create._id, license, file, row: { line, raw: rowAt(position) }, reason: why, isDuplicate };
  });
}

const DUPLICATE = 'an earlier row of the board has the same number';

const stored = z.object({ source_row: z.string() });

/**
 * Removes the refused documents that this load has stored itself: the response that confirmed them was lost.
 *
 * @throws {SearchUnavailableError} when OpenSearch could not read one of the documents
 */
async function withoutOwn(client: Client, index: string, refused: readonly RefusedDocument[]) {
  if (refused.length === 0) return refused;
  const ids = refused.map(({ id }) => id);
  const found = await documentsById(client, { index, body: { ids }, _source_includes: ['source_row'] });
  return refused.filter(
    ({ license, isDuplicate }, at) =>
      !isDuplicate || stored.safeParse(found[at]?._source).data?.source_row !== license.source_row,
  );
}
