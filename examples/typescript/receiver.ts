// Receives webhook messages, and prints one line of JSON for each change of the licenses that your account watches.
//
//   LICENSES_URL=http://127.0.0.1:8080 LICENSES_KEY=… WEBHOOK_SECRET=whsec_… node receiver.ts cursor.txt
//
// It listens on HOST and PORT, by default 127.0.0.1 and 3000, for the messages that the service sends to your webhook. A
// message only says that there is something new. What it is, this program reads from the feed, from the cursor that it
// has saved in the file: so a message that is lost, repeated or late does no harm, and a restart loses nothing. The first
// time, and when the changes since the cursor are no longer kept, it prints all that you watch instead. A change is
// printed twice only when the program is stopped before it has saved its cursor.

import { readFile, rename, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { CursorExpiredError, changesSince, reason, watchedLicenses } from './service.ts';

const MAX_BYTES = 64 * 1024;
const SENT_WITHIN_MS = 10_000;
/** Without a message, it asks so often: the service stops sending to a receiver that is away for days. */
const ASK_EVERY_MS = 3_600_000;
const RETRY_AFTER_MS = 60_000;

function print(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

function printError(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** The body of a message; `undefined` where it is too large. */
async function bodyOf(message: AsyncIterable<Buffer>): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of message) {
    bytes += piece.length;
    if (bytes <= MAX_BYTES) pieces.push(piece);
  }
  return bytes <= MAX_BYTES ? Buffer.concat(pieces) : undefined;
}

/** Whether the service has signed a message, in the last minutes: anybody else may have sent it. */
function isSigned(body: Buffer, headers: IncomingMessage['headers'], webhook: Webhook): boolean {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  try {
    webhook.verify(body, Object.fromEntries(names.map((name) => [name, String(headers[name] ?? '')])));
    return true;
  } catch {
    return false;
  }
}

async function savedCursor(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Replaces the file as a whole, so that it is never half written. */
async function save(cursor: string, file: string): Promise<void> {
  await writeFile(`${file}.part`, cursor);
  await rename(`${file}.part`, file);
}

/** The cursor comes first: what changes while the list is printed is then printed again, as a change. */
async function printAll(file: string): Promise<void> {
  const { next } = await changesSince('latest');
  for await (const license of watchedLicenses()) print(license);
  await save(next, file);
}

/** Prints what has changed since the saved cursor. */
async function printChanges(file: string): Promise<void> {
  let since = await savedCursor(file);
  if (since === undefined) return printAll(file);
  try {
    for (let more = true; more; ) {
      const page = await changesSince(since, { watched: 'true' });
      for (const change of page.changes) print(change);
      [since, more] = [page.next, page.more];
      await save(since, file);
    }
  } catch (error) {
    if (!(error instanceof CursorExpiredError)) throw error;
    printError('The changes since the last time are no longer kept; all that is watched is printed.');
    await printAll(file);
  }
}

async function receive(file: string, webhook: Webhook): Promise<void> {
  let nudged = new AbortController();
  const server = createServer({ requestTimeout: SENT_WITHIN_MS }, async (request, response) => {
    const body = await bodyOf(request).catch(() => undefined);
    const isFromService = body !== undefined && isSigned(body, request.headers, webhook);
    // The service waits fifteen seconds for an answer. Reading the feed may take longer.
    response.writeHead(isFromService ? 204 : 401, { connection: 'close' }).end();
    if (isFromService) nudged.abort();
  });
  const { HOST: host = '127.0.0.1', PORT: port = '3000' } = process.env;
  server.listen(Number(port), host, () => printError(`Listening on http://${host}:${port}`));
  for (;;) {
    nudged = new AbortController();
    let waitMs = ASK_EVERY_MS;
    try {
      await printChanges(file);
    } catch (error) {
      printError(reason(error));
      waitMs = RETRY_AFTER_MS;
    }
    await sleep(waitMs, undefined, { signal: nudged.signal }).catch(() => undefined);
  }
}

const [cursorFile] = process.argv.slice(2);
const { WEBHOOK_SECRET: secret = '' } = process.env;
if (cursorFile === undefined || secret === '') {
  printError('Use: WEBHOOK_SECRET=whsec_… node receiver.ts cursor.txt');
  process.exitCode = 1;
} else {
  await receive(cursorFile, new Webhook(secret));
}
