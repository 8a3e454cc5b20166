import { Presets, SingleBar } from 'cli-progress';
import type { PublishProgress } from '../publications/job.ts';
import type { PublishStep } from '../publications/ledger.ts';
import { printable } from './output.ts';

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

/** The steps that take long enough to have a length. */
const MEASURED: ReadonlySet<PublishStep> = new Set(['downloading', 'loading']);

/** Shows how far a publication is, step by step. */
export function progressDisplay(publication: string) {
  const display = startDisplay(process.stdout);
  let shown: PublishStep | undefined;
  return {
    show({ step, bytes, total_bytes: total }: PublishProgress): void {
      if (step !== shown) display.end();
      shown = step;
      const part = MEASURED.has(step) && total > 0 ? bytes / total : 0;
      const percent = part === 0 ? '' : `, ${Math.floor(100 * part)} %`;
      display.show(`${publication}: ${step}${percent}`, part);
    },
    end: display.end,
  };
}
