import { mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '../../src/publications/metadata.ts';
import { BATCH_BYTES, type Batch } from './batch.ts';

/**
 * Stores bulk operations on disk until it is known whether to send them, because there may be as many as there are
 * licenses. The file is unlinked right away, so nothing is left of it if the process is killed.
 *
 * @param directory a directory with enough free space
 */
export async function changeFile(directory: string) {
  await mkdir(directory, { recursive: true });
  const path = join(directory, `changes-${newId()}`);
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  const batches: { readonly count: number; readonly bytes: number }[] = [];
  let pending: string[] = [];
  let characters = 0;

  async function flush(): Promise<void> {
    const bytes = Buffer.from(pending.join(''));
    batches.push({ count: pending.length, bytes: bytes.length });
    [pending, characters] = [[], 0];
    await file.appendFile(bytes);
  }

  return {
    /** @param operation the two lines of a bulk request */
    async add(operation: string): Promise<void> {
      pending.push(operation);
      characters += operation.length;
      if (characters >= BATCH_BYTES) await flush();
    },
    /** Returns the added operations in batches, in their original order. */
    async *batches(): AsyncGenerator<Batch, void, undefined> {
      if (pending.length > 0) await flush();
      let at = 0;
      for (const { count, bytes } of batches) {
        const { buffer: body } = await file.read(Buffer.allocUnsafe(bytes), 0, bytes, at);
        at += bytes;
        yield { count, body };
      }
    },
    close: (): Promise<void> => file.close(),
  };
}
