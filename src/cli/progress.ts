import { clearLine, cursorTo } from 'node:readline';
import { printable } from './output.ts';

const LINE_EVERY_MS = 5000;

export type Display = ReturnType<typeof startDisplay>;

/** Shows how far something is: in one line of a terminal, else in a line every few seconds. */
export function startDisplay(stream: NodeJS.WriteStream) {
  let lastAt = Number.NEGATIVE_INFINITY;
  const clear = () => stream.isTTY && clearLine(stream, 0) && cursorTo(stream, 0);
  return {
    show(text: string): void {
      if (!stream.isTTY && Date.now() - lastAt < LINE_EVERY_MS) return;
      lastAt = Date.now();
      clear();
      stream.write(stream.isTTY ? printable(text).slice(0, stream.columns - 1) : `${printable(text)}\n`);
    },
    /** Clears the line, and lets the next text be shown at once. */
    end(): void {
      clear();
      lastAt = Number.NEGATIVE_INFINITY;
    },
  };
}

/** Aborted by Ctrl-C, and when the process is asked to end. A second Ctrl-C ends it at once. */
export function interruption(): AbortController {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => interrupted.abort(new Error('Interrupted.')));
  return interrupted;
}
