import { Presets, SingleBar } from 'cli-progress';
import type { PublishProgress } from '../publications/job.ts';
import type { PublishStep } from '../publications/ledger.ts';
import { grouped, printable } from './output.ts';

const LINE_EVERY_MS = 5000;

/** Shows how far something is: a bar on a terminal, else a line every few seconds. */
export interface Display {
  /** @param part how much is done, from 0 to 1 */
  show(text: string, part: number): void;
  /** Ends the bar, and lets the next text be shown at once. */
  end(): void;
}

export function startDisplay(stream: NodeJS.WriteStream): Display {
  let bar: SingleBar | undefined;
  let lastAt: number | undefined;
  return {
    show(text, part) {
      if (!stream.isTTY) {
        if (lastAt !== undefined && Date.now() - lastAt < LINE_EVERY_MS) return;
        lastAt = Date.now();
        stream.write(`${printable(text)}\n`);
        return;
      }
      if (bar === undefined) {
        bar = new SingleBar({ format: '{bar} {text}', hideCursor: true, stream }, Presets.shades_classic);
        bar.start(1, 0, { text: '' });
      }
      bar.update(part, { text: printable(text) });
    },
    end() {
      bar?.stop();
      [bar, lastAt] = [undefined, undefined];
    },
  };
}

/** Shows how far a publication is, step by step. */
export function progressDisplay(publication: string) {
  const display = startDisplay(process.stdout);
  let step: PublishStep | undefined;
  let startedAt = Date.now();
  return {
    show(progress: PublishProgress): void {
      const { step: now, bytes, total_bytes: total } = progress;
      if (now !== step) {
        display.end();
        [step, startedAt] = [now, Date.now()];
      }
      const isMeasured = MEASURED.has(now) && total > 0;
      const percent = isMeasured ? `${Math.floor((100 * bytes) / total)} %` : '';
      const { rate, left } = pace(progress, Date.now() - startedAt);
      const parts = [now, percent, rate, left === '' ? '' : `${left} left`];
      const text = parts.filter((part) => part !== '').join(', ');
      display.show(`${publication}: ${text}`, isMeasured ? bytes / total : 0);
    },
    end: display.end,
  };
}

/** The steps that take long enough to have a length. */
const MEASURED: ReadonlySet<PublishStep> = new Set(['downloading', 'loading']);

/** How fast the step goes and how long it still takes, in words; empty while nothing can be said. */
export function pace(
  { step, bytes, total_bytes: total, rows }: PublishProgress,
  elapsedMs: number,
): { rate: string; left: string } {
  if (elapsedMs < 1000 || bytes === 0 || !MEASURED.has(step)) return { rate: '', left: '' };
  const left = total === 0 ? '' : seconds(Math.max(0, (elapsedMs * (total - bytes)) / bytes));
  if (step === 'downloading') {
    const megabytes = bytes / 1e6;
    return { rate: `${megabytes.toFixed(0)} MB, ${((megabytes * 1000) / elapsedMs).toFixed(1)} MB/s`, left };
  }
  const perSecond = Math.round((rows * 1000) / elapsedMs);
  return { rate: `${grouped(rows)} rows, ${grouped(perSecond)} rows/s`, left };
}

function seconds(milliseconds: number): string {
  const whole = Math.round(milliseconds / 1000);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
