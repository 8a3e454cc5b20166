import { Presets, SingleBar } from 'cli-progress';
import type { PublishProgress } from '../publications/job.ts';
import { grouped, print } from './output.ts';

const LINE_EVERY_MS = 5000;

/** Shows how far a publication is: a bar on a terminal, else a line every few seconds. */
export interface ProgressDisplay {
  show(progress: PublishProgress): void;
  end(): void;
}

export function progressDisplay(publication: string): ProgressDisplay {
  return process.stdout.isTTY ? barDisplay() : lineDisplay(publication);
}

function barDisplay(): ProgressDisplay {
  const bar = new SingleBar(
    { format: '{step} {bar} {percentage} %  {rows} rows  {eta_formatted} left', hideCursor: true },
    Presets.shades_classic,
  );
  let isStarted = false;
  return {
    show: ({ step, bytes, total_bytes: total, rows }) => {
      const payload = { step: step.padEnd(14), rows: grouped(rows) };
      if (!isStarted) bar.start(total, bytes, payload);
      isStarted = true;
      bar.update(bytes, payload);
    },
    end: () => bar.stop(),
  };
}

function lineDisplay(publication: string): ProgressDisplay {
  let last = { step: '', at: 0 };
  return {
    show: ({ step, bytes, total_bytes: total, rows }) => {
      const now = Date.now();
      if (step === last.step && now - last.at < LINE_EVERY_MS) return;
      last = { step, at: now };
      const percent = total === 0 ? 0 : Math.floor((100 * bytes) / total);
      print(`${publication}: ${step}, ${percent} %, ${grouped(rows)} rows`);
    },
    end: () => undefined,
  };
}
