import type { BulkOperation, PublicationDocument } from './parse.ts';

/** Big enough that a request's own cost vanishes, small enough that a few in flight fit in memory. */
const BATCH_BYTES = 4 << 20;
const BATCH_DOCUMENTS = 10_000;

/** UTF-8 takes at most three bytes for each UTF-16 unit. */
const MOST_BYTES_A_UNIT = 3;

/** Documents and the body of the bulk request that creates them. */
export interface Batch {
  readonly documents: readonly PublicationDocument[];
  /** The request that creates some of the documents, or all. */
  body(some: readonly PublicationDocument[]): Buffer;
  /** Gives the memory back, for a later batch. */
  release(): void;
}

/**
 * Gathers operations into batches. Their bodies are written into memory that is used again and again: kept as
 * strings they would be what the garbage collector mostly copies (measured: a sixth of a load's CPU).
 */
export async function* batched(
  groups: AsyncIterable<readonly BulkOperation[]>,
): AsyncGenerator<Batch, void, undefined> {
  const free: Buffer[] = [];
  let filling: Filling | undefined;
  for await (const group of groups) {
    for (const operation of group) {
      if (filling !== undefined && !hasRoom(filling, operation)) {
        yield closed(filling, free);
        filling = undefined;
      }
      filling ??= begun(free, operation);
      add(filling, operation);
    }
  }
  if (filling !== undefined) yield closed(filling, free);
}

interface Filling {
  readonly documents: PublicationDocument[];
  readonly buffer: Buffer;
  /** Where each document's operation ends. */
  readonly ends: number[];
  length: number;
}

function begun(free: Buffer[], { body }: BulkOperation): Filling {
  const needed = body.length * MOST_BYTES_A_UNIT;
  const buffer =
    needed > BATCH_BYTES ? Buffer.allocUnsafe(needed) : (free.pop() ?? Buffer.allocUnsafe(BATCH_BYTES));
  return { documents: [], buffer, ends: [], length: 0 };
}

function hasRoom({ documents, buffer, length }: Filling, { body }: BulkOperation): boolean {
  return documents.length < BATCH_DOCUMENTS && body.length * MOST_BYTES_A_UNIT <= buffer.length - length;
}

function add(filling: Filling, { document, body }: BulkOperation): void {
  filling.length += filling.buffer.write(body, filling.length);
  filling.documents.push(document);
  filling.ends.push(filling.length);
}

function closed({ documents, buffer, ends, length }: Filling, free: Buffer[]): Batch {
  return {
    documents,
    body: (some) => {
      if (some === documents) return buffer.subarray(0, length);
      const wanted = new Set(some);
      const operation = (at: number) => buffer.subarray(ends[at - 1] ?? 0, ends[at]);
      return Buffer.concat(
        documents.flatMap((document, at) => (wanted.has(document) ? [operation(at)] : [])),
      );
    },
    release: () => {
      if (buffer.length === BATCH_BYTES) free.push(buffer);
    },
  };
}
