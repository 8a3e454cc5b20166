import { open } from 'node:fs/promises';
import type { TestEnvironment } from '../../scripts/environment.ts';
import { type DayFiles, parsed } from '../published.ts';
import { DATE } from '../service.ts';

/** The position of one prepared bulk body in the file of bodies. */
export interface BodyPart {
  readonly start: number;
  readonly end: number;
  readonly documents: number;
}

/** The input of the measurements. */
export interface Bench {
  readonly environment: TestEnvironment;
  readonly files: DayFiles;
  readonly rows: number;
  /** A file of consecutive prepared bulk bodies. */
  readonly bodies: { readonly path: string; readonly parts: readonly BodyPart[] };
}

/** The smallest body to try, in megabytes. Larger bodies consist of several of these. */
export const SMALLEST_MEGABYTES = 2;
const BODY_BYTES = SMALLEST_MEGABYTES * 1e6;

/** Parses the files with the service's own parser, and writes the documents as consecutive bulk bodies of 2 MB. */
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

/** Joins the bodies to larger ones with the same documents. */
export function joined(parts: readonly BodyPart[], megabytes: number): BodyPart[] {
  const together = megabytes / SMALLEST_MEGABYTES;
  const bodies: BodyPart[] = [];
  for (let at = 0; at < parts.length; at += together) {
    const group = parts.slice(at, at + together);
    const [first, last] = [group.at(0), group.at(-1)];
    if (first === undefined || last === undefined) break;
    bodies.push({ start: first.start, end: last.end, documents: documentsIn(group) });
  }
  return bodies;
}

/** The number of documents in the bodies. */
export function documentsIn(parts: readonly BodyPart[]): number {
  return parts.reduce((sum, { documents }) => sum + documents, 0);
}
