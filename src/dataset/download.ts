import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { STATUS_CODES } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

/** A source that can't be downloaded; the message says why and shows no secret of its URL. */
export class DownloadError extends Error {}

/** Timeouts and waits of a download, in milliseconds. */
export interface DownloadPatience {
  /** How long no byte may come before the connection is given up. */
  readonly stall: number;
  /** Before the second try; it doubles with each try that brings nothing. */
  readonly firstWait: number;
  readonly longestWait: number;
  /** The most that a Retry-After is waited for. */
  readonly longestRetryAfter: number;
}

export interface DownloadOptions {
  /** Where the file is kept from one download to the next; made, for its owner alone, where it is missing. */
  readonly directory: string;
  readonly signal: AbortSignal;
  /** Told after each chunk how many bytes are on disk: fewer than before where the download had to start over. */
  readonly onBytes?: (bytes: number, total: number | undefined) => void;
  readonly patience?: DownloadPatience;
}

export interface DownloadedSource {
  readonly path: string;
  /** The URL as it may be shown and kept. */
  readonly name: string;
  readonly sha256: string;
  readonly bytes: number;
  /** Whether it is, byte for byte, the file that the download before brought. */
  readonly isUnchanged: boolean;
}

/** Whether a source is an address, not a path. */
export function isAddress(location: string): boolean {
  return /^https?:\/\//i.test(location);
}

const PATIENCE: DownloadPatience = {
  stall: 60_000,
  firstWait: 1000,
  longestWait: 30_000,
  longestRetryAfter: 300_000,
};

const MAX_TRIES = 6;
const MAX_REDIRECTS = 5;

/** The State's larger file has under 1 GiB: far more than that is not the file, and must not fill the disk. */
const MAX_BYTES = 8 * 2 ** 30;

/** An error that another try may solve: a lost connection, a busy server, a part that does not fit. */
class Interruption extends Error {
  readonly retryAfterMs: number;

