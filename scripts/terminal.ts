/** Prints one line. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const SECONDS_BETWEEN_LINES = 5;

/** Shows how far something is: one line that changes in place, or a line every few seconds without a terminal. */
export interface Progress {
  show(text: string): void;
  end(): void;
}

/** @param report where the lines go when there is no terminal */
export function startProgress(report: (line: string) => void): Progress {
  return process.stdout.isTTY ? progressInPlace() : progressInLines(report);
}

function progressInPlace(): Progress {
  let shown = false;
  return {
    show(text) {
      shown = true;
      process.stdout.write(`\r\u001b[2K${text}`);
    },
    end() {
      if (shown) process.stdout.write('\n');
      shown = false;
    },
  };
}

function progressInLines(report: (line: string) => void): Progress {
  let last = 0;
  return {
    show(text) {
      if (Date.now() - last < SECONDS_BETWEEN_LINES * 1000) return;
      last = Date.now();
      report(text);
    },
    end() {},
  };
}
