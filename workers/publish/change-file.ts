import { mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '../../src/publications/metadata.ts';
import { BATCH_BYTES, type Batch } from './batch.ts';

export type ChangeFile = Awaited<ReturnType<typeof changeFile>>;

/**
 * Bulk operations on disk, until it is known whether they are to be sent: they may be as many as the licenses. The file
 * has no name any more, so nothing is left of it when the process is killed.
 *
 * @param directory where there is room
 */
export async function changeFile(directory: string) {
  await mkdir(directory, { recursive: true });
  const path = join(directory, `changes-${newId()}`);
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  const batches: { readonly count: number; readonly at: number; readonly bytes: number }[] = [];
  let size = 0;
  let pending: string[] = [];
  let characters = 0;

  async function flush(): Promise<void> {
    const bytes = Buffer.from(pending.join(''));
    batches.push({ count: pending.length, at: size, bytes: bytes.length });
    [pending, characters] = [[], 0];
    size += bytes.length;
    await file.appendFile(bytes);
  }

  return {
    /** @param operation the two lines of a bulk request */
    async add(operation: string): Promise<void> {
      pending.push(operation);
      characters += operation.length;
      if (characters >= BATCH_BYTES) await flush();
    },
    /** What was added, in the order in which it was. */
    async *batches(): AsyncGenerator<Batch, void, undefined> {
      if (pending.length > 0) await flush();
      for (const { count, at, bytes } of batches) {
        const { buffer } = await file.read(Buffer.allocUnsafe(bytes), 0, bytes, at);
        yield { count, body: (positions) => linesAt(buffer, count, positions), release: () => undefined };
      }
    },
    close: (): Promise<void> => file.close(),
  };
}

function linesAt(body: Buffer, count: number, positions: readonly number[]): Buffer {
  if (positions.length === count) return body;
  const lines = body.toString().split('\n');
  return Buffer.from(positions.map((at) => `${lines[2 * at]}\n${lines[2 * at + 1]}\n`).join(''));
}
