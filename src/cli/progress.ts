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

/** Seconds by step. */
type StepSeconds = Readonly<Record<string, number>>;

/** Less of a step says too little about the rest of it. */
const LEAST_PART = 0.05;

/**
 * Shows how far a publication is, step by step, and how long it still takes, unless JSON is asked for.
 *
 * @param expected how many seconds each step of an earlier publication took
 */
export function progressDisplay(
  publication: string,
  { json }: { readonly json?: boolean },
  expected: StepSeconds = {},
): PublishDisplay {
  if (json === true) return { show: () => undefined, end: () => undefined };
  const display = startDisplay(process.stdout);
  let shown: PublishStep | undefined;
  let since = 0;
  return {
    show({ step, bytes, total_bytes, done = 0, total = 0 }) {
      if (step !== shown) {
        display.end();
        [shown, since] = [step, Date.now()];
      }
      const isMeasured = step === 'downloading' || step === 'loading';
      const part = total > 0 ? done / total : isMeasured && total_bytes > 0 ? bytes / total_bytes : 0;
      const at = PUBLISH_STEPS.indexOf(step);
      const size = isMeasured && bytes > 0 ? `, ${grouped(Math.ceil(bytes / 1e6))} MB` : '';
      const count = total > 0 ? `, ${grouped(done)} of ${grouped(total)}` : '';
      const percent = part > 0 ? `, ${Math.floor(100 * part)} %` : '';
      const spent = (Date.now() - since) / 1000;
      const rest =
        part < LEAST_PART ? Math.max(0, (expected[step] ?? 0) - spent) : (spent * (1 - part)) / part;
      const left = PUBLISH_STEPS.slice(at + 1).reduce((sum, each) => sum + (expected[each] ?? 0), rest);
      const time = Object.keys(expected).length === 0 ? '' : `, about ${duration(left)} to the end`;
      display.show(
        `${publication}: ${step} (step ${at + 1} of ${PUBLISH_STEPS.length})${size}${count}${percent}${time}`,
      );
    },
    end: display.end,
  };
}

function duration(seconds: number): string {
  return seconds < 100 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;
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
