import { clearLine, cursorTo } from 'node:readline';
import { printable } from './output.ts';

const LINE_EVERY_MS = 5000;

export type Display = ReturnType<typeof startDisplay>;

/** Shows how far something is: in one line of a terminal, else in a line at each new step and every few seconds. */
export function startDisplay(stream: NodeJS.WriteStream) {
  let shown = { step: '', at: 0 };
  const end = () => stream.isTTY && clearLine(stream, 0) && cursorTo(stream, 0);
  function show(text: string, step: string): void {
    if (!stream.isTTY && step === shown.step && Date.now() - shown.at < LINE_EVERY_MS) return;
    shown = { step, at: Date.now() };
    end();
    stream.write(stream.isTTY ? printable(text).slice(0, stream.columns - 1) : `${printable(text)}\n`);
  }
  return { show, end };
}

/** Aborted by Ctrl-C, and when the process is asked to end. A second Ctrl-C ends it at once. */
export function interruption(): AbortController {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => interrupted.abort(new Error('Interrupted.')));
  return interrupted;
}
