import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { progressDisplay } from '../../src/cli/progress.ts';
import type { PublishProgress } from '../../src/publications/job.ts';

function progress(details: Partial<PublishProgress> = {}): PublishProgress {
  return { step: 'loading', bytes: 0, total_bytes: 1000, rows: 0, documents: 0, ...details };
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
      display.show(progress({ bytes: second * 50, rows: second * 2000 }));
    }
    display.show(progress({ step: 'verifying', bytes: 1000, rows: 40_000 }));
    display.end();
    expect(written).toEqual([
      'mwq1: reading\n',
      'mwq1: loading\n',
      'mwq1: loading, 25 %\n',
      'mwq1: loading, 50 %\n',
      'mwq1: verifying\n',
    ]);
  });

  test('has no percentage if the length is unknown', () => {
    const display = progressDisplay('mwq1');
    display.show(progress({ step: 'downloading', total_bytes: 0 }));
    expect(written).toEqual(['mwq1: downloading\n']);
  });
});
