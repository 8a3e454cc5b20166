import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { bulkItem, documentsById } from '../../src/storage/checked-search.ts';
import { isIndexNotFound, isTransient } from '../../src/storage/errors.ts';
import { type Batch, type BulkOperation, batched, type DocumentBatch, type SentDocument } from './batch.ts';

const REQUESTS_IN_FLIGHT = 3;
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 10_000;
const GIVE_UP_AFTER_MS = 300_000;

/** A document that OpenSearch did not take, and why. */
export interface RefusedDocument extends SentDocument {
  readonly reason: string;
  /** Whether its id is an earlier row's. */
  readonly isDuplicate: boolean;
}

interface SendOptions {
  readonly signal: AbortSignal;
  /** Gets how many more OpenSearch has taken. */
  readonly onLoaded: (documents: number) => void;
  /** How long documents that are not taken are sent again; five minutes when left out. */
  readonly giveUpAfterMs?: number | undefined;
}

interface LoadOptions extends SendOptions {
  readonly onRefused: (refused: RefusedDocument) => void;
}

/** What became of the documents of a request that were not taken. */
type Outcome = Awaited<ReturnType<typeof sendOnce>>;

/**
 * Handles what OpenSearch will never take.
 *
 * @param isRetry whether the documents were sent before
 * @returns how many of them there are; the others are there already
 */
type Refuse<Each extends Batch> = (batch: Each, outcome: Outcome, isRetry: boolean) => Promise<number>;

/**
 * Loads documents into one physical index, a few bulk requests at a time. Every document is accounted for: it
 * is loaded or it is handed to `onRefused`. Only what failed for load or connection is sent again, after a
 * growing, jittered wait, until `giveUpAfterMs` have passed. It returns, or throws, with nothing left in flight.
 *
 * @throws the first error that is not one document's fault, or the signal's reason
 */
export function loadDocuments(
  client: Client,
  index: string,
  operations: AsyncIterable<readonly BulkOperation[]>,
  options: LoadOptions,
): Promise<void> {
  async function refuse(batch: DocumentBatch, { conflicts, refused }: Outcome, isRetry: boolean) {
    const conflicting = conflicts.map(batch.document);
    const duplicates = isRetry ? await withoutOwn(client, index, conflicting) : conflicting;
    for (const document of duplicates)
      options.onRefused({ ...document, reason: DUPLICATE, isDuplicate: true });
    for (const { position, reason } of refused) {
      const document = batch.document(position);
      options.onRefused({ ...document, reason: `OpenSearch refused it: ${reason}`, isDuplicate: false });
    }
    return duplicates.length + refused.length;
  }
  return sendBatches(client, index, batched(operations), options, refuse);
}

/** Sends batches as `loadDocuments` does. @throws also when OpenSearch will never take one of their documents */
export async function sendBatches<Each extends Batch>(
  client: Client,
  index: string,
  batches: AsyncIterable<Each>,
  options: SendOptions,
  refuse: Refuse<Each> = refuseNone,
): Promise<void> {
  const failed = new AbortController();
  const signal = AbortSignal.any([options.signal, failed.signal]);
  const inFlight = new Set<Promise<void>>();

  function send(batch: Each): void {
    const request = sendBatch(client, index, batch, { ...options, signal }, refuse)
      .catch((error: unknown) => failed.abort(error))
      .finally(() => {
        batch.release();
        inFlight.delete(request);
      });
    inFlight.add(request);
  }

  try {
    for await (const batch of batches) {
      while (inFlight.size >= REQUESTS_IN_FLIGHT) await Promise.race(inFlight);
      signal.throwIfAborted();
      send(batch);
    }
  } finally {
    await Promise.all(inFlight);
  }
  signal.throwIfAborted();
}

async function refuseNone(_batch: Batch, { refused: [first] }: Outcome): Promise<number> {
  if (first !== undefined) throw new Error(`OpenSearch refused a document: ${first.reason}`);
  return 0;
}

