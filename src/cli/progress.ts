import { Presets, SingleBar } from 'cli-progress';
import type { PublishProgress } from '../publications/job.ts';
import type { PublishStep } from '../publications/ledger.ts';
import { grouped, print } from './output.ts';

const LINE_EVERY_MS = 5000;

/** Shows how far a publication is: a bar for each step on a terminal, else a line every few seconds. */
export interface ProgressDisplay {
  show(progress: PublishProgress): void;
  end(): void;
}

export function progressDisplay(publication: string): ProgressDisplay {
  return process.stdout.isTTY ? barDisplay() : lineDisplay(publication);
}

/** The steps that take long enough to have a length. */
const MEASURED: ReadonlySet<PublishStep> = new Set(['downloading', 'loading']);

function barDisplay(): ProgressDisplay {
  let bar: SingleBar | undefined;
  let step: PublishStep | undefined;
  let startedAt = Date.now();

  function end(): void {
    if (bar !== undefined) {
      bar.update(bar.getTotal(), { left: `${seconds(Date.now() - startedAt)}` });
      bar.stop();
    }
    bar = undefined;
  }
  return {
    show: (progress) => {
      const isMeasured = MEASURED.has(progress.step) && progress.total_bytes > 0;
      const total = isMeasured ? progress.total_bytes : 1;
      if (progress.step !== step) {
        end();
        step = progress.step;
        startedAt = Date.now();
      }
      if (bar === undefined) {
        bar = new SingleBar(
          { format: '{step} {bar} {percentage} %  {rows}  {left}', hideCursor: true },
          Presets.shades_classic,
        );
        bar.start(total, 0, { step: progress.step.padEnd(14), rows: '', left: '' });
      }
      const { rate, left } = pace(progress, Date.now() - startedAt);
      bar.setTotal(total);
      bar.update(isMeasured ? progress.bytes : 0, { rows: rate, left: left === '' ? '' : `${left} left` });
    },
    end,
  };
}

function lineDisplay(publication: string): ProgressDisplay {
  let last = { step: '', at: 0 };
  let startedAt = Date.now();
  return {
    show: (progress) => {
      const now = Date.now();
      const { step, bytes, total_bytes: total } = progress;
      if (step === last.step && now - last.at < LINE_EVERY_MS) return;
      if (step !== last.step) startedAt = now;
      last = { step, at: now };
      const percent = MEASURED.has(step) && total > 0 ? `${Math.floor((100 * bytes) / total)} %` : '';
      const { rate, left } = pace(progress, now - startedAt);
      const parts = [step, percent, rate, left === '' ? '' : `${left} left`];
      print(`${publication}: ${parts.filter((part) => part !== '').join(', ')}`);
    },
    end: () => undefined,
  };
}

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
