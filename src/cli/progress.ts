import { clearLine, cursorTo } from 'node:readline';
import type { PublishProgress } from '../publications/job.ts';
import { PUBLISH_STEPS } from '../publications/ledger.ts';
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

/**
 * Shows how far a publication is, step by step, unless JSON is asked for.
 *
 * @param expected how many seconds each step took the last time, by which the rest is judged
 */
export function progressDisplay(
  publication: string,
  { json = false }: { readonly json?: boolean },
  expected: Readonly<Record<string, number>> = {},
) {
  const display = startDisplay(process.stdout);
  let shown: PublishProgress['step'] | undefined;
  let since = 0;
  function show({ step, bytes, total_bytes, done = 0, total = 0 }: PublishProgress): void {
    if (json) return;
    if (step !== shown) {
      display.end();
      [shown, since] = [step, Date.now()];
    }
    const isMeasured = step === 'downloading' || step === 'loading';
    const part = total > 0 ? done / total : isMeasured && total_bytes > 0 ? bytes / total_bytes : 0;
    const at = PUBLISH_STEPS.indexOf(step);
    const seconds = PUBLISH_STEPS.slice(at).reduce((sum, each) => sum + (expected[each] ?? 0), 0);
    const left = Math.max(0, seconds - (Date.now() - since) / 1000);
    const facts = [
      `${publication}: ${step} (step ${at + 1} of ${PUBLISH_STEPS.length})`,
      isMeasured && bytes > 0 ? `${grouped(Math.ceil(bytes / 1e6))} MB` : '',
      total > 0 ? `${grouped(done)} of ${grouped(total)}` : '',
      part > 0 ? `${Math.floor(100 * part)} %` : '',
      seconds > 0
        ? `about ${left < 100 ? `${Math.ceil(left)} s` : `${Math.ceil(left / 60)} min`} to the end`
        : '',
    ];
    display.show(facts.filter(Boolean).join(', '));
  }
  return { show, end: () => display.end() };
}

/** Aborted by Ctrl-C, and when the process is asked to end. A second Ctrl-C ends it at once. */
export function interruption(): AbortController {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => interrupted.abort(new Error('Interrupted.')));
  return interrupted;
}
