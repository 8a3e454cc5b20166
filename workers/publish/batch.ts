import { z } from 'zod';
import { comparedLicense } from '../../src/changes/compare.ts';
import type { CsvRow } from '../../src/dataset/csv.ts';

/** Large enough that the cost per request is negligible, small enough that a few in flight fit in memory. */
export const BATCH_BYTES = 4 << 20;
const BATCH_DOCUMENTS = 10_000;

/** UTF-8 takes at most three bytes for each UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3;

/** The creation of one document, as bulk requests have it. */
export interface BulkOperation {
  /** `BOARD/number`: two boards may use the same number, one board may not use it twice. */
  readonly id: string;
  /** The row it comes from, in case it is rejected. */
  readonly row: Pick<CsvRow, 'line' | 'raw'>;
  /** The request's two lines. */
  readonly body: string;
}

/** Some bulk operations, by position. */
export interface Batch {
  readonly count: number;
  /** The request with the operations at these positions. */
  body(positions: readonly number[]): Buffer;
  /** Returns its memory, for a later batch. */
  release(): void;
}

/** The creation of some documents. */
export type DocumentBatch = ReturnType<typeof batchIn>;

/**
 * Gathers operations into batches. A batch is kept as bytes in reused buffers. Objects and strings that live until
 * their request is answered would cost a third of a load's CPU in garbage collection (measured).
 */
export async function* batched(
  groups: AsyncIterable<readonly BulkOperation[]>,
): AsyncGenerator<DocumentBatch, void, undefined> {
  const free: Memory[] = [];
  let filling: Memory | undefined;
  for await (const group of groups) {
    for (const operation of group) {
      if (filling !== undefined && !hasRoom(filling, operation)) {
        yield batchIn(filling, free);
        filling = undefined;
      }
      filling ??= memoryFor(operation, free);
      append(filling.bodies, operation.body);
      append(filling.rows, operation.row.raw);
    }
  }
  if (filling !== undefined) yield batchIn(filling, free);
}

/** Several texts in one buffer. */
interface Texts {
  readonly bytes: Buffer;
  /** Where each ends. */
  readonly ends: Uint32Array;
  count: number;
}

interface Memory {
  /** What goes to OpenSearch. */
  readonly bodies: Texts;
  /** The rows of the file, in case one is rejected. */
  readonly rows: Texts;
}

function memoryFor({ body, row }: BulkOperation, free: Memory[]): Memory {
  const needed = Math.max(body.length, row.raw.length) * MAX_BYTES_PER_UNIT;
  if (needed > BATCH_BYTES) return { bodies: noTexts(needed, 1), rows: noTexts(needed, 1) };
  const empty = () => noTexts(BATCH_BYTES, BATCH_DOCUMENTS);
  return free.pop() ?? { bodies: empty(), rows: empty() };
}

function noTexts(bytes: number, most: number): Texts {
  return { bytes: Buffer.allocUnsafe(bytes), ends: new Uint32Array(most), count: 0 };
}

function hasRoom({ bodies, rows }: Memory, { body, row }: BulkOperation): boolean {
  return hasRoomFor(bodies, body) && hasRoomFor(rows, row.raw);
}

function hasRoomFor({ bytes, ends, count }: Texts, text: string): boolean {
  const end = ends[count - 1] ?? 0;
  return count < ends.length && text.length * MAX_BYTES_PER_UNIT <= bytes.length - end;
}

function append(texts: Texts, text: string): void {
  const start = texts.ends[texts.count - 1] ?? 0;
  texts.ends[texts.count] = start + texts.bytes.write(text, start);
  texts.count += 1;
}

function bytesAt({ bytes, ends }: Texts, position: number): Buffer {
  return bytes.subarray(ends[position - 1] ?? 0, ends[position]);
}

function batchIn(memory: Memory, free: Memory[]) {
  const { bodies, rows } = memory;
  return {
    count: bodies.count,
    body: (positions: readonly number[]): Buffer =>
      positions.length === bodies.count
        ? bodies.bytes.subarray(0, bodies.ends[bodies.count - 1])
        : Buffer.concat(positions.map((position) => bytesAt(bodies, position))),
    document: (position: number): SentDocument =>
      documentOf(bytesAt(bodies, position).toString(), bytesAt(rows, position).toString()),
    release: (): void => {
      if (bodies.bytes.length !== BATCH_BYTES) return;
      bodies.count = 0;
      rows.count = 0;
      free.push(memory);
    },
  };
}

const action = z.object({ create: z.object({ _id: z.string() }) });
const sourceRow = z.tuple([z.enum(['individual', 'business']), z.coerce.number(), z.string()]);

/** A document that was sent, read back from its request. */
export type SentDocument = ReturnType<typeof documentOf>;

function documentOf(body: string, raw: string) {
  const [first = '', second = ''] = body.split('\n');
  const { _id: id } = action.parse(JSON.parse(first)).create;
  const license = comparedLicense.parse(JSON.parse(second));
  const [file, line] = sourceRow.parse(license.source_row.split(':'));
  return { id, license, file, row: { line, raw } };
}
