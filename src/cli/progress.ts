import { clearLine, cursorTo } from 'node:readline';
import type { PublishProgress } from '../publications/job.ts';
import { PUBLISH_STEPS, type PublishStep } from '../publications/ledger.ts';
import { grouped, printable } from './output.ts';

const LINE_EVERY_MS = 5000;

/** Shows how far something is: in one line of a terminal, else in a line every few seconds. */
export interface Display {
  show(text: string): void;
  /** Clears the line, and lets the next text be shown at once. */
  end(): void;
}

export function startDisplay(stream: NodeJS.WriteStream): Display {
  let lastAt = Number.NEGATIVE_INFINITY;
  const clear = () => stream.isTTY && clearLine(stream, 0) && cursorTo(stream, 0);
  return {
    show(text) {
      if (!stream.isTTY && Date.now() - lastAt < LINE_EVERY_MS) return;
      lastAt = Date.now();
      clear();
      stream.write(stream.isTTY ? printable(text).slice(0, stream.columns - 1) : `${printable(text)}\n`);
    },
    end() {
      clear();
      lastAt = Number.NEGATIVE_INFINITY;
    },
  };
}

/** Shows how far a publication is, step by step, unless JSON is asked for. */
export function progressDisplay(publication: string, { json }: { readonly json?: boolean }): PublishDisplay {
  if (json === true) return { show: () => undefined, end: () => undefined };
  const display = startDisplay(process.stdout);
  let shown: PublishStep | undefined;
  return {
    show({ step, bytes, total_bytes, done = 0, total = 0 }) {
      if (step !== shown) display.end();
      shown = step;
      const isMeasured = step === 'downloading' || step === 'loading';
      const part = total > 0 ? done / total : isMeasured && total_bytes > 0 ? bytes / total_bytes : 0;
      const number = `${PUBLISH_STEPS.indexOf(step) + 1} of ${PUBLISH_STEPS.length}`;
      const size = isMeasured && bytes > 0 ? `, ${grouped(Math.ceil(bytes / 1e6))} MB` : '';
      const percent = part > 0 ? `, ${Math.floor(100 * part)} %` : '';
      display.show(`${publication}: ${step} (step ${number})${size}${percent}`);
    },
    end: display.end,
  };
}

interface PublishDisplay {
  readonly show: (progress: PublishProgress) => void;
  /** Clears the line. */
  readonly end: () => void;
}

/** Aborted by Ctrl-C, and when the process is asked to end. A second Ctrl-C ends it at once. */
export function interruption(): AbortController {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => interrupted.abort(new Error('Interrupted.')));
  return interrupted;
}
