import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pLimit from 'p-limit';
import { z } from 'zod';
import { BadRequestError } from '../licenses/lookup.ts';
import { TooBusyError } from '../storage/errors.ts';

const sheet = z.object({ name: z.string(), text: z.string() });

/** A sheet that has text, as CSV with commas. */
export type Sheet = z.output<typeof sheet>;

const answer = z.union([z.object({ sheets: z.array(sheet) }), z.object({ problem: z.string() })]);

/** The output of the process that reads a workbook. */
export type WorkbookAnswer = z.input<typeof answer>;

/** Reading this file took too much time or memory, so its process was ended. */
export class WorkbookEndedError extends BadRequestError {}

const run = promisify(execFile);

const PROGRAM = fileURLToPath(new URL('workbook-process.ts', import.meta.url));
const MAX_CPU_SECONDS = 2;
const MAX_MS = 10_000;
const MAX_HEAP_MB = 256;

/** One workbook is read at a time; this many may wait. */
const reading = pLimit(1);
const MAX_WAITING = 10;

/** Whether a file is a workbook of a spreadsheet program, or a web page's table that was saved as one. */
export function isWorkbook(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, 1024);
  const isPage = /^(?:\xef\xbb\xbf)?\s{0,100}</.test(start) && /<(?:html|table|\?xml|!doctype)/i.test(start);
  return start.startsWith('PK\x03\x04') || start.startsWith('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1') || isPage;
}

/** The process never writes more for a file. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

const ENDED =
  'Reading this file takes too long, so it was not read. Copy only the list into a new workbook, and choose that file.';

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
  const read = answer.parse(JSON.parse(await reading(() => answerTo(file))));
  if ('problem' in read) throw new BadRequestError(read.problem);
  return read.sheets;
}

/** Runs the process and returns its output. @throws as `readWorkbook` */
async function answerTo(file: Buffer): Promise<string> {
  // `ulimit` limits the CPU time whatever the process does.
  const start = `ulimit -t ${MAX_CPU_SECONDS} && exec "$0" --max-old-space-size=${MAX_HEAP_MB} --permission --allow-fs-read=* "$1"`;
  const options = { env: {}, maxBuffer: MAX_ANSWER_BYTES, timeout: MAX_MS, killSignal: 'SIGKILL' } as const;
  const running = run('/bin/sh', ['-c', start, process.execPath, PROGRAM], options);
  const { child } = running;
  // Writing also fails if the process has already ended. The error below covers that.
  child.stdin?.on('error', () => undefined).end(file);
  try {
    return (await running).stdout;
  } catch {
    if (child.pid === undefined) throw new TooBusyError('No process for a workbook could be started.');
    throw new WorkbookEndedError(ENDED);
  }
}