async function sendBatch<Each extends Batch>(
  client: Client,
  index: string,
  batch: Each,
  options: SendOptions,
  refuse: Refuse<Each>,
): Promise<void> {
  const { giveUpAfterMs = GIVE_UP_AFTER_MS } = options;
  const deadline = Date.now() + giveUpAfterMs;
  let pending: readonly number[] = Array.from({ length: batch.count }, (_, position) => position);
  let isRetry = false;
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
    options.signal.throwIfAborted();
    const outcome = await sendOnce(client, index, batch, pending);
    const isAnyRefused = outcome.conflicts.length + outcome.refused.length > 0;
    const refused = isAnyRefused ? await refuse(batch, outcome, isRetry) : 0;
    options.onLoaded(pending.length - outcome.again.length - refused);
    if (outcome.again.length === 0) return;
    if (Date.now() > deadline) {
      const seconds = Math.round(giveUpAfterMs / 1000);
      throw new Error(`OpenSearch did not take every document within ${seconds} s: ${outcome.whyAgain}`);
    }
    await sleep(wait * (0.5 + Math.random()), undefined, { signal: options.signal });
    pending = outcome.again;
    isRetry = true;
  }
}

const DUPLICATE = 'an earlier row of the board has the same number';

const bulkResponse = z.union([
  z.object({ errors: z.literal(false) }),
  z.object({ errors: z.literal(true), items: z.array(bulkItem) }),
]);

const FILTER_PATH = 'errors,items.*.status,items.*.error.type,items.*.error.reason';

/** OpenSearch's error while it refuses writes, as when its disk is nearly full. */
const DISK_FULL = 'cluster_block_exception';

/** Sends documents once and says what became of those that were not taken. */
async function sendOnce(client: Client, index: string, batch: Batch, positions: readonly number[]) {
  /** Those that failed for load or connection, and why the last of them did. */
  const again: number[] = [];
  let whyAgain = '';
  /** Those whose id is taken: by an earlier row, or by the same document when an answer was lost. */
  const conflicts: number[] = [];
  const refused: { position: number; reason: string }[] = [];
  try {
    const response = await client.transport.request({
      method: 'POST',
      path: `/${index}/_bulk`,
      querystring: { filter_path: FILTER_PATH },
      bulkBody: batch.body(positions),
    });
    const answer = bulkResponse.parse(response.body);
    if (!answer.errors) return { again, whyAgain, conflicts, refused };
    if (answer.items.length !== positions.length)
      throw new Error('A bulk answer does not match its request.');
    for (const [at, position] of positions.entries()) {
      const { status = 0, error } = answer.items[at] ?? {};
      if (status === 200 || status === 201) continue;
      if (error?.type === 'index_not_found_exception') throw new Error(`The index ${index} has gone.`);
      const reason = error?.reason ?? error?.type ?? `status ${status}`;
      if (status === 409) conflicts.push(position);
      else if (status === 429 || status >= 500 || error?.type === DISK_FULL) {
        again.push(position);
        whyAgain = reason;
      } else refused.push({ position, reason });
    }
    return { again, whyAgain, conflicts, refused };
  } catch (error) {
    if (!isTransient(error) || isIndexNotFound(error)) throw error;
    const problem = error instanceof Error ? error.message : String(error);
    return { again: positions, whyAgain: problem, conflicts, refused };
  }
}

const stored = z.object({ source_row: z.string() });

/**
 * Of documents whose id is taken, those whose id was taken by another row.
 *
 * @throws {SearchUnavailableError} when OpenSearch could not read one of them
 */
async function withoutOwn(client: Client, index: string, conflicts: readonly SentDocument[]) {
  if (conflicts.length === 0) return [];
  const ids = conflicts.map(({ id }) => id);
  const found = await documentsById(client, { index, body: { ids }, _source_includes: ['source_row'] });
  return conflicts.filter(
    ({ license }, at) => stored.safeParse(found[at]?._source).data?.source_row !== license.source_row,
  );
}
