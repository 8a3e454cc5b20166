import { open } from 'node:fs/promises';
import { parsed } from '../parsed.ts';
import type { DayFiles } from '../published.ts';
import { type BodyPart, DATE } from './bench.ts';

const BODY_BYTES = 8 << 20;

/** Writes what our own parser makes of the files as bulk bodies of 8 MB. */
export async function writeBodies(files: DayFiles, path: string): Promise<BodyPart[]> {
  const parts: BodyPart[] = [];
  const file = await open(path, 'w');
  let pending: string[] = [];
  let length = 0;
  let start = 0;

  async function flush(): Promise<void> {
    const body = Buffer.from(pending.join(''));
    await file.write(body);
    parts.push({ start, end: start + body.length, documents: pending.length });
    start += body.length;
    pending = [];
    length = 0;
  }

  for await (const operations of parsed(files, DATE)) {
    for (const { body } of operations) {
      pending.push(body);
      length += body.length;
      if (length >= BODY_BYTES) await flush();
    }
  }
  if (pending.length > 0) await flush();
  await file.close();
  return parts;
}

/** How many documents the bodies have. */
export function documentsIn(parts: readonly BodyPart[]): number {
  return parts.reduce((sum, { documents }) => sum + documents, 0);
}
