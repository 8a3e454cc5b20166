/** Large enough that the cost per request is negligible, small enough that a few in flight fit in memory. */
export const BATCH_BYTES = 4 << 20;
const BATCH_DOCUMENTS = 10_000;

const EMPTY = { bodiesEnd: 0, rowsEnd: 0, count: 0 };

/** UTF-8 takes at most three bytes for each UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3;

/** A bulk operation that creates one document. */
export interface BulkOperation {
  /** The document id `BOARD/number`: two boards may use the same number, but one board may not use it twice. */
  readonly id: string;
  /** The row that the document comes from, in case it is rejected. */
  readonly row: { readonly line: number; readonly raw: string };
  /** The operation's two lines in the bulk request. */
  readonly body: string;
}

/** A batch of bulk operations. */
export interface Batch {
  readonly count: number;
  /** The two lines of each operation. */
  readonly body: Buffer;
  /** Returns the row that a document comes from, by the document's position. A batch of changes has no rows. */
  readonly rowAt?: (position: number) => string;
  /** Releases the batch's memory for a later batch. */
  readonly release?: () => void;
}

/**
 * Collects operations into batches. A batch is kept as bytes in reused buffers, because objects and strings that live
 * until their request is answered would cost a third of a load's CPU in garbage collection (measured).
 */
export async function* batched(groups: AsyncIterable<readonly BulkOperation[]>) {
  const free: Memory[] = [];
  let filling: Memory | undefined;
  for await (const group of groups) {
    for (const operation of group) {
      if (filling !== undefined && !hasRoom(filling, operation)) {
        yield batchIn(filling, free);
        filling = undefined;
      }
      filling ??= memoryFor(operation, free);
      append(filling, operation);
    }
  }
  if (filling !== undefined) yield batchIn(filling, free);
}

type Memory = ReturnType<typeof newMemory>;

function newMemory(bytes: number) {
  return {
    /** The bytes that are sent to OpenSearch. */
    bodies: Buffer.allocUnsafe(bytes),
    /** The documents' rows, in case one is rejected, and the end of each. */
    rows: Buffer.allocUnsafe(bytes),
    rowEnds: new Uint32Array(BATCH_DOCUMENTS),
    ...EMPTY,
  };
}

function memoryFor({ body, row }: BulkOperation, free: Memory[]): Memory {
  const needed = Math.max(body.length, row.raw.length) * MAX_BYTES_PER_UNIT;
  const reused = needed > BATCH_BYTES ? undefined : free.pop();
  return reused ?? newMemory(Math.max(needed, BATCH_BYTES));
}

function hasRoom({ bodies, bodiesEnd, rows, rowsEnd, rowEnds, count }: Memory, { body, row }: BulkOperation) {
  return (
    count < rowEnds.length &&
    body.length * MAX_BYTES_PER_UNIT <= bodies.length - bodiesEnd &&
    row.raw.length * MAX_BYTES_PER_UNIT <= rows.length - rowsEnd
  );
}

function append(memory: Memory, { body, row }: BulkOperation): void {
  memory.bodiesEnd += memory.bodies.write(body, memory.bodiesEnd);
  memory.rowsEnd += memory.rows.write(row.raw, memory.rowsEnd);
  memory.rowEnds[memory.count] = memory.rowsEnd;
  memory.count += 1;
}

function batchIn(memory: Memory, free: Memory[]): Batch {
  const { bodies, bodiesEnd, rows, rowEnds, count } = memory;
  return {
    ...{ count, body: bodies.subarray(0, bodiesEnd) },
    rowAt: (position) => rows.toString('utf8', rowEnds[position - 1] ?? 0, rowEnds[position]),
    release: () => {
      if (bodies.length === BATCH_BYTES) free.push({ ...memory, ...EMPTY });
    },
  };
}