  constructor(reason: string, retryAfterMs = 0) {
    super(reason);
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Downloads a file, or finds that the one downloaded before is still the server's. What a broken-off download
 * left is resumed, by a later call too, where the server vouches that the file is still the same; the parts of
 * two files are never joined. The file is checked against the length and the SHA-256 that the server names, and
 * against the one in the URL's fragment (`#sha256=…`) where there is one.
 *
 * One process at a time may download a URL into a directory.
 *
 * @param url https; http only for this machine. Its user-info is sent as Basic credentials, to its origin alone
 * @throws {DownloadError} when the server won't give the file, gives another than is expected, or six tries in
 *   a row bring no byte
 * @throws the signal's reason when it is aborted
 */
export async function downloadSource(url: string, options: DownloadOptions): Promise<DownloadedSource> {
  const source = parseSource(url);
  const patience = options.patience ?? PATIENCE;
  const download: Download = { source, files: filesOf(options.directory, source.address), options, patience };
  await mkdir(options.directory, { recursive: true, mode: 0o700 });
  let furthest = (await sizeOf(download.files.part)) ?? 0;
  let wasted = 0;
  for (;;) {
    try {
      return await tryDownload(download);
    } catch (error) {
      options.signal.throwIfAborted();
      if (!(error instanceof Interruption)) throw error;
      const bytes = (await sizeOf(download.files.part)) ?? 0;
      wasted = bytes > furthest ? 0 : wasted + 1;
      furthest = Math.max(furthest, bytes);
      if (wasted === MAX_TRIES) throw gaveUp(source, error);
      await pause(waitMs(patience, wasted, error.retryAfterMs), options.signal);
    }
  }
}

function gaveUp({ shown }: Source, last: Interruption): DownloadError {
  return new DownloadError(
    `${shown} could not be downloaded: ${MAX_TRIES} tries in a row brought nothing; at last, ${last.message}.`,
    { cause: last },
  );
}

function waitMs(patience: DownloadPatience, wasted: number, retryAfterMs: number): number {
  const wait = Math.min(patience.firstWait * 2 ** Math.max(wasted - 1, 0), patience.longestWait);
  return Math.max(wait * (0.5 + Math.random()), Math.min(retryAfterMs, patience.longestRetryAfter));
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}

/** A URL as it may be shown and kept: without user-info, query and fragment, which may hold secrets. */
function shownUrl(url: URL): string {
  return `${url.origin}${url.pathname}${url.search === '' ? '' : '?…'}`;
}

interface Source {
  /** Without user-info and fragment. */
  readonly address: URL;
  readonly authorization: string | undefined;
  /** The SHA-256 that the operator expects. */
  readonly sha256: string | undefined;
  readonly shown: string;
}

const SHA256_FRAGMENT = /^#sha256=([0-9a-f]{64})$/i;

function parseSource(url: string): Source {
  const address = URL.parse(url);
  if (address === null || !/^https?:$/.test(address.protocol)) {
    throw new DownloadError('A source to be downloaded needs a URL that begins with https://.');
  }
  const shown = shownUrl(address);
  if (address.protocol === 'http:' && !isHttpOfThisMachine(address)) {
    throw new DownloadError(`${shown} is not https, and a source is downloaded by https alone.`);
  }
  const sha256 = SHA256_FRAGMENT.exec(address.hash)?.[1]?.toLowerCase();
  if (sha256 === undefined && address.hash !== '') {
    throw new DownloadError(`${shown} has a fragment that is not #sha256= and 64 hexadecimal digits.`);
  }
  const authorization = basicCredentials(address);
  address.username = '';
  address.password = '';
  address.hash = '';
  return { address, authorization, sha256, shown };
}

function isHttpOfThisMachine({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

function basicCredentials(address: URL): string | undefined {
  if (address.username === '' && address.password === '') return undefined;
  try {
    const pair = `${decodeURIComponent(address.username)}:${decodeURIComponent(address.password)}`;
    return `Basic ${Buffer.from(pair).toString('base64')}`;
  } catch {
    throw new DownloadError(
      `${shownUrl(address)} has a user name or password with a % that is not written %25.`,
    );
  }
}

/** Where a URL's download is kept. */
interface DownloadFiles {
  readonly complete: string;
  /** What was known of the server's file when it was complete. */
  readonly completeNote: string;
  readonly part: string;
  readonly partNote: string;
}

function filesOf(directory: string, address: URL): DownloadFiles {
  const hash = createHash('sha256').update(address.href).digest('hex').slice(0, 32);
  const name = (address.pathname.split('/').at(-1) ?? '').replace(/[^\w.-]+/g, '_').slice(-80);
  const complete = join(directory, name === '' ? hash : `${hash}-${name}`);
  const part = `${complete}.part`;
  return { complete, completeNote: `${complete}.json`, part, partNote: `${part}.json` };
}

const hexSha256 = z.string().regex(/^[0-9a-f]{64}$/);

const serverFile = z.object({
  /** As shown. */
  url: z.string(),
  etag: z.string().nullable(),
  last_modified: z.string().nullable(),
});

/** What the server said of the file of which the beginning is there. */
const partNote = serverFile.extend({
  /** The validator (ETag or date) for a range request; without it the rest can't be requested. */
  if_range: z.string().nullable(),
  length: z.int().nonnegative().nullable(),
  sha256: hexSha256.nullable(),
});

const completeNote = serverFile.extend({ length: z.int().nonnegative(), sha256: hexSha256 });

type PartNote = z.infer<typeof partNote>;
type CompleteNote = z.infer<typeof completeNote>;

/** With a note that can't be read, as without one, the download starts over. */
async function readNote<Note extends { url: string }>(
  schema: z.ZodType<Note>,
  path: string,
  source: Source,
): Promise<Note | undefined> {
  try {
    const note = schema.parse(JSON.parse(await readFile(path, 'utf8')));
    return note.url === source.shown ? note : undefined;
  } catch {
    return undefined;
  }
}

interface Download {
  readonly source: Source;
  readonly files: DownloadFiles;
  readonly options: DownloadOptions;
  readonly patience: DownloadPatience;
}

/** A beginning that the server can be asked to complete. */
interface KeptPart {
  readonly bytes: number;
  readonly note: PartNote;
  readonly ifRange: string;
}

async function keptPart({ source, files }: Download): Promise<KeptPart | undefined> {
  const note = await readNote(partNote, files.partNote, source);
  const bytes = (await sizeOf(files.part)) ?? 0;
  if (note === undefined || note.if_range === null || bytes === 0) return undefined;
  return { bytes, note, ifRange: note.if_range };
}

/** What is known of the complete file, where it is still whole and may be the one that is wanted. */
async function keptComplete(
  { source, files, options }: Download,
  note: CompleteNote | undefined,
): Promise<CompleteNote | undefined> {
  if (note === undefined || (await sizeOf(files.complete)) !== note.length) return undefined;
  if (source.sha256 !== undefined && source.sha256 !== note.sha256) return undefined;
  return (await sha256Of(files.complete, options.signal)) === note.sha256 ? note : undefined;
}

async function tryDownload(download: Download): Promise<DownloadedSource> {
  const { source, files, options, patience } = download;
  const before = await readNote(completeNote, files.completeNote, source);
  const part = await keptPart(download);
  const complete = part === undefined ? await keptComplete(download, before) : undefined;
  const exchange = openExchange(options.signal, patience.stall);
  try {
    const response = await ask(source, { ...rangeOf(part), ...conditionsOf(complete) }, exchange.signal);
    if (response.status === 304 && complete !== undefined) {
      return {
        path: files.complete,
        name: source.shown,
        sha256: complete.sha256,
        bytes: complete.length,
        isUnchanged: true,
      };
    }
    const note = await acceptBody(download, response, part);
    const bytes = await receive(download, response, note, exchange);
    return await finish(download, note, bytes, before);
  } finally {
    exchange.end();
  }
}

function rangeOf(part: KeptPart | undefined): Record<string, string> {
  return part === undefined ? {} : { range: `bytes=${part.bytes}-`, 'if-range': part.ifRange };
}

function conditionsOf(complete: CompleteNote | undefined): Record<string, string> {
  const { etag = null, last_modified = null } = complete ?? {};
  return {
    ...(etag === null ? {} : { 'if-none-match': etag }),
    ...(last_modified === null ? {} : { 'if-modified-since': last_modified }),
  };
}

/** A request with its answer, broken off when no byte comes for too long. */
interface Exchange {
  readonly signal: AbortSignal;
  noteBytes(): void;
  /** Closes the connection where the answer was not read to its end. */
  end(): void;
}

function openExchange(signal: AbortSignal, stall: number): Exchange {
  const controller = new AbortController();
  const stalled = () => controller.abort(new Interruption(`nothing came for ${stall / 1000} seconds`));
  const timer = setTimeout(stalled, stall);
  return {
    signal: AbortSignal.any([signal, controller.signal]),
    noteBytes: () => {
      timer.refresh();
    },
    end: () => {
      clearTimeout(timer);
      controller.abort();
    },
  };
}

const REDIRECTIONS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The answer after at most five redirections. */
async function ask(source: Source, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
  let address = source.address;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const response = await askOnce(source, address, headers, signal);
    const location = REDIRECTIONS.has(response.status) ? response.headers.get('location') : null;
    if (location === null) return response;
    await response.body?.cancel();
    address = redirected(source, address, location);
  }
  throw new DownloadError(`${source.shown} redirects more than ${MAX_REDIRECTS} times.`);
}

async function askOnce(
  { address: given, authorization }: Source,
  address: URL,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<Response> {
  const credentials = authorization === undefined || address.origin !== given.origin ? {} : { authorization };
  try {
    return await fetch(address, {
      headers: { ...headers, ...credentials, 'accept-encoding': 'identity' },
      redirect: 'manual',
      signal,
    });
  } catch (error) {
    throw interruption('the connection failed', error);
  }
}

/** Only to https, so that nobody on the way can change the file; from this machine's http to this machine's too. */
function redirected(source: Source, from: URL, location: string): URL {
  const to = URL.parse(location, from.href);
  if (to === null) throw new DownloadError(`${source.shown} redirects to what is no URL.`);
  if (to.protocol !== 'https:' && !(isHttpOfThisMachine(to) && isHttpOfThisMachine(source.address))) {
    throw new DownloadError(`${source.shown} redirects to ${shownUrl(to)}, which is not https.`);
  }
  to.username = '';
  to.password = '';
  return to;
}

function interruption(what: string, error: unknown): Interruption {
  if (error instanceof Interruption) return error;
  const cause = failureCause.safeParse(error);
  return new Interruption(cause.success ? `${what} (${cause.data.cause.code})` : what);
}

const failureCause = z.object({ cause: z.object({ code: z.string() }) });

/**
 * Makes the part ready for the answer's body: left as it is where the body continues it, emptied where the body
 * is the whole file.
 */
async function acceptBody(
  { source, files }: Download,
  response: Response,
  part: KeptPart | undefined,
): Promise<PartNote> {
  const { status } = response;
  if (part !== undefined && (status === 206 || status === 416)) {
    const length = lengthOfContinuation(response, part);
    if (length !== undefined) return { ...part.note, length };
    await discardPart(files);
    throw new Interruption('the server does not continue the file where it broke off');
  }
  const answer = `${status} ${STATUS_CODES[status] ?? ''}`.trim();
  if (status >= 500 || status === 429 || status === 408) {
    throw new Interruption(`the server answered ${answer}`, retryAfterMs(response));
  }
  if (status !== 200) {
    throw new DownloadError(`${source.shown} could not be downloaded: the server answered ${answer}.`);
  }
  const note = noteOf(source, response);
  // In this order: a note must never stand beside the part of another file.
  await discardPart(files);
  await writeFile(files.partNote, JSON.stringify(note));
  return note;
}

/** How long the whole file is, where the answer continues the part; `undefined` where it doesn't. */
function lengthOfContinuation({ status, headers }: Response, { bytes, note }: KeptPart): number | undefined {
  const [, from, length] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get('content-range') ?? '') ?? [];
  const isSame =
    status === 206 &&
    contentCoding(headers) === 'identity' &&
    Number(from) === bytes &&
    Number(length) === (note.length ?? Number(length)) &&
    (headers.get('etag') ?? note.etag) === note.etag &&
    (headers.get('last-modified') ?? note.last_modified) === note.last_modified;
  return isSame ? Number(length) : undefined;
}

function retryAfterMs({ headers }: Response): number {
  const value = headers.get('retry-after') ?? '';
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(ms, 0) : 0;
}

function noteOf(source: Source, { headers }: Response): PartNote {
  const coding = contentCoding(headers);
  if (coding !== 'identity') {
    // fetch has unpacked it already: neither its length nor its parts would be those that the server names.
    throw new DownloadError(
      `${source.shown} comes with Content-Encoding ${coding}, which was not asked for.`,
    );
  }
  const contentLength = headers.get('content-length');
  const length = contentLength === null ? null : Number(contentLength);
  if (length !== null && length > MAX_BYTES) throw tooLarge(source);
  return {
    url: source.shown,
    etag: headers.get('etag'),
    last_modified: headers.get('last-modified'),
    if_range: strongValidator(headers),
    length,
    sha256: sha256Named(headers),
  };
}

function contentCoding(headers: Headers): string {
  return headers.get('content-encoding') ?? 'identity';
}

/**
 * What tells one content from any other. A date does only where the answer is later than it: within that second
 * the file may have changed again (RFC 9110, 8.8.2.2).
 */
function strongValidator(headers: Headers): string | null {
  const etag = headers.get('etag');
  if (etag?.startsWith('"')) return etag;
  const lastModified = headers.get('last-modified');
  const age = Date.parse(headers.get('date') ?? '') - Date.parse(lastModified ?? '');
  return age >= 1000 ? lastModified : null;
}

/** The SHA-256 in `Repr-Digest` (RFC 9530) or its forerunner `Digest` (RFC 3230), of the whole file in both. */
function sha256Named(headers: Headers): string | null {
  const named =
    /(?:^|,)\s*sha-256=:([\w+/=]+):/i.exec(headers.get('repr-digest') ?? '') ??
    /(?:^|,)\s*sha-256=([\w+/=]+)/i.exec(headers.get('digest') ?? '');
  const bytes = Buffer.from(named?.[1] ?? '', 'base64');
  return bytes.length === 32 ? bytes.toString('hex') : null;
}

/** Adds the body to the part. The part is then as long as the server said. */
async function receive(
  { source, files, options }: Download,
  response: Response,
  { length }: PartNote,
  exchange: Exchange,
): Promise<number> {
  const part = await open(files.part, 'a');
  let bytes: number;
  try {
    bytes = (await part.stat()).size;
    for await (const chunk of bodyOf(response)) {
      await part.appendFile(chunk);
      bytes += chunk.length;
      exchange.noteBytes();
      options.onBytes?.(bytes, length ?? undefined);
      if (bytes > MAX_BYTES) break;
    }
    await part.sync();
  } finally {
    await part.close();
  }
  if (bytes > MAX_BYTES) {
    await discardPart(files);
    throw tooLarge(source);
  }
  if (length !== null && bytes > length) {
    await discardPart(files);
    throw new Interruption(`the server sent more than the ${length} bytes that it named`);
  }
  if (length !== null && bytes < length) throw new Interruption(`only ${bytes} of ${length} bytes came`);
  return bytes;
}

async function* bodyOf(response: Response): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of response.body ?? []) yield chunk;
  } catch (error) {
    throw interruption('the connection was lost', error);
  }
}

