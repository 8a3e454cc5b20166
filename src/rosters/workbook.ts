import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import pLimit from 'p-limit';
import { z } from 'zod';
import { BadRequestError } from '../licenses/lookup.ts';
import { TooBusyError } from '../storage/errors.ts';

const sheet = z.object({ name: z.string(), text: z.string() });

/** A sheet that has text, as CSV with commas. */
export type Sheet = z.output<typeof sheet>;

const answer = z.union([z.object({ sheets: z.array(sheet) }), z.object({ problem: z.string() })]);

/** What the process of a workbook writes. */
export type WorkbookAnswer = z.input<typeof answer>;

/** Reading this file took more than its share, so its process was ended. */
export class WorkbookEndedError extends BadRequestError {}

const PROGRAM = fileURLToPath(new URL('workbook-process.ts', import.meta.url));
const MAX_CPU_SECONDS = 2;
const MAX_MS = 10_000;
const MAX_HEAP_MB = 256;

/** One workbook is read at a time; this many may wait. */
const reading = pLimit(1);
const MAX_WAITING = 10;

/** Whether a file is a workbook of a spreadsheet program, or a table of a web page that is called one. */
export function isWorkbook(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, 1024);
  const isPage = /^(?:\xef\xbb\xbf)?\s{0,100}</.test(start) && /<(?:html|table|\?xml|!doctype)/i.test(start);
  return start.startsWith('PK\x03\x04') || start.startsWith('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1') || isPage;
}

/** More than the process writes of any file. */
const MAX_ANSWER_CHARACTERS = 16 * 1024 * 1024;

/** A process that waits for a workbook on its standard input. */
type Reader = ChildProcessByStdio<Writable, Readable, null>;

let spare: Reader | undefined;

/** Starts the process of the next workbook, which takes a moment, unless one is ready. */
export function prepareForWorkbook(): void {
  if (spare !== undefined) return;
  // The limit of CPU holds whatever the process does.
  const start = `ulimit -t ${MAX_CPU_SECONDS} && exec "$0" --max-old-space-size=${MAX_HEAP_MB} --permission --allow-fs-read=* "$1"`;
  const program = ['-c', start, process.execPath, PROGRAM];
  const reader = spawn('/bin/sh', program, { stdio: ['pipe', 'pipe', 'ignore'], env: {} });
  const forget = () => {
    if (spare === reader) spare = undefined;
  };
  reader.on('error', forget).on('close', forget);
  // Writing to a process that has ended fails. `readWorkbook` then gets no answer and handles it.
  reader.stdin.on('error', () => undefined);
  whileWaiting(reader, 'unref');
  spare = reader;
}

/** A process that only waits never keeps this one from ending. */
function whileWaiting(reader: Reader, change: 'ref' | 'unref'): void {
  reader[change]();
  for (const pipe of [reader.stdin, reader.stdout]) if (pipe instanceof Socket) pipe[change]();
}

/**
 * Reads a workbook in a process of its own, which is ended after 2 s of CPU or 10 s.
 *
 * @returns its visible sheets that have text
 * @throws {BadRequestError} saying what to do, for a file that is no workbook or too large
 * @throws {WorkbookEndedError} when its process had to be ended
 * @throws {TooBusyError} when too many workbooks wait
 */
export async function readWorkbook(file: Buffer): Promise<readonly Sheet[]> {
  if (reading.pendingCount >= MAX_WAITING) throw new TooBusyError('Too many workbooks wait.');
  return reading(async () => {
    prepareForWorkbook();
    const reader = spare;
    spare = undefined;
    if (reader?.pid === undefined) throw new TooBusyError('No process for a workbook could be started.');
    whileWaiting(reader, 'ref');
    const timer = setTimeout(() => reader.kill('SIGKILL'), MAX_MS);
    try {
      const written = writtenBy(reader);
      reader.stdin.end(file);
      const read = await written;
      if (read === undefined) throw new WorkbookEndedError(ENDED);
      if ('problem' in read) throw new BadRequestError(read.problem);
      return read.sheets;
    } finally {
      clearTimeout(timer);
      reader.kill('SIGKILL');
      // The rows of this one are looked up first.
      setTimeout(prepareForWorkbook, 300).unref();
    }
  });
}

const ENDED =
  'Reading this file takes too long, so it was not read. Copy only the list into a new workbook, and choose that file.';

/** What a process answers; `undefined` where it was ended, or writes too much. */
async function writtenBy({ stdout }: Reader): Promise<z.output<typeof answer> | undefined> {
  let text = '';
  stdout.setEncoding('utf8');
  for await (const chunk of stdout) {
    text += chunk;
    if (text.length > MAX_ANSWER_CHARACTERS) break;
  }
  // The last thing that it writes.
  return text.endsWith('\n') ? answer.parse(JSON.parse(text)) : undefined;
}
