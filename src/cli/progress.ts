import { Presets, SingleBar } from 'cli-progress';
import type { PublishProgress } from '../publications/job.ts';
import { PUBLISH_STEPS, type PublishStep } from '../publications/ledger.ts';
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

/** The steps that take long enough to have a length. */
const MEASURED: ReadonlySet<PublishStep> = new Set(['downloading', 'loading']);

/**
 * Shows how far a publication is, step by step; how fast, and what is left, where that is known.
 *
 * @param expected how many seconds each step of an earlier publication took
 */
export function progressDisplay(publication: string, expected: StepSeconds = {}) {
  const display = startDisplay(process.stdout);
  let shown: PublishStep | undefined;
  let measuredFrom = { bytes: 0, at: 0 };
  let last = 0;
  return {
    show({ step, bytes, total_bytes: total, done = 0, total: all = 0 }: PublishProgress): void {
      // Of two files that are downloaded, the second begins at 0 again.
      if (step !== shown || bytes < last) measuredFrom = { bytes, at: Date.now() };
      if (step !== shown) display.end();
      shown = step;
      last = bytes;
      const isMeasured = MEASURED.has(step) && bytes > 0;
      const seconds = (Date.now() - measuredFrom.at) / 1000;
      const pace = isMeasured
        ? inWords(bytes, total, seconds < 1 ? 0 : (bytes - measuredFrom.bytes) / seconds)
        : all > 0
          ? `, ${grouped(done)} of ${grouped(all)}`
          : '';
      const part = isMeasured && total > 0 ? bytes / total : all > 0 ? done / all : 0;
      const left = timeLeft(expected, step, { seconds, part });
      display.show(`${publication}: ${step}${pace}${left}`, part);
    },
    end: display.end,
  };
}

type StepSeconds = Readonly<Record<string, number>>;

/** Less of a step says too little about the rest. */
const LEAST_PART = 0.05;

/** How long the whole still takes: the rest of this step by its own pace, and the later ones as they took before. */
function timeLeft(
  expected: StepSeconds,
  step: PublishStep,
  { seconds, part }: { readonly seconds: number; readonly part: number },
): string {
  if (Object.keys(expected).length === 0) return '';
  const later = PUBLISH_STEPS.slice(PUBLISH_STEPS.indexOf(step) + 1);
  const rest =
    part < LEAST_PART ? Math.max(0, (expected[step] ?? 0) - seconds) : (seconds * (1 - part)) / part;
  return `, about ${duration(later.reduce((sum, each) => sum + (expected[each] ?? 0), rest))} to the end`;
}

/** @param rate bytes a second; 0 while it is not known */
function inWords(bytes: number, total: number, rate: number): string {
  const done = total > 0 ? `${Math.floor((100 * bytes) / total)} % of ${megabytes(total)}` : megabytes(bytes);
  const left = total > 0 && rate > 0 ? `, ${duration((total - bytes) / rate)} left` : '';
  return `, ${done}${rate > 0 ? `, ${megabytes(rate)}/s` : ''}${left}`;
}

function megabytes(bytes: number): string {
  const value = bytes / 1e6;
  return `${value < 10 ? value.toFixed(1) : grouped(Math.round(value))} MB`;
}

function duration(seconds: number): string {
  return seconds < 100 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;
}
