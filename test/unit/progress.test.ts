import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { progressDisplay } from '../../src/cli/progress.ts';
import type { PublishProgress } from '../../src/publications/job.ts';

function progress(details: Partial<PublishProgress> = {}): PublishProgress {
  return { step: 'loading', bytes: 0, total_bytes: 812e6, rows: 0, documents: 0, ...details };
}

describe('progress without a terminal', () => {
  const written: string[] = [];
  const isTty = process.stdout.isTTY;

  beforeEach(() => {
    jest.useFakeTimers({ now: 0 });
    process.stdout.isTTY = false;
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
      written.push(String(text));
      return true;
    });
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
    process.stdout.isTTY = isTty;
    written.length = 0;
  });

  test('is printed at each new step, and every five seconds within a step', () => {
    const display = progressDisplay('mwq1');
    display.show(progress({ step: 'reading' }));
    display.show(progress());
    for (let second = 1; second <= 12; second += 1) {
      jest.setSystemTime(second * 1000);
      display.show(progress({ bytes: second * 40.6e6, rows: second * 2000 }));
    }
    display.show(progress({ step: 'verifying', bytes: 812e6, rows: 40_000 }));
    display.end();
    expect(written).toEqual([
      'mwq1: reading\n',
      'mwq1: loading\n',
      'mwq1: loading, 25 % of 812 MB, 41 MB/s, 15 s left\n',
      'mwq1: loading, 50 % of 812 MB, 41 MB/s, 10 s left\n',
      'mwq1: verifying\n',
    ]);
  });

  test('has bytes and rate alone if the length is unknown, and begins again with the next file', () => {
    const display = progressDisplay('mwq1');
    display.show(progress({ step: 'downloading', total_bytes: 0 }));
    for (const [second, bytes] of [
      [5, 6e6],
      [10, 12e6],
      [15, 4e6],
      [20, 5e6],
    ] as const) {
      jest.setSystemTime(second * 1000);
      display.show(progress({ step: 'downloading', total_bytes: 0, bytes }));
    }
    expect(written).toEqual([
      'mwq1: downloading\n',
      'mwq1: downloading, 6.0 MB, 1.2 MB/s\n',
      'mwq1: downloading, 12 MB, 1.2 MB/s\n',
      'mwq1: downloading, 4.0 MB\n',
      'mwq1: downloading, 5.0 MB, 0.2 MB/s\n',
    ]);
  });

  test('counts what a step does, and says how long the whole takes by an earlier publication', () => {
    const display = progressDisplay('mwq1', { loading: 60, comparing: 20, 'making durable': 15 });
    display.show(progress());
    display.show(progress({ step: 'comparing' }));
    jest.setSystemTime(10_000);
    display.show(progress({ step: 'comparing', done: 500_000, total: 2_600_000 }));
    expect(written).toEqual([
      'mwq1: loading, about 95 s to the end\n',
      'mwq1: comparing, about 35 s to the end\n',
      'mwq1: comparing, 500,000 of 2,600,000, about 57 s to the end\n',
    ]);
  });

  test('says minutes where much is left', () => {
    const display = progressDisplay('mwq1');
    display.show(progress({ step: 'downloading' }));
    jest.setSystemTime(5000);
    display.show(progress({ step: 'downloading', bytes: 8.12e6 }));
    expect(written.at(-1)).toBe('mwq1: downloading, 1 % of 812 MB, 1.6 MB/s, 9 min left\n');
  });
});
