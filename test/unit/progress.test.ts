import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { pace, progressDisplay } from '../../src/cli/progress.ts';
import type { PublishProgress } from '../../src/publications/job.ts';

function progress(details: Partial<PublishProgress> = {}): PublishProgress {
  return { step: 'loading', bytes: 0, total_bytes: 1000, rows: 0, documents: 0, ...details };
}

describe('the rate and remaining time of a step', () => {
  test.each<[string, Partial<PublishProgress>, number, string, string]>([
    ['half a load in ten seconds', { bytes: 500, rows: 52_000 }, 10_000, '52,000 rows, 5,200 rows/s', '10 s'],
    ['a tenth of a load in 20 s', { bytes: 100, rows: 1000 }, 20_000, '1,000 rows, 50 rows/s', '3 min 0 s'],
    ['a load that is read to its end', { bytes: 1000, rows: 10 }, 2000, '10 rows, 5 rows/s', '0 s'],
    ['more read than there was', { bytes: 1100, rows: 10 }, 2000, '10 rows, 5 rows/s', '0 s'],
    [
      'half a download',
      { step: 'downloading', bytes: 50e6, total_bytes: 100e6 },
      4000,
      '50 MB, 12.5 MB/s',
      '4 s',
    ],
    [
      'a download without a length',
      { step: 'downloading', bytes: 50e6, total_bytes: 0 },
      4000,
      '50 MB, 12.5 MB/s',
      '',
    ],
    ['the first second', { bytes: 500, rows: 100 }, 999, '', ''],
    ['nothing read yet', { bytes: 0, rows: 0 }, 5000, '', ''],
    ['a step without length', { step: 'verifying', bytes: 1000, rows: 10 }, 5000, '', ''],
  ])('%s', (_what, details, elapsedMs, rate, left) => {
    expect(pace(progress(details), elapsedMs)).toEqual({ rate, left });
  });
});

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
      display.show(progress({ bytes: second * 50, rows: second * 2000 }));
    }
    display.show(progress({ step: 'verifying', bytes: 1000, rows: 40_000 }));
    display.end();
    expect(written).toEqual([
      'mwq1: reading\n',
      'mwq1: loading, 0 %\n',
      'mwq1: loading, 25 %, 10,000 rows, 2,000 rows/s, 15 s left\n',
      'mwq1: loading, 50 %, 20,000 rows, 2,000 rows/s, 10 s left\n',
      'mwq1: verifying\n',
    ]);
  });

  test('has no percentage if the length is unknown', () => {
    const display = progressDisplay('mwq1');
    display.show(progress({ step: 'downloading', total_bytes: 0 }));
    expect(written).toEqual(['mwq1: downloading\n']);
  });
});