function tooLarge({ shown }: Source): DownloadError {
  return new DownloadError(`${shown} has more than ${MAX_BYTES / 2 ** 30} GiB, the most that is downloaded.`);
}

/** Checks the part and makes it the complete file. */
async function finish(
  { source, files, options }: Download,
  note: PartNote,
  bytes: number,
  before: CompleteNote | undefined,
): Promise<DownloadedSource> {
  const sha256 = await sha256Of(files.part, options.signal);
  const expected = [
    { by: 'its server names', sha256: note.sha256 ?? sha256 },
    { by: 'its URL names', sha256: source.sha256 ?? sha256 },
  ];
  const wrong = expected.find((digest) => digest.sha256 !== sha256);
  if (wrong !== undefined) {
    await discardPart(files);
    throw new DownloadError(
      `${source.shown} has the SHA-256 ${sha256}, not the one that ${wrong.by} (${wrong.sha256}).`,
    );
  }
  await rename(files.part, files.complete);
  const { url, etag, last_modified } = note;
  const complete: CompleteNote = { url, etag, last_modified, length: bytes, sha256 };
  await writeFile(files.completeNote, JSON.stringify(complete));
  await discardPart(files);
  return { path: files.complete, name: source.shown, sha256, bytes, isUnchanged: before?.sha256 === sha256 };
}

async function discardPart({ part, partNote }: DownloadFiles): Promise<void> {
  await rm(part, { force: true });
  await rm(partNote, { force: true });
}

async function sizeOf(path: string): Promise<number | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found?.size;
}

async function sha256Of(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20, signal })) hash.update(chunk);
  return hash.digest('hex');
}
