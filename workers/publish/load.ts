import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { isIndexNotFound, isTransient } from '../../src/search/client.ts';
import type { PublicationDocument } from './parse.ts';

/** Big enough that a request's own cost vanishes, small enough that three in flight fit in memory. */
const BATCH_BYTES = 4 << 20;
const BATCH_DOCUMENTS = 10_000;
const REQUESTS_IN_FLIGHT = 3;
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 10_000;
const GIVE_UP_AFTER_MS = 300_000;

/** A document that OpenSearch did not take, and why. */
export interface RefusedDocument {
  readonly document: PublicationDocument;
  readonly reason: string;
}

interface LoadOptions {
  readonly signal: AbortSignal;
  readonly onLoaded: (documents: number) => void;
  readonly onRefused: (refused: RefusedDocument) => void;
}

/**
 * Loads documents into one physical index, a few bulk requests at a time. Every document is accounted for: it
 * is loaded or it is handed to `onRefused`. Only what failed for load or connection is sent again, after a
 * growing, jittered wait, for five minutes at the most. It returns, or throws, with nothing left in flight.
 *
 * @throws the first error that is not one document's fault, or the signal's reason
 */
export async function loadDocuments(
  client: Client,
  index: string,
  documents: AsyncIterable<readonly PublicationDocument[]>,
  options: LoadOptions,
): Promise<void> {
  const failed = new AbortController();
  const signal = AbortSignal.any([options.signal, failed.signal]);
  const inFlight = new Set<Promise<void>>();

  function send(batch: PublicationDocument[]): void {
    const request = sendBatch(client, index, batch, { ...options, signal })
      .catch((error: unknown) => failed.abort(error))
      .finally(() => inFlight.delete(request));
    inFlight.add(request);
  }

  try {
    for await (const batch of batched(documents)) {
      while (inFlight.size >= REQUESTS_IN_FLIGHT) await Promise.race(inFlight);
      signal.throwIfAborted();
      send(batch);
    }
  } finally {
    await Promise.all(inFlight);
  }
  signal.throwIfAborted();
}

async function* batched(
  documents: AsyncIterable<readonly PublicationDocument[]>,
): AsyncGenerator<PublicationDocument[], void, undefined> {
  let batch: PublicationDocument[] = [];
  let length = 0;
  for await (const group of documents) {
    for (const document of group) {
      batch.push(document);
      length += document.body.length;
      if (length >= BATCH_BYTES || batch.length >= BATCH_DOCUMENTS) {
        yield batch;
        batch = [];
        length = 0;
      }
    }
  }
  if (batch.length > 0) yield batch;
}

async function sendBatch(
  client: Client,
  index: string,
  batch: readonly PublicationDocument[],
  options: LoadOptions,
): Promise<void> {
  const deadline = Date.now() + GIVE_UP_AFTER_MS;
  let pending = batch;
  let isRetry = false;
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
    options.signal.throwIfAborted();
    const outcome = await sendOnce(client, index, pending);
    const conflicts = isRetry ? await withoutOwn(client, index, outcome.conflicts) : outcome.conflicts;
    const refused = [...conflicts.map((document) => ({ document, reason: DUPLICATE })), ...outcome.refused];
    refused.forEach(options.onRefused);
    options.onLoaded(pending.length - outcome.again.length - refused.length);
    if (outcome.again.length === 0) return;
    if (Date.now() > deadline)
      throw outcome.error ?? new Error('OpenSearch took no documents for five minutes.');
    await sleep(wait * (0.5 + Math.random()), undefined, { signal: options.signal });
    pending = outcome.again;
    isRetry = true;
  }
}

const DUPLICATE = 'the number stands in an earlier row too';

interface BatchOutcome {
  /** Failed for load or connection. */
  readonly again: readonly PublicationDocument[];
  /** The id is taken: by an earlier row, or by the same document when an answer was lost. */
  readonly conflicts: readonly PublicationDocument[];
  readonly refused: readonly RefusedDocument[];
  readonly error?: unknown;
}

const bulkResponse = z.object({
  errors: z.boolean(),
  items: z.array(
    z.object({
      create: z.object({
        status: z.int(),
        error: z.object({ type: z.string(), reason: z.string().nullish() }).optional(),
      }),
    }),
  ),
});

const FILTER_PATH = 'errors,items.create.status,items.create.error.type,items.create.error.reason';

async function sendOnce(
  client: Client,
  index: string,
  documents: readonly PublicationDocument[],
): Promise<BatchOutcome> {
  let items: z.output<typeof bulkResponse>['items'];
  try {
    const response = await client.transport.request({
      method: 'POST',
      path: `/${index}/_bulk`,
      querystring: { filter_path: FILTER_PATH },
      bulkBody: documents.map((document) => document.body).join(''),
    });
    ({ items } = bulkResponse.parse(response.body));
  } catch (error) {
    if (!isTransient(error) || isIndexNotFound(error)) throw error;
    return { again: documents, conflicts: [], refused: [], error };
  }
  if (items.length !== documents.length) throw new Error('A bulk answer does not match its request.');

  const again: PublicationDocument[] = [];
  const conflicts: PublicationDocument[] = [];
  const refused: RefusedDocument[] = [];
  for (const [at, document] of documents.entries()) {
    const { status = 0, error } = items[at]?.create ?? {};
    if (status === 201) continue;
    if (error?.type === 'index_not_found_exception') throw new Error(`The index ${index} has gone.`);
    if (status === 409) conflicts.push(document);
    else if (status === 429 || status >= 500) again.push(document);
    else
      refused.push({ document, reason: `OpenSearch refused it: ${error?.reason ?? error?.type ?? status}` });
  }
  return { again, conflicts, refused };
}

const mgetResponse = z.object({
  docs: z.array(z.object({ _source: z.object({ source_row: z.string() }).optional() })),
});

/** Of documents whose id is taken, those whose id was taken by another row. */
async function withoutOwn(
  client: Client,
  index: string,
  conflicts: readonly PublicationDocument[],
): Promise<readonly PublicationDocument[]> {
  if (conflicts.length === 0) return [];
  const response = await client.mget({
    index,
    body: { ids: conflicts.map(({ id }) => id) },
    _source_includes: ['source_row'],
  });
  const { docs } = mgetResponse.parse(response.body);
  return conflicts.filter((document, at) => docs[at]?._source?.source_row !== document.sourceRow);
}
