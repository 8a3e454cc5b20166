import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { SourceUrl } from './source-url.ts';

/** The files of one URL in the download directory. */
export interface StoredFiles {
  readonly complete: string;
  readonly completeMetadata: string;
  /** The beginning of a file whose download is not finished. */
  readonly part: string;
  readonly partMetadata: string;
}

/** Where the files of a URL are stored. */
export function storedFiles(directory: string, url: URL): StoredFiles {
  const hash = createHash('sha256').update(url.href).digest('hex').slice(0, 32);
  const name = (url.pathname.split('/').at(-1) ?? '').replace(/[^\w.-]+/g, '_').slice(-80);
  const complete = join(directory, name === '' ? hash : `${hash}-${name}`);
  const part = `${complete}.part`;
  return { complete, completeMetadata: `${complete}.json`, part, partMetadata: `${part}.json` };
}

const hexSha256 = z.string().regex(/^[0-9a-f]{64}$/);

const serverMetadata = z.object({
  /** Redacted. */
  url: z.string(),
  etag: z.string().nullable(),
  last_modified: z.string().nullable(),
});

const partMetadata = serverMetadata.extend({
  /** The validator (ETag or date) of a range request; null when the download can't be resumed. */
  if_range: z.string().nullable(),
  length: z.int().nonnegative().nullable(),
  sha256: hexSha256.nullable(),
});

const completeMetadata = serverMetadata.extend({ length: z.int().nonnegative(), sha256: hexSha256 });

/** What the server sent about the file that is being downloaded. */
export type PartMetadata = z.infer<typeof partMetadata>;

/** What is known about the file that was downloaded last. */
export type CompleteMetadata = z.infer<typeof completeMetadata>;

/** `undefined` when the metadata is missing, unreadable or another URL's. */
async function readMetadata<Metadata extends { url: string }>(
  schema: z.ZodType<Metadata>,
  path: string,
  source: SourceUrl,
): Promise<Metadata | undefined> {
  try {
    const metadata = schema.parse(JSON.parse(await readFile(path, 'utf8')));
    return metadata.url === source.redacted ? metadata : undefined;
  } catch {
    return undefined;
  }
}

/** A part that a range request can resume. */
export interface ResumablePart {
  readonly bytes: number;
  readonly metadata: PartMetadata;
  readonly ifRange: string;
}

/** The part on disk, when the server can be asked for the rest of it. */
export async function resumablePart(
  source: SourceUrl,
  files: StoredFiles,
): Promise<ResumablePart | undefined> {
  const metadata = await readMetadata(partMetadata, files.partMetadata, source);
  const bytes = (await sizeOf(files.part)) ?? 0;
  if (metadata === undefined || metadata.if_range === null || bytes === 0) return undefined;
  return { bytes, metadata, ifRange: metadata.if_range };
}

/** The metadata of the last complete download. */
export async function lastDownload(
  source: SourceUrl,
  files: StoredFiles,
): Promise<CompleteMetadata | undefined> {
  return readMetadata(completeMetadata, files.completeMetadata, source);
}

/** Whether the complete file still has its size and digest, and the digest that the operator expects. */
export async function isIntact(
  { complete }: StoredFiles,
  source: SourceUrl,
  { length, sha256 }: CompleteMetadata,
  signal: AbortSignal,
): Promise<boolean> {
  if ((await sizeOf(complete)) !== length) return false;
  if (source.sha256 !== undefined && source.sha256 !== sha256) return false;
  return (await sha256Of(complete, signal)) === sha256;
}

/** Deletes the part and its metadata. */
export async function discardPart({ part, partMetadata: metadata }: StoredFiles): Promise<void> {
  await rm(part, { force: true });
  await rm(metadata, { force: true });
}

/** The file's size in bytes; `undefined` when it does not exist. */
export async function sizeOf(path: string): Promise<number | undefined> {
  const stats = await stat(path).catch(() => undefined);
  return stats?.size;
}

/** The file's SHA-256 in hex. */
export async function sha256Of(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20, signal })) hash.update(chunk);
  return hash.digest('hex');
}
