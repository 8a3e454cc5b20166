import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { TextDecoder } from 'node:util';
import { z } from 'zod';

/** How a file's bytes are to be read. Latin-1 is read as Windows-1252, its superset. */
export type Encoding = 'utf-8' | 'windows-1252';

/** What is known of a file after one pass over its bytes. */
export interface InspectedFile {
  readonly path: string;
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly encoding: Encoding;
}

const CHUNK_BYTES = 1 << 20;

/** A byte order mark of UTF-8 before text that is Latin-1 all the same. */
const MARK_AS_LATIN1 = /^\u00ef\u00bb\u00bf/;

/** Hashes a file and tells its encoding: UTF-8, or Latin-1 where the bytes are not UTF-8. */
export async function inspectFile(path: string): Promise<InspectedFile> {
  const hash = createHash('sha256');
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let bytes = 0;
  let encoding: Encoding = 'utf-8';
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
    hash.update(chunk);
    bytes += chunk.length;
    if (encoding === 'utf-8' && !decodes(decoder, chunk)) encoding = 'windows-1252';
  }
  if (encoding === 'utf-8' && !decodes(decoder)) encoding = 'windows-1252';
  return { path, name: basename(path), bytes, sha256: hash.digest('hex'), encoding };
}

function decodes(decoder: TextDecoder, chunk?: Uint8Array): boolean {
  try {
    decoder.decode(chunk, { stream: chunk !== undefined });
    return true;
  } catch {
    return false;
  }
}

/**
 * The file's text in chunks of about 1 MB, a byte order mark left off.
 *
 * @param onBytes told after each chunk how many bytes it was
 */
export async function* fileText(
  file: Pick<InspectedFile, 'path' | 'encoding'>,
  onBytes?: (bytes: number) => void,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder(file.encoding);
  let isStart = true;
  for await (const chunk of createReadStream(file.path, { highWaterMark: CHUNK_BYTES })) {
    const text = decoder.decode(chunk, { stream: true });
    yield isStart ? text.replace(MARK_AS_LATIN1, '') : text;
    isStart = false;
    onBytes?.(chunk.length);
  }
  yield decoder.decode();
}

const sampleManifest = z.object({
  generated: z.literal(true),
  sha256: z.object({ individual: z.string(), business: z.string() }),
});

/** Whether the file is one that `licenses sample-data` wrote: the manifest beside it names its hash. */
export async function isGeneratedSample(file: InspectedFile): Promise<boolean> {
  try {
    const text = await readFile(join(dirname(file.path), 'sample.json'), 'utf8');
    const { sha256 } = sampleManifest.parse(JSON.parse(text));
    return sha256.individual === file.sha256 || sha256.business === file.sha256;
  } catch {
    return false;
  }
}
